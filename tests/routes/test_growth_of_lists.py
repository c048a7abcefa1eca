"""Compares what a page of people costs at two sizes of an account, for each filter by a mark in each order.

Whom the filters find stay the same, and stand between the others in every order: a page that looks through an order
passes half the account.
"""

import datetime as dt
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from people.models import Group, Membership, Person
from people.projection.people_order import Sort
from tests.client import Client
from tests.queries import count_work
from tests.routes.test_growth import BASE, MAX_GROWTH, planner_modes

SMALL, LARGE, FOUND = 200, 1700, 15
FAVOURITES_FIRST = "&favouritesFirst=true"
# Of favourites in no group there are as many as of others; favourites in groups are as many as the account is large.
FILTERS = (
    "withoutGroups=true",
    f"withoutGroups=true{FAVOURITES_FIRST}",
    "withoutGroups=true&favourite=true",
    f"withoutGroups=true&favourite=true{FAVOURITES_FIRST}",
    "favourite=true",
    "quiet=true",
)
LISTS = [
    f"{chosen}&sort={sort}&order={order}&limit=5" for chosen, sort, order in product(FILTERS, Sort, ("asc", "desc"))
]


def add_people(owner: User, size: int, name: str, day: int, **marks: Any) -> list[Person]:
    """People who stand together in every order, by `name` and by `day`; they are created at once, as by an import."""
    now, today = timezone.now(), timezone.now().date() + dt.timedelta(5000 * day)
    people = Person.objects.bulk_create(
        Person(
            owner=owner,
            name=f"{name}{number}",
            sort_key=f"{name}{number:05}".encode(),
            last_contact=today + dt.timedelta(number),
            next_date_on=today + dt.timedelta(number),
            **marks,
        )
        for number in range(size)
    )
    # Saving sets the time of creation.
    Person.unscoped.filter(pk__in=[person.pk for person in people]).update(created_at=now + dt.timedelta(day))
    return people


def put_into_group(owner: User, people: list[Person]) -> None:
    group = Group.objects.owned_by(owner).get()
    Membership.objects.bulk_create(Membership(owner=owner, person=person, group=group) for person in people)


def costs(api: Client) -> dict[str, int]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # as autovacuum does
            cursor.execute("ANALYZE people_person")
    found = {}
    for mode, path in product(planner_modes(), LISTS):
        api.ok("GET", f"/api/people?{path}")
        with count_work() as count:
            page = api.ok("GET", f"/api/people?{path}")["people"]
            found[f"{path} {mode}"] = count()
        assert len(page) == 5, path
    return found


@pytest.mark.django_db
def test_no_list_costs_more_in_a_larger_account(api: Client, alice: User) -> None:
    Group.objects.create(owner=alice, name="All", name_key="all", color="#000000")
    add_people(alice, FOUND, "m", 0)
    add_people(alice, FOUND, "m", 0, favourite=True)
    put_into_group(alice, add_people(alice, FOUND, "m", 0, quiet=True))
    sizes = []
    for size in (SMALL, LARGE):
        for name, day in (("a", -1), ("z", 1)):
            put_into_group(alice, add_people(alice, size // 4, name, day))
            put_into_group(alice, add_people(alice, size // 4, name, day, favourite=True))
        sizes.append(costs(api))
    base = BASE[connection.vendor]
    grown = [
        f"{path}: {sizes[0][path]} to {cost}"
        for path, cost in sizes[1].items()
        if cost + base > MAX_GROWTH * (sizes[0][path] + base)
    ]
    assert grown == [], "\n".join(grown)
