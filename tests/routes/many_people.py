"""Adds many people to the account of a route test, in bulk, to compare the cost at two sizes of an account."""

import datetime as dt
from itertools import chain
from typing import Any

from django.utils import timezone

from accounts.models import User
from people.models import Group, ImportantDate, LookupKey, Membership, Person, RelationshipType
from people.names import keys_of_names
from relationships.models import Relationship
from tests.builders import make_keys

_SYLLABLES = [one + two for one in "bdfghklmnprstvwz" for two in "aei"]
# The group of all these people.
_CROWD = "crowd"


def add_many_people(owner: User, size: int, first: int = 0, *, in_group: bool = True) -> None:
    """Add `size` people, each with a phone, an e-mail, a birthday in the next four weeks, four relationships.

    If `in_group`, four in five are in a group; some are favourites, quiet, or without a last contact. One in three has
    a relationship to the user. `first` is the number of people that earlier calls have added.
    """
    add_people_to_accounts([owner], size, first, in_group=in_group)


def add_people_to_accounts(owners: list[User], size: int, first: int = 0, *, in_group: bool = True) -> None:
    """Do the same for each of the accounts, in few statements."""
    if not first:
        Group.objects.bulk_create(Group(owner=owner, name=_CROWD, name_key=_CROWD, color="#000000") for owner in owners)
    groups = {group.owner_id: group for group in Group.unscoped.filter(owner__in=owners, name=_CROWD)}
    kinds = {kind.owner_id: kind for kind in RelationshipType.unscoped.filter(owner__in=owners, name="FRIEND")}
    numbers = range(first, first + size)
    crowds = [[_person(owner, number, kinds[owner.pk]) for number in numbers] for owner in owners]
    everyone = list(chain.from_iterable(crowds))
    Person.objects.bulk_create(everyone, batch_size=200)
    for owner, people in zip(owners, crowds, strict=True):
        make_keys(owner, people)
    Membership.objects.bulk_create(
        Membership(owner=person.owner, person=person, group=groups[person.owner_id])
        for people in crowds
        for number, person in zip(numbers, people, strict=True)
        if in_group and number % 5
    )
    fifty_years_ago = timezone.now().date() - dt.timedelta(50 * 365.2425)
    ImportantDate.objects.bulk_create(
        ImportantDate(
            owner=person.owner, person=person, type="BIRTHDAY", date=fifty_years_ago + dt.timedelta(number % 28)
        )
        for people in crowds
        for number, person in zip(numbers, people, strict=True)
    )
    pairs: list[Relationship] = []
    for people in crowds:
        for number, person in enumerate(people):
            for step in (1, 7):
                other = people[(number + step) % size]
                pairs += _pair(person.owner, person, other, kinds[person.owner_id])
    Relationship.objects.bulk_create(pairs, batch_size=200)


def relate_to_many_people(owner: User, person_id: str) -> None:
    """Relate the person to four of the crowd, and give it the look-up keys of one, like a possible duplicate."""
    crowd = list(Person.objects.owned_by(owner).filter(memberships__group__name=_CROWD).order_by("id")[:4])
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
        favourite=number % 50 == 0,
        quiet=number % 50 == 1,
        last_contact=timezone.now().date() - dt.timedelta(number % 700) if number % 4 else None,
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
