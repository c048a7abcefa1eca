"""Concurrent merges, deletions and undos of the same people, on real threads and connections."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from people.models import MergeRecord, Person
from tests.client import Client
from tests.concurrency import send_concurrently
from tests.people.merging.steps import merge_people, snapshot
from tests.people.steps import create_person

pytestmark = pytest.mark.django_db(transaction=True)

Send = Callable[[Client], Any]


def send_merge(primary: str, secondary: str) -> Send:
    return lambda client: client.call("post", "/api/people/merge", {"primaryId": primary, "secondaryId": secondary})


def send_deletion(person: str) -> Send:
    return lambda client: client.call("delete", f"/api/people/{person}")


def test_equal_concurrent_merges_succeed_once(api: Client, alice: User) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", emails=[{"email": "a@x.org"}])
    assert Counter(send_concurrently(alice, *[send_merge(primary, secondary)] * 6)) == {200: 1, 400: 5}
    assert MergeRecord.objects.owned_by(alice).count() == 1
    assert len(Person.unscoped.get(pk=primary).emails) == 1


def test_concurrent_merges_into_each_other_succeed_once(api: Client, alice: User) -> None:
    one, other = create_person(api, "Ada"), create_person(api, "Ada")
    assert Counter(send_concurrently(alice, send_merge(one, other), send_merge(other, one))) == {200: 1, 400: 1}
    assert Person.objects.owned_by(alice).active().count() == 1


def test_concurrent_merge_and_deletion_leave_a_consistent_result(api: Client, alice: User) -> None:
    for _ in range(4):
        primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", notes="x")
        merged, deleted = send_concurrently(
            alice,
            send_merge(primary, secondary),
            send_deletion(secondary),
        )
        # A deletion that comes second finds nobody (404), or what it wants already done (200).
        assert (merged, deleted) in {(200, 404), (200, 200), (400, 200)}
        assert Person.unscoped.get(pk=secondary).deleted_at is not None
        assert Person.unscoped.get(pk=primary).notes == ("x" if merged == 200 else None)


def test_an_undo_is_done_once(api: Client, alice: User) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", phoneNumbers=[{"number": "030 12345"}])
    before = snapshot(api)
    path = f"/api/people/merge/{merge_people(api, primary, secondary)['mergeId']}/undo"
    assert Counter(send_concurrently(alice, *[lambda client: client.call("post", path)] * 4)) == {200: 1, 409: 3}
    assert snapshot(api) == before
