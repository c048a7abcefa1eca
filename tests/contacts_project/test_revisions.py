"""Revisions: every write assigns one, they become visible in order, and tombstones keep those of removed rows."""

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from accounts.services.deletion import delete_account
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership import account_lock
from contacts_project.kernel.ownership.account_lock import (
    AccountGoneError,
    NoOpenWriteError,
    account_write,
    current_write,
)
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION, Tombstone, purge_tombstones
from people.models import DuplicateDismissal, ImportantDate, Person
from people.trash import purge_deleted
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client

ACTIVE = CompiledQuery(lambda owner_id: Person.objects.owned_by(owner_id).active())
BY_BASE_MANAGER = CompiledQuery(lambda key: Person._base_manager.filter(pk=key))


@pytest.fixture
def refuse_unlocked_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse writes outside account_write in tests, too, which tests/conftest.py otherwise allows."""

    def refuse(model: type[Any]) -> dict[str, Any]:
        raise NoOpenWriteError(model)

    monkeypatch.setattr(account_lock, "refuse_write", refuse)


@pytest.mark.parametrize(
    "write",
    [
        lambda ada: Person.objects.create(owner=ada.owner, name="Bob"),
        lambda ada: Person.objects.bulk_create([Person(owner=ada.owner, name="Bob")]),
        lambda ada: ada.save(),
        lambda ada: ada.save(update_fields=["name"]),
        lambda ada: ada.delete(),
        lambda ada: Person.objects.owned_by(ada.owner).update(name="Bob"),
        lambda ada: Person.objects.owned_by(ada.owner).bulk_update([ada], ["name"]),
        lambda ada: Person.objects.owned_by(ada.owner).update(),
        lambda ada: Person.objects.owned_by(ada.owner).delete(),
        lambda ada: ACTIVE.update({"name": "Bob"}, owner_id=ada.owner.pk),
        lambda ada: Person.unscoped.bulk_update([ada], ["name"]),
        lambda ada: Person.objects.bulk_update([ada], ["name"]),
        lambda ada: ada.owner.save(),
    ],
)
def test_write_without_the_account_lock_is_refused(
    alice: User, refuse_unlocked_writes: None, write: Callable[[Person], Any]
) -> None:
    with account_write(alice):
        ada = make_person(alice)
    with pytest.raises(NoOpenWriteError):
        write(ada)


def test_unscoped_write_without_owner_is_refused(alice: User, mallory: User, refuse_unlocked_writes: None) -> None:
    with account_write(alice), account_write(mallory):
        people = [make_person(alice), make_person(mallory)]
        with pytest.raises(NoOpenWriteError):
            Person.unscoped.update(name="Bob")
        with pytest.raises(NoOpenWriteError):
            Person.unscoped.bulk_update(people, ["name"])


def test_quiet_columns_and_the_base_manager_need_no_lock(alice: User, refuse_unlocked_writes: None) -> None:
    with account_write(alice) as write:
        ada = make_person(alice)
    with account_write(alice):
        pass
    ada.save(update_fields=["contact_due_at"])
    Person.objects.owned_by(alice).update(contact_due_on=None)
    Person.unscoped.bulk_update([ada], ["contact_due_at"])
    Person._base_manager.filter(pk=ada.pk).update(name="Bob")
    BY_BASE_MANAGER.update({"surname": "King"}, key=ada.pk)
    ada.refresh_from_db()
    assert (ada.revision, ada.name, ada.surname) == (write.revision, "Bob", "King")


def test_every_kind_of_write_assigns_the_revision(alice: User) -> None:
    def number(person: Person) -> int:
        return int(Person.unscoped.values_list("revision", flat=True).get(pk=person.pk))

    with account_write(alice) as write:
        ada, bob = make_person(alice), Person.objects.create(owner=alice, name="Bob")
        [eve] = Person.objects.bulk_create([Person(owner=alice, name="Eve")])
    assert {number(ada), number(bob), number(eve)} == {write.revision}
    with account_write(alice) as write:
        ada.save(update_fields=["name"])
        Person.objects.owned_by(alice).filter(pk=bob.pk).update(name="Bobby")
        Person.unscoped.bulk_update([eve], ["name"])
    assert {number(ada), number(bob), number(eve)} == {write.revision}
    with account_write(alice) as write:
        Person.objects.owned_by(alice).filter(pk=bob.pk).update()
    assert (number(ada), number(bob)) == (write.revision - 1, write.revision)


def test_cascade_leaves_a_tombstone_per_row(api: Client, alice: User) -> None:
    ada, bob = make_person(alice), make_person(alice, name="Bob")
    date = ImportantDate.objects.create(owner=alice, person=ada, title="Met", date=dt.date(2020, 1, 1))
    pair = DuplicateDismissal.objects.create(owner=alice, first=ada, second=bob)
    api.ok("POST", "/api/relationships", {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)})
    relationships = set(Relationship.unscoped.values_list("pk", flat=True))
    api.ok("DELETE", f"/api/people/{ada.pk}")
    assert not Tombstone.unscoped.exists()
    api.ok("DELETE", f"/api/people/{ada.pk}/permanent")
    alice.refresh_from_db()
    stones = Tombstone.objects.owned_by(alice)
    expected = {("person", ada.pk), ("importantDate", date.pk), ("dismissal", pair.pk)}
    expected |= {("relationship", key) for key in relationships}
    assert {(stone.kind, stone.record_id) for stone in stones} == expected
    assert {stone.revision for stone in stones} == {alice.revision}


def test_purge_leaves_tombstones_and_removes_them_after_120_days(alice: User) -> None:
    ada = make_person(alice, deleted_at=timezone.now())
    now = timezone.now() + dt.timedelta(days=31)
    purge_deleted(now=now)
    assert Tombstone.unscoped.get().record_id == ada.pk
    removed_at = Tombstone.unscoped.get().removed_at
    assert abs(removed_at - timezone.now()) < dt.timedelta(minutes=5)
    assert purge_tombstones(now=removed_at + TOMBSTONE_RETENTION) == 0
    assert purge_deleted(now=removed_at + TOMBSTONE_RETENTION + dt.timedelta(seconds=1))["tombstones"] == 1
    assert not Tombstone.unscoped.exists()


def test_record_deleted_twice_has_one_tombstone(alice: User) -> None:
    key: UUID | None = None
    for _ in range(2):
        with account_write(alice) as write:
            person = make_person(alice, **({"id": key} if key else {}))
            key = person.pk
            Person.objects.owned_by(alice).delete()
    stone = Tombstone.unscoped.get()
    assert (stone.record_id, stone.revision) == (key, write.revision)


@pytest.mark.parametrize("delete", [lambda user: delete_account(user=user), lambda user: user.delete()])
def test_deleted_account_leaves_no_tombstones(alice: User, mallory: User, delete: Callable[[User], Any]) -> None:
    for owner in (alice, mallory):
        with account_write(owner):
            make_person(owner).delete()
        make_person(owner)
    delete(alice)
    assert {stone.owner_id for stone in Tombstone.unscoped.all()} == {mallory.pk}
    assert not Person.unscoped.filter(owner_id=alice.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_reader_of_a_revision_has_seen_all_lower_ones(alice: User) -> None:
    """Four concurrent writers, some of which commit slowly, and a reader."""
    done = Event()

    def write(name: int) -> None:
        try:
            for turn in range(12):
                with account_write(alice):
                    make_person(alice, name=f"{name}-{turn}")
                    done.wait(0.005 * name)
        finally:
            connection.close()

    def read() -> list[tuple[int, set[UUID]]]:
        seen: list[tuple[int, set[UUID]]] = []
        try:
            while not done.wait(0.002):
                rows = dict(Person.objects.owned_by(alice).values_list("pk", "revision"))
                if rows:
                    seen.append((max(rows.values()), set(rows)))
        finally:
            connection.close()
        return seen

    with ThreadPoolExecutor(5) as pool:
        reader = pool.submit(read)
        writers = [pool.submit(write, name) for name in range(4)]
        for writer in writers:
            writer.result(60)
        done.set()
        seen = reader.result(60)
    rows = dict(Person.objects.owned_by(alice).values_list("pk", "revision"))
    assert sorted(set(rows.values())) == sorted(rows.values()), "one number a write"
    assert len(rows) == 48
    assert len({up_to for up_to, _ in seen}) > 5
    for up_to, known in seen:
        assert known == {key for key, revision in rows.items() if revision <= up_to}


def revision_of(user: User) -> int:
    return User.objects.values_list("revision", flat=True).get(pk=user.pk)


def test_nested_write_joins_the_outer_one(alice: User) -> None:
    alice.refresh_from_db()
    before = revision_of(alice)
    with account_write(alice) as outer, account_write(alice.pk) as inner:
        assert (inner.owner_id, inner.revision, inner.now) == (outer.owner_id, outer.revision, outer.now)
        assert outer.revision == before + 1
        assert current_write(alice.pk) is outer
        assert outer.is_fresh
        assert not inner.is_fresh
    assert revision_of(alice) == before + 1
    assert current_write(alice.pk) is None


def test_writes_of_two_accounts_are_separate(alice: User, mallory: User) -> None:
    with account_write(alice) as hers, account_write(mallory) as his:
        assert (hers.owner_id, his.owner_id) == (alice.pk, mallory.pk)


def test_error_in_a_nested_write_rolls_back_everything_even_if_caught(alice: User) -> None:
    before = revision_of(alice)
    with account_write(alice):
        Person.objects.create(owner=alice, name="Ada")
        with pytest.raises(ValueError), account_write(alice):
            raise ValueError
    assert revision_of(alice) == before
    assert not Person.objects.owned_by(alice).exists()


def test_write_of_a_deleted_account_is_refused(alice: User) -> None:
    key = alice.pk
    alice.delete()
    with pytest.raises(AccountGoneError), account_write(key):
        pytest.fail("this must not run")
    assert current_write(key) is None


def test_put_with_all_fields_raises_the_revision_by_one(api: Client, alice: User) -> None:
    group = api.ok("POST", "/api/groups", {"name": "Analysts"}, status=201)["group"]["id"]
    person = make_person(alice)
    before = revision_of(alice)
    body = {"groupIds": [group], "importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10"}], "emails": []}
    api.ok("PUT", f"/api/people/{person.pk}", body)
    assert revision_of(alice) == before + 1
