"""What overrides Django and DRF to save time does what theirs does, and still saves what its docstring says."""

import sys
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from contacts_project.kernel.database import compiled_queries, health_checks
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.speedups import QuickSave, kept_serializer
from people.api.person_serializer import PersonChangeSerializer
from people.models import Person
from tests.builders import make_person


def python_calls(run: Callable[[], object]) -> int:
    """The number of calls of Python functions, of the second run: the first fills caches."""
    run()
    count = 0

    def on_event(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def ada(alice: User) -> Person:
    return make_person(alice)


def test_a_save_takes_fewer_calls(alice: User, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def save() -> None:
        ada.save(update_fields=["name"])

    with account_write(alice):
        ours = python_calls(save)
        with monkeypatch.context() as djangos:
            djangos.delattr(QuickSave, "_do_update")
            theirs = python_calls(save)
    assert ours < 0.7 * theirs


@pytest.mark.parametrize("number", [1, 50])
def test_a_bulk_update_takes_fewer_calls(alice: User, number: int) -> None:
    columns = ["name", "surname", "revision"]
    with account_write(alice):
        people = [make_person(alice, name=f"Ada {place}") for place in range(number)]
        ours = python_calls(lambda: Person.objects.bulk_update(people, columns))
        djangos: Any = QuerySet(Person)
        theirs = python_calls(lambda: djangos.bulk_update(people, columns))
    assert ours < 0.5 * theirs


def test_a_bulk_create_of_one_row_takes_fewer_calls(alice: User) -> None:
    djangos: Any = QuerySet(Person)
    with account_write(alice):
        ours = python_calls(lambda: Person.objects.bulk_create([Person(owner=alice, name="Ada")]))
        theirs = python_calls(lambda: djangos.bulk_create([Person(owner=alice, name="Ada")]))
    assert ours < 0.7 * theirs


def test_a_kept_serializer_takes_fewer_calls() -> None:
    def validate(serializer: Any) -> None:
        vars(serializer).pop("_validated_data", None)
        serializer.initial_data = {"name": "Ada"}
        assert serializer.is_valid()

    ours = python_calls(lambda: validate(kept_serializer(PersonChangeSerializer, partial=False)))
    theirs = python_calls(lambda: validate(PersonChangeSerializer(data=None)))
    assert ours < 0.5 * theirs


def test_a_kept_cursor_takes_fewer_calls(alice: User, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> None:
        assert len(Person.objects.active_ids.rows(owner_id=alice.pk, row_ids=[ada.pk])) == 1

    ours = python_calls(read)
    monkeypatch.setattr(compiled_queries, "kept_cursor", lambda database: database.cursor())
    theirs = python_calls(read)
    assert ours < 0.8 * theirs


def test_a_kept_cursor_is_seen_by_wrappers_and_logs(alice: User) -> None:
    seen = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        return execute(sql, *rest)

    def read() -> None:
        Person.objects.active_ids.rows(owner_id=alice.pk, row_ids=[alice.pk])

    read()
    with connection.execute_wrapper(note):
        read()
    with CaptureQueriesContext(connection) as log:
        read()
    read()
    assert len(seen) == len(log) == 1


@pytest.mark.django_db(transaction=True)
def test_a_kept_cursor_ends_with_its_connection(alice: User) -> None:
    person = make_person(alice)
    for _ in range(3):
        assert len(Person.objects.active_ids.rows(owner_id=alice.pk, row_ids=[person.pk])) == 1
        connection.close()


@pytest.mark.parametrize(("pause", "is_checked"), [(0.9, False), (1.1, True)])
def test_a_connection_in_frequent_use_is_not_checked(
    alice: User, monkeypatch: pytest.MonkeyPatch, *, pause: float, is_checked: bool
) -> None:
    checks = count()
    clock = iter((0, pause))
    monkeypatch.setattr(health_checks, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    database: Any = connections[DEFAULT_DB_ALIAS]
    monkeypatch.setattr(database, "is_usable", lambda: next(checks) >= 0)
    monkeypatch.setattr(database, "health_check_enabled", True)
    for _ in range(2):
        database.health_check_done = False  # as Django does at the start of a request
        health_checks.trust_recent_use()
        made = next(checks)
        User.objects.filter(pk=alice.pk).exists()
    assert (next(checks) > made + 1) == is_checked


def test_a_bulk_update_leaves_rows_of_others_alone(alice: User, mallory: User) -> None:
    ours, hers = make_person(alice, name="Ada"), make_person(mallory, name="Agnes")
    ours.name = hers.name = "Eve"
    with account_write(alice):
        assert Person.objects.owned_by(alice).bulk_update([ours, hers], ["name"]) == 1
        assert Person.objects.owned_by(alice).bulk_update([], ["name"]) == 0
    assert sorted(Person.unscoped.values_list("name", flat=True)) == ["Agnes", "Eve"]
