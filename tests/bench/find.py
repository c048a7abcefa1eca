"""GET /api/find in an account of 10,000 people, and in one of 50,000."""

from typing import Any

from django.db import connection

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.lookup import index_values
from people.models import CustomFieldTemplate, CustomFieldValue, LookupKey, Person, ValueWord
from tests.bench.figures import Figure, SharedData, figure_with_server
from tests.bench.people import drain, make_person
from tests.builders import make_keys, make_user
from tests.client import client_of

SMALL, COPIES = 10_000, 4
QUERIES = (
    ("one name", "hopper"),
    ("mistyped", "hpoper"),
    ("name and number", "m%C3%BCller%207003"),
    ("two letters", "ho"),
    ("phone", "0151%2000007003"),
    ("e-mail", "p7003@example.org"),
    ("of everybody's notes", "conference"),
    ("a custom value of everybody", "xl"),
    ("nobody", "qqqq"),
)


def find(shared: SharedData) -> list[Figure]:
    owner = make_user("find@example.org")
    with account_write(owner):
        make_people(owner)
    analyze_tables()
    figures = measure_queries(owner, SMALL)
    with account_write(owner):
        disable_triggers()
        for digit in range(1, COPIES + 1):
            copy_people(owner, str(digit))
    analyze_tables()
    return figures + measure_queries(owner, SMALL * (COPIES + 1))


def measure_queries(owner: User, size: int) -> list[Figure]:
    client = client_of(owner)
    return [
        figure_with_server(f"find in {size:,}: {what}", lambda path=f"/api/find?q={query}": drain(client, path))  # type: ignore[misc]  # mypy cannot tell a default from an argument
        for what, query in QUERIES
    ]


def make_people(owner: User) -> None:
    template = CustomFieldTemplate.objects.create(owner=owner, name="Size", slug="size", type="TEXT")
    people = [make_person(owner, n) for n in range(SMALL)]
    Person.objects.bulk_create(people, batch_size=500)
    make_keys(owner, people)
    values = [CustomFieldValue(owner=owner, person=person, template=template, value="XL") for person in people]
    CustomFieldValue.objects.bulk_create(values, batch_size=2000)
    index_values(owner.pk, values)


def copy_people(owner: User, digit: str) -> None:
    """Copy everybody with SQL, which is ten times as fast; the ids of the copies begin with `digit` instead of 0."""
    id_type = "uuid" if connection.vendor == "postgresql" else "text"
    owner_id = owner.pk if id_type == "uuid" else owner.pk.hex
    for model, moved in (
        (Person, ["id"]),
        (LookupKey, ["person_id"]),
        (CustomFieldValue, ["id", "person_id"]),
        (ValueWord, ["value_id"]),
    ):
        own_key = [] if "id" in moved else ["id"]
        columns = [field.column for field in model._meta.concrete_fields if field.column not in own_key]
        values = [copied_value(column, moved, digit, id_type) for column in columns]
        sql = (
            f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) SELECT {', '.join(values)} "
            f"FROM {model._meta.db_table} WHERE owner_id = %s AND CAST({moved[-1]} AS text) LIKE '0%%'"
        )
        with connection.cursor() as cursor:
            cursor.execute(sql, [owner_id])


def copied_value(column: str, moved: list[str], digit: str, id_type: str) -> str:
    if column in moved:
        return f"CAST('{digit}' || substr(CAST({column} AS text), 2) AS {id_type})"
    return f"'{digit}' || uid" if column == "uid" else column


def disable_triggers() -> None:
    """Disable triggers until this transaction ends: copies of consistent rows are consistent."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")


def analyze_tables() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # as autovacuum does
            cursor.execute("ANALYZE")


BENCHES: list[tuple[str, Any]] = [("find", find)]
