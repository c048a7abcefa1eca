"""A few rows are inserted by statements that are built once, as Django's bulk_create would insert them."""

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet, Value

from accounts.models import User
from contacts_project.kernel.database import row_inserts
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, ImportantDate, Person
from people.names import keys_of_names
from tests.builders import make_person

pytestmark = pytest.mark.django_db


def people(owner: User) -> list[Any]:
    ada = Person(owner=owner, name="Ada", emails=[{"id": "1", "email": "ada@example.org"}], favourite=True)
    bea = Person(owner=owner, name="Bea", surname="Lee", last_contact=dt.date(2020, 2, 29), notes="a % sign")
    for person in (ada, bea):
        person.sort_key, person.search_key = keys_of_names(person)
    return [ada, bea]


def dates(owner: User) -> list[Any]:
    ada = make_person(owner, name="Ada")
    birthday = ImportantDate(owner=owner, person=ada, type="BIRTHDAY", date=dt.date(1980, 2, 29))
    return [birthday, ImportantDate(owner=owner, person=ada, title="Met", date=dt.date(2001, 12, 31))]


def columns(row: Model, *, but: str = "id created_at updated_at uid person_id") -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name[0] != "_" and name not in but.split()}


@pytest.mark.parametrize("make", [people, dates])
@pytest.mark.parametrize("number", [1, 2])
def test_rows_equal_those_of_django(alice: User, monkeypatch: pytest.MonkeyPatch, make: Any, number: int) -> None:
    with account_write(alice):
        ours, theirs = make(alice)[:number], make(alice)[:number]
        model = type(ours[0])
        with monkeypatch.context() as patch:
            patch.setattr(QuerySet, "bulk_create", None)  # Django's is not called
            assert model.objects.bulk_create(ours) == ours
        monkeypatch.setattr("contacts_project.kernel.speedups.MAX_ROWS", 0)
        model.objects.bulk_create(theirs)
    stored = model.objects.owned_by(alice).in_bulk()
    for our_row, their_row in zip(ours, theirs, strict=True):
        assert columns(our_row) == columns(their_row)
        assert columns(stored[our_row.pk]) == columns(stored[their_row.pk])
        assert our_row.updated_at == stored[our_row.pk].updated_at
        assert (our_row._state.adding, our_row._state.db) == (False, "default")


def test_what_needs_an_expression_is_left_to_django(alice: User) -> None:
    group = Group(owner=alice, name=Value("Friends"), name_key="friends", color="#000000")
    with account_write(alice):
        Group.objects.bulk_create([group])
    assert Group.objects.owned_by(alice).get().name == "Friends"


def test_a_refused_row_raises_as_ever(alice: User) -> None:
    person = make_person(alice, name="Ada")
    with account_write(alice), pytest.raises(IntegrityError), transaction.atomic():
        Person.objects.bulk_create([Person(id=person.pk, owner=alice, name="Bea")])


def test_statements_are_built_once(alice: User) -> None:
    row_inserts._insert_statement.cache_clear()
    with account_write(alice):
        for _ in range(3):
            Person.objects.bulk_create([Person(owner=alice, name="Ada")])
    assert row_inserts._insert_statement.cache_info().misses == 1
