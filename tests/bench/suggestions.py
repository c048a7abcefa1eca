"""Suggestions of relationships among 10,000 people whose cards name two others each."""

import random

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person, RelatedName, RelationshipType
from relationships.models import AnsweredSuggestion, Relationship
from relationships.services.relationships import build_pair
from relationships.services.suggestions import list_suggestions
from tests.bench.duplicates import SIZES, populate
from tests.bench.figures import Figure, SharedData, figure


def suggestions(shared: SharedData) -> list[Figure]:
    size = SIZES[0]
    owner = populate(shared, size)
    rng = random.Random(size)
    people = list(Person.objects.owned_by(owner).order_by("pk").only("name", "surname"))
    RelatedName.objects.bulk_create(
        (
            RelatedName(owner=owner, person=person, name=name, type_name=kind)
            for person in people
            for kind, name in (("SPOUSE", f"New Name{person.pk}"[:60]), ("CHILD", full_name(rng.choice(people))))
        ),
        batch_size=2000,
    )
    make_families(owner, people)
    figures = [figure(f"suggestions, {size:,} people, 20,000 names on cards", lambda: list_suggestions(owner), times=5)]
    AnsweredSuggestion.objects.bulk_create(
        (
            AnsweredSuggestion(pk=pk, owner=owner, person_id=person, name_on_card=name, type_name=kind, accepted=False)
            for pk, person, name, kind in RelatedName.objects.filter(owner=owner).values_list(
                "pk", "person_id", "name", "type_name"
            )
        ),
        batch_size=2000,
    )
    figures.append(figure(f"suggestions, {size:,} people, all answered", lambda: list_suggestions(owner), times=5))
    with account_write(owner):
        Relationship.objects.owned_by(owner).delete()
    RelatedName.objects.filter(owner=owner).delete()
    AnsweredSuggestion.objects.owned_by(owner).delete()
    return figures


def full_name(person: Person) -> str:
    return f"{person.name} {person.surname}"


def make_families(owner: User, people: list[Person]) -> None:
    """Create 2,500 families of a parent and three children, whose relationships to each other are missing."""
    types = {row.name: row.pk for row in RelationshipType.objects.owned_by(owner)}
    rows, now = [], timezone.now()
    for start in range(0, len(people) - 3, 4):
        for child in people[start + 1 : start + 4]:
            there, back = build_pair(owner.pk, people[start].pk, child.pk, now=now)
            there.relationship_type_id, back.relationship_type_id = types["PARENT"], types["CHILD"]
            rows += [there, back]
    with account_write(owner):
        Relationship.objects.bulk_create(rows, batch_size=2000)


BENCHES = [("suggestions", suggestions)]
