"""PostgreSQL prepares statements that a connection repeats, so that they are planned once; SQLite caches its own."""

import os
from pathlib import Path

import pytest
from django.db import DataError, connection, transaction
from django.db.models import F

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.postgresql import MAX_BOUND_PARAMETERS
from people.models import Person
from tests.builders import make_person, make_user
from tests.client import Client
from tests.workers import database_url, run_manage

BY_IDS = CompiledQuery(
    lambda owner_id, person_ids: Person.objects.owned_by(owner_id).filter(pk__in=person_ids), is_by_ids=True
)

pytestmark = pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="SQLite keeps statements by itself")


def prepared_statements() -> list[str]:
    """The prepared statements of this connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [statement for (statement,) in cursor.fetchall()]


def test_repeated_reads_and_writes_are_prepared(api: Client) -> None:
    person = api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    for notes in "abcd":
        assert api.ok("PUT", f"/api/people/{person}", {"notes": notes})["person"]["notes"] == notes
    assert {statement.split()[0] for statement in prepared_statements()} >= {"SELECT", "UPDATE"}


def test_generic_plans_are_used(api: Client) -> None:
    person = api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    for _ in range(20):
        api.ok("GET", f"/api/people/{person}")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE generic_plans > 5")
        assert cursor.fetchone()[0] >= 4


@pytest.mark.parametrize("number", [MAX_BOUND_PARAMETERS, MAX_BOUND_PARAMETERS + 1, 70_000])
def test_statements_with_many_parameters_are_not_prepared(db: None, number: int) -> None:
    with connection.cursor() as cursor:
        for _ in range(4 if number <= 65_535 else 1):  # PostgreSQL binds no more: the first would fail
            cursor.execute(f"SELECT '100 %%', x FROM (VALUES {', '.join(['(%s::int)'] * number)}) v (x)", range(number))
            assert cursor.fetchall() == [("100 %", one) for one in range(number)]
    # An earlier test on this connection may have left INSERTs, or this statement with another number.
    of_this_test = [
        statement for statement in prepared_statements() if "100 %" in statement and statement.count("::int") == number
    ]
    assert bool(of_this_test) == (number <= MAX_BOUND_PARAMETERS)
    assert connection.connection.prepare_threshold == 2


def test_prepare_threshold_is_restored_after_an_error(db: None) -> None:
    with connection.cursor() as cursor, pytest.raises(DataError), transaction.atomic():
        cursor.execute(f"SELECT {', '.join(['%s::int'] * 301)}", ["x"] * 301)
    assert connection.connection.prepare_threshold == 2


def test_statements_with_lists_are_not_prepared(alice: User) -> None:
    people = [make_person(alice, name=name).pk for name in "ab"]
    for _ in range(4):
        assert Person.objects.owned_by(alice).filter(pk__in=people).count() == 2
        assert len(Person.objects.active_rows.instances(owner_id=alice.pk, row_ids=people)) == 2
    assert [statement for statement in prepared_statements() if " IN ($" in statement] == []


def test_short_lists_of_a_query_by_ids_are_prepared(alice: User) -> None:
    people = [make_person(alice, name=name).pk for name in "abc"]
    for number in (2, 3):
        for _ in range(4):
            assert len(BY_IDS.instances(owner_id=alice.pk, person_ids=people[:number])) == number
    lists = [statement for statement in prepared_statements() if "= ANY(ARRAY[" in statement]
    assert len(lists) == 2
    assert all('"owner_id" IS NOT DISTINCT FROM' in statement for statement in lists)


@pytest.mark.parametrize("number", [70_000, 2**31, 2**32 + 1, 2**63 + 1])
def test_number_outside_the_range_of_its_column_is_refused(alice: User, number: int) -> None:
    with pytest.raises(DataError), transaction.atomic():
        User.objects.filter(pk=alice.pk).update(weekly_digest_weekday=number)
    with pytest.raises(DataError), transaction.atomic():
        User.objects.filter(pk=alice.pk).update(revision=F("revision") + 2**63)
    assert User.objects.filter(pk=alice.pk, revision__in=[alice.revision + 2**32]).count() == 0


def test_query_with_seventy_thousand_ids(db: None) -> None:
    alice = make_user("alice@example.org")
    ada = make_person(alice, name="Ada")
    strangers = [ada.pk.__class__(int=number) for number in range(70_000)]
    people = Person.objects.owned_by(alice).filter(pk__in=[*strangers, ada.pk])
    assert people.get() == ada
    assert list(people.iterator()) == [ada]


@pytest.mark.django_db(transaction=True)
def test_prepared_statement_survives_a_table_change_and_a_rollback() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE kept_for_a_test (id integer)")
        try:
            for _ in range(4):
                cursor.execute("SELECT id FROM kept_for_a_test WHERE id = %s", [1])
            other = connection.copy()
            with other.cursor() as elsewhere:
                elsewhere.execute("ALTER TABLE kept_for_a_test ADD COLUMN name text")
            other.close()
            with transaction.atomic():
                for _ in range(4):
                    cursor.execute("SELECT id FROM kept_for_a_test WHERE id = %s", [1])
                transaction.set_rollback(True)
            cursor.execute("SELECT id FROM kept_for_a_test WHERE id = %s", [1])
        finally:
            cursor.execute("DROP TABLE kept_for_a_test")


COUNT_PREPARED = """
from django.db import connection
with connection.cursor() as cursor:
    for number in range(5):
        cursor.execute("SELECT %s::int", [number])
    cursor.execute("SELECT count(*) FROM pg_prepared_statements")
    print(connection.vendor, cursor.fetchone()[0])
"""


@pytest.mark.parametrize(("query", "number"), [("", 1), ("pooler=transaction", 0)])
@pytest.mark.django_db(transaction=True)
def test_nothing_is_prepared_behind_a_transaction_pooler(tmp_path: Path, query: str, number: int) -> None:
    url = database_url()
    url += f"{'&' if '?' in url else '?'}{query}" if query else ""
    assert run_manage(tmp_path, {"DATABASE_URL": url}, "shell", "-v0", "-c", COUNT_PREPARED) == (
        0,
        f"postgresql {number}\n",
    )
