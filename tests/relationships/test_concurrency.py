"""Concurrent requests for one pair: one succeeds, the others get an error, and the rows stay consistent."""

from typing import Any

import pytest

from accounts.models import User
from relationships.models import Relationship
from tests.client import Client
from tests.concurrency import repeat_concurrently
from tests.relationships.invariants import check_invariants
from tests.relationships.steps import list_relationships, make_ada_and_bob, relate, type_ids

pytestmark = pytest.mark.django_db(transaction=True)
CONCURRENCY = 8


@pytest.mark.parametrize(("name", "back"), [("PARENT", "CHILD"), ("FRIEND", "FRIEND"), ("", "")])
def test_a_pair_is_made_once(api: Client, alice: User, name: str, back: str) -> None:
    ada, bob = make_ada_and_bob(alice)
    types = type_ids(api)
    forward = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": types.get(name)}
    reverse = {"personId": str(bob.pk), "relatedPersonId": str(ada.pk), "relationshipTypeId": types.get(back)}
    statuses = repeat_concurrently(
        alice,
        CONCURRENCY,
        lambda client, number: client.call("POST", "/api/relationships", [forward, reverse][number % 2]),
    )
    assert statuses == {200: 1, 400: CONCURRENCY - 1}
    assert len(list_relationships(api)) == 2
    check_invariants(alice)


def test_a_pair_is_restored_or_made_anew_but_not_both(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    path = f"/api/relationships/{relate(api, ada, bob)['id']}"
    api.ok("DELETE", path)
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)}
    calls: list[tuple[str, str, Any]] = [("POST", f"{path}/restore", None), ("POST", "/api/relationships", body)]
    statuses = repeat_concurrently(alice, CONCURRENCY, lambda client, number: client.call(*calls[number % 2]))
    assert statuses == {200: 1, 400: CONCURRENCY - 1}
    assert len(list_relationships(api)) == 2
    check_invariants(alice)


def test_changes_of_both_rows_leave_a_pair_that_matches(api: Client, alice: User) -> None:
    types = type_ids(api)
    relate(api, *make_ada_and_bob(alice), types["FRIEND"])
    ends = [row["id"] for row in list_relationships(api)]
    kinds = [types["PARENT"], types["CHILD"], types["SPOUSE"], None]

    def change(client: Client, number: int) -> object:
        body = {"relationshipTypeId": kinds[number % 4], "notes": str(number)}
        return client.call("PUT", f"/api/relationships/{ends[number % 2]}", body)

    assert repeat_concurrently(alice, CONCURRENCY, change) == {200: CONCURRENCY}
    check_invariants(alice)


def test_a_type_is_used_or_deleted_but_not_both(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    types = type_ids(api)
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": types["CHILD"]}
    calls: list[tuple[str, str, Any]] = [
        ("POST", "/api/relationships", body),
        ("DELETE", f"/api/relationship-types/{types['CHILD']}", None),
    ]
    statuses = repeat_concurrently(alice, CONCURRENCY, lambda client, number: client.call(*calls[number % 2]))
    assert statuses[200] == 1
    assert set(statuses) <= {200, 400, 404}
    check_invariants(alice)


def test_deletion_and_removal_are_each_done_once(api: Client, alice: User) -> None:
    path = f"/api/relationships/{relate(api, *make_ada_and_bob(alice))['id']}"
    statuses = repeat_concurrently(alice, CONCURRENCY, lambda client, _: client.call("DELETE", path))
    assert statuses == {200: 1, 404: CONCURRENCY - 1}
    statuses = repeat_concurrently(alice, CONCURRENCY, lambda client, _: client.call("DELETE", f"{path}/permanent"))
    assert statuses == {200: 1, 404: CONCURRENCY - 1}
    assert not Relationship.unscoped.exists()
