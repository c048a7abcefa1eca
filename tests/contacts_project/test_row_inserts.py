"""A few rows are inserted by statements that are built once, as Django's bulk_create would insert them."""

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet, Value

from accounts.models import ApiToken, User
from contacts_project.kernel.database import row_inserts
from contacts_project.kernel.database.tuple_rows import Row, TupleRows
from contacts_project.kernel.ownership.account_lock import account_write
from dav.models import BookCard, Device, GivenCard
from people.models import Group, ImportantDate, Person
from people.names import keys_of_names
from tests.builders import make_person, make_token

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


def test_rows_that_are_there_stay_or_are_updated(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuerySet, "bulk_create", None)  # Django's is not called
    make_token(alice)
    token = ApiToken.unscoped.get()
    earlier, later = (dt.datetime(2026, 3, day, tzinfo=dt.UTC) for day in (1, 2))

    def seen(at: dt.datetime, agent: str) -> Device:
        return Device(owner=alice, token=token, last_seen_at=at, user_agent=agent)

    Device.objects.bulk_create([seen(earlier, "first")], ignore_conflicts=True)
    Device.objects.bulk_create([seen(later, "second")], ignore_conflicts=True)
    assert Device.objects.owned_by(alice).values_list("last_seen_at", "user_agent").get() == (earlier, "first")
    of_token: Any = {"unique_fields": ["token"], "update_fields": ["last_seen_at", "selected_by"]}
    Device.objects.bulk_create([seen(later, "third")], update_conflicts=True, **of_token)
    assert Device.objects.owned_by(alice).values_list("last_seen_at", "user_agent").get() == (later, "first")


@pytest.mark.parametrize("number", [1, 2, 700])
def test_rows_as_tuples_are_those_of_django(alice: User, mallory: User, number: int) -> None:
    make_token(alice)
    token, first, later = ApiToken.unscoped.get(), *(dt.datetime(2026, 3, n, 1, 2, 3, n, dt.UTC) for n in (1, 2))
    revisions: Any = dict.fromkeys(("read_revision", "changed_revision", "plain_changed_revision"), 1)
    cards = [BookCard(owner=alice, name=f"{n}.vcf", text=b"", **revisions) for n in range(number)]
    BookCard.objects.bulk_create(cards)
    columns = ("id", "created_at", "updated_at", "owner", "token", "card", "etag")
    of_given, of_etags = GivenCard.as_tuples, TupleRows("owner", "card", "etag")
    of_etags.model = GivenCard
    of_token: Any = {"unique_fields": ("token", "card"), "update_fields": ("etag", "updated_at")}

    def rows(at: dt.datetime, etag: str) -> list[Row]:
        return [(uuid4(), at, at, alice.pk, token.pk, card.pk, f"{etag}{n}") for n, card in enumerate(cards)]

    of_given.bulk_create([])
    of_given.bulk_create(inserted := rows(first, "a"))
    stored = list(GivenCard.objects.owned_by(alice).order_by("pk").values_list(*columns))
    assert stored == sorted(map(tuple, inserted), key=lambda row: str(row[0]))
    # The same cards again: only what is to be updated is.
    of_given.bulk_create(rows(later, "b"), update_conflicts=True, **of_token)
    again = list(GivenCard.objects.owned_by(alice).order_by("pk").values_list(*columns))
    assert again == [(*row[:2], later, *row[3:6], row[6].replace("a", "b")) for row in stored]
    with pytest.raises(IntegrityError), transaction.atomic():
        of_given.bulk_create(rows(later, "c"))
    of_etags.delete([(alice.pk, cards[0].pk, "b0"), (mallory.pk, cards[-1].pk, "b")])
    assert GivenCard.objects.owned_by(alice).count() == number - 1
