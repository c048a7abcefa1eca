"""Lists of people: by each order and filter, everybody, the search index; and the account that most benches share."""

import datetime as dt
import os
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle, product
from typing import Any

from django.utils import timezone

from accounts.models import User
from accounts.services.profile import change_preferences
from accounts.vocabularies import NameDisplayFormat, NameOrder, NameSort
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_write
from people import field_table
from people.api.person_query import DIRECTIONS
from people.dates.next_dates import refresh_next_dates
from people.entries import identify_entries
from people.lookup import index_values
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Membership,
    Person,
    RelationshipType,
)
from people.names import COLUMNS
from people.projection.orders import QUERIED_SORTS
from people.services.person_writer import set_name_keys
from relationships.models import Relationship
from tests.bench.figures import Figure, SharedData, figure, floor
from tests.builders import make_keys, make_user
from tests.client import Client, client_of

PEOPLE = int(os.environ.get("BENCH_PEOPLE", "10000"))
FIRST_BIRTHDAY = dt.date(1950, 1, 1)
GIVEN_NAMES = ("Ada", "Grace", "Łukasz", "Zoë", "Björn", "Chloé", "Noor", "Élise", "山田", "Ivan", "Mary Ann", "José")
FAMILY_NAMES = (
    "Lovelace",
    "Hopper",
    "Nowak",
    "Müller",
    "Sørensen",
    "García",
    "O'Neill",
    "Ünal",
    "太郎",
    "van der Berg",
)


def large_account(shared: SharedData) -> User:
    """An account with 10,000 people, each with 2 phones, 2 e-mails, an address, 2 groups, a date and a custom value."""

    def make() -> User:
        owner = make_user("bench@example.org")
        fill_account(owner, PEOPLE)
        return owner

    made: User = shared.once(f"people-{PEOPLE}", make)
    return made


def fill_account(owner: User, number: int) -> None:
    """Create people with the details that `book` describes."""
    with account_write(owner):
        types = list(RelationshipType.objects.owned_by(owner))
        groups = Group.objects.bulk_create(
            Group(owner=owner, name=f"Group {n}", name_key=f"group {n}", color="#336699") for n in range(20)
        )
        template = CustomFieldTemplate.objects.create(owner=owner, name="Size", slug="size", type="TEXT")
        people = [make_person(owner, n, types) for n in range(number)]
        Person.objects.bulk_create(people, batch_size=500)
        make_keys(owner, people)
        group_cycle = cycle(groups)
        Membership.objects.bulk_create(
            (Membership(owner=owner, person=p, group=next(group_cycle)) for p in people for _ in range(2)),
            batch_size=2000,
        )
        ImportantDate.objects.bulk_create(
            (
                ImportantDate(owner=owner, person=p, type="BIRTHDAY", date=FIRST_BIRTHDAY + dt.timedelta(days=n))
                for n, p in enumerate(people)
            ),
            batch_size=2000,
        )
        values = [CustomFieldValue(owner=owner, person=p, template=template, value="XL") for p in people]
        CustomFieldValue.objects.bulk_create(values, batch_size=2000)
        index_values(owner.pk, values)
        Relationship.objects.bulk_create(make_pairs(owner, people, types[0]), batch_size=2000)


def make_person(owner: User, n: int, types: Sequence[RelationshipType] = ()) -> Person:
    person = Person(
        owner=owner, name=GIVEN_NAMES[n % len(GIVEN_NAMES)], surname=f"{FAMILY_NAMES[n % len(FAMILY_NAMES)]} {n}"
    )
    person.organization, person.notes = f"Company {n % 300}", f"Met at the conference of {n}."
    person.relationship_to_user = types[n % len(types)] if types else None
    person.phone_numbers = identify_entries(
        "phone_numbers",
        [
            {"type": "mobile", "number": f"+49 151 {n:08}"},
            {"type": "work", "number": f"030 {n:07}"},
        ],
        [],
    )
    person.emails = identify_entries(
        "emails",
        [
            {"type": "home", "email": f"p{n}@example.org"},
            {"type": "work", "email": f"p{n}@example.com"},
        ],
        [],
    )
    address = {"type": "home", "streetLine1": f"Main Street {n}", "locality": "Berlin", "country": "Germany"}
    person.addresses = identify_entries("addresses", [address], [])
    set_name_keys(person)
    return person


def make_pairs(owner: User, people: list[Person], kind: RelationshipType) -> Iterator[Relationship]:
    for one, other in zip(people[::2], people[1::2], strict=True):
        there, back = new_id(), new_id()
        for key, inverse, a, b in ((there, back, one, other), (back, there, other, one)):
            yield Relationship(
                id=key, inverse_id=inverse, owner=owner, person=a, related_person=b, relationship_type=kind
            )


def drain(client: Client, path: str) -> int:
    """Read a response chunk by chunk without keeping it; returns its number of bytes."""
    response = client.call("get", path)
    assert response.status_code == 200, response.content
    return sum(len(chunk) for chunk in response) if response.streaming else len(response.content)


SCALAR_COLUMNS = (
    "id",
    *COLUMNS,
    "organization",
    "job_title",
    "gender",
    "anniversary",
    "last_contact",
    "notes",
    "relationship_to_user_id",
    "contact_reminder_enabled",
    "contact_reminder_interval",
    "contact_reminder_interval_unit",
    "card_dav_sync_enabled",
    "photo",
    "uid",
    "deleted_at",
    "created_at",
    "updated_at",
)
DATE_COLUMNS = ("id", "person_id", *field_table.DATE_COLUMNS, "deleted_at", "created_at", "updated_at")
RELATIONSHIP_COLUMNS = (
    "id",
    "person_id",
    "related_person_id",
    "relationship_type_id",
    "notes",
    "created_at",
    "updated_at",
)


def person_rows(owner: User) -> Any:
    return Person.objects.owned_by(owner).active().in_name_order()


def related_rows(owner: User) -> tuple[Any, Any]:
    return (
        Membership.objects.owned_by(owner).values_list("person_id", "group_id"),
        Group.objects.owned_by(owner).values_list("id", "name", "color"),
    )


def orders(shared: SharedData) -> list[Figure]:
    """A page by each order and filter, beside the plain one, which is the floor."""
    owner = large_account(shared)
    client = client_of(owner)
    numbered = list(Person.objects.owned_by(owner).order_by("pk").values_list("pk", flat=True))
    with account_write(owner):
        people = Person.objects.owned_by(owner)
        people.filter(pk__in=numbered[::50]).update(favourite=True)
        people.filter(pk__in=numbered[1::50]).update(quiet=True)
        Membership.objects.owned_by(owner).filter(person_id__in=numbered[::10]).delete()
    refresh_next_dates(now=timezone.now())
    queries = [
        *(f"sort={sort}&order={order}" for sort in QUERIED_SORTS for order in DIRECTIONS),
        *(
            "sort=nextDate&favouritesFirst=true",
            "favourite=true",
            "favourite=false",
            "quiet=false",
            "quiet=true&sort=lastContact",
            "withoutGroups=true",
            *(f"withoutGroups=true&sort={sort}" for sort in QUERIED_SORTS),
            "withoutGroups=true&sort=createdAt&order=desc",
            "withoutGroups=true&favouritesFirst=true",
            "withoutGroups=true&sort=lastContact&favouritesFirst=true",
        ),
    ]

    def plain() -> object:
        return drain(client, "/api/people")

    figures = [
        figure(f"people: page of 100, {query}", partial(drain, client, f"/api/people?{query}"), floor=plain, times=20)
        for query in queries
    ]
    by_name = partial(drain, client, "/api/people?sort=name")
    for order, form in product(NameOrder.values, NameDisplayFormat.values):
        change_preferences(
            user=owner, values={"name_sort": NameSort.SHOWN, "name_order": order, "name_display_format": form}
        )
        name = f"people: page of 100 by display name, {order}, {form}"
        figures.append(figure(name, plain, floor=by_name, times=20))
    change_preferences(
        user=owner, values={"name_sort": NameSort.GIVEN, "name_order": "WESTERN", "name_display_format": "FULL"}
    )
    return figures


def everybody(shared: SharedData) -> list[Figure]:
    owner = large_account(shared)
    client, path = client_of(owner), "/api/people?includeAll=true"
    rows = floor(
        person_rows(owner).values_list(*SCALAR_COLUMNS, *Person.LIST_COLUMNS),
        *related_rows(owner),
        ImportantDate.objects.owned_by(owner).active().values_list(*DATE_COLUMNS),
        CustomFieldValue.objects.owned_by(owner).values_list("id", "person_id", "template_id", "value"),
        Relationship.objects.owned_by(owner).active().values_list(*RELATIONSHIP_COLUMNS),
        Person.objects.owned_by(owner).active().values_list("id", *COLUMNS),  # the names beside relationships
    )
    size = drain(client, path)
    tracemalloc.start()
    drain(client, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    note = f"{size / 1e6:.1f} MB of JSON, peak memory {peak / 1e6:.1f} MB"
    return [figure("people: includeAll, 10,000 people", lambda: drain(client, path), floor=rows, times=9, note=note)]


def index(shared: SharedData) -> Figure:
    owner = large_account(shared)
    client = client_of(owner)
    columns = ("id", *COLUMNS, "organization", "job_title", "notes", "photo", "relationship_to_user_id")
    documents = [field for field in Person.LIST_COLUMNS if field != "locations"]
    rows = floor(person_rows(owner).values_list(*columns, *documents), *related_rows(owner))
    return figure(
        "people: search index, 10,000 people", lambda: drain(client, "/api/people/search-index"), floor=rows, times=9
    )


BENCHES = [
    ("people orders and filters", orders),
    ("people includeAll", everybody),
    ("people search-index", index),
]
