"""Adds many people to the account of a route test, in bulk, to compare the cost at two sizes of an account."""

import datetime as dt
from typing import Any

from django.utils import timezone

from accounts.models import User
from people.lookup import keys_of
from people.models import Group, ImportantDate, LookupKey, Membership, Person, RelationshipType
from people.names import keys_of_names
from relationships.models import Relationship

_SYLLABLES = [one + two for one in "bdfghklmnprstvwz" for two in "aei"]


def add_many_people(owner: User, size: int, first: int = 0) -> None:
    """Add `size` people, each with a phone, an e-mail, a birthday in the next four weeks, a group, four relationships.

    One in three has a relationship to the user. `first` is the number of people that earlier calls have added.
    """
    kind = RelationshipType.objects.owned_by(owner).get(name="FRIEND")
    group, _ = Group.objects.owned_by(owner).get_or_create(owner=owner, name="crowd", name_key="crowd", color="#000000")
    people = [_person(owner, number, kind) for number in range(first, first + size)]
    Person.objects.bulk_create(people, batch_size=200)
    LookupKey.objects.bulk_create(
        (
            LookupKey(owner=owner, person=person, kind=kind_of_key, key=key)
            for person in people
            for kind_of_key, key in keys_of(person.__dict__)
        ),
        batch_size=200,
    )
    Membership.objects.bulk_create(Membership(owner=owner, person=person, group=group) for person in people)
    fifty_years_ago = timezone.now().date() - dt.timedelta(50 * 365.2425)
    ImportantDate.objects.bulk_create(
        ImportantDate(owner=owner, person=person, type="BIRTHDAY", date=fifty_years_ago + dt.timedelta(number % 28))
        for number, person in enumerate(people, first)
    )
    pairs: list[Relationship] = []
    for number, person in enumerate(people):
        for step in (1, 7):
            pairs += _pair(owner, person, people[(number + step) % size], kind)
    Relationship.objects.bulk_create(pairs, batch_size=200)


def tie_to_many_people(owner: User, person_id: str) -> None:
    """Relate the person to four of the crowd, and give it the look-up keys of one, like a possible duplicate."""
    crowd = list(Person.objects.owned_by(owner).filter(memberships__group__name="crowd").order_by("id")[:4])
    person = Person.objects.owned_by(owner).get(pk=person_id)
    kind = RelationshipType.objects.owned_by(owner).get(name="FRIEND")
    Relationship.objects.bulk_create(row for other in crowd for row in _pair(owner, person, other, kind))
    keys = LookupKey.objects.filter(owner=owner, person=crowd[0])
    LookupKey.objects.bulk_create(LookupKey(owner=owner, person=person, kind=row.kind, key=row.key) for row in keys)


def _person(owner: User, number: int, kind: RelationshipType) -> Person:
    name = "".join(_SYLLABLES[number // 48**place % 48] for place in range(3)).title()
    person = Person(
        owner=owner,
        name=name,
        surname=f"{name[::-1].title()}{number}",
        phone_numbers=[{"id": f"p{number}", "type": "home", "number": f"+49 30 {number:07}"}],
        emails=[{"id": f"e{number}", "type": "home", "email": f"crowd{number}@example.org"}],
        relationship_to_user=kind if number % 3 == 0 else None,
    )
    person.sort_key, person.search_key = keys_of_names(person)
    return person


def _pair(owner: User, one: Person, other: Person, kind: RelationshipType) -> list[Relationship]:
    both: list[Any] = [
        Relationship(owner=owner, person=one, related_person=other, relationship_type=kind),
        Relationship(owner=owner, person=other, related_person=one, relationship_type=kind),
    ]
    both[0].inverse_id, both[1].inverse_id = both[1].pk, both[0].pk
    return both
