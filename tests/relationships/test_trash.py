"""Relationships and types in the trash, and their removal by the purge."""

import datetime as dt

from django.utils import timezone

from accounts.models import User
from people.models import RelationshipType
from people.trash import purge_deleted
from relationships.models import Relationship
from tests.client import Client
from tests.relationships.invariants import check_invariants
from tests.relationships.steps import list_relationships, make_ada_and_bob, make_people, relate, type_ids


def test_trash_lists_both_rows_latest_deletion_first(api: Client, alice: User) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    older, newer = relate(api, ada, bob), relate(api, ada, eve)
    api.ok("DELETE", f"/api/relationships/{newer['id']}")
    api.ok("DELETE", f"/api/relationships/{older['id']}")
    deleted = api.ok("GET", "/api/deleted?type=relationships")["deleted"]
    assert [{row["personId"], row["relatedPersonId"]} for row in deleted] == [
        *[{str(ada.pk), str(bob.pk)}] * 2,
        *[{str(ada.pk), str(eve.pk)}] * 2,
    ]
    assert all(row["deletedAt"] for row in deleted)
    assert {older["id"], newer["id"]} < {row["id"] for row in deleted}


def test_trash_lists_types(api: Client) -> None:
    friend = type_ids(api)["FRIEND"]
    api.ok("DELETE", f"/api/relationship-types/{friend}")
    [deleted] = api.ok("GET", "/api/deleted?type=relationshipTypes")["deleted"]
    assert deleted["deletedAt"]
    assert (deleted["id"], deleted["name"]) == (friend, "FRIEND")


def test_nothing_is_restored_after_the_retention_period(api: Client, alice: User) -> None:
    relationship = f"/api/relationships/{relate(api, *make_ada_and_bob(alice))['id']}"
    kind = f"/api/relationship-types/{type_ids(api)['FRIEND']}"
    for path in (relationship, kind):
        api.ok("DELETE", path)
    late = timezone.now() - dt.timedelta(days=31)
    Relationship.objects.owned_by(alice).deleted().update(deleted_at=late)
    RelationshipType.objects.owned_by(alice).deleted().update(deleted_at=late)
    for path in (relationship, kind):
        api.ok("POST", f"{path}/restore", status=404)
        api.ok("DELETE", f"{path}/permanent", status=404)
    for name in ("relationships", "relationshipTypes"):
        assert api.ok("GET", f"/api/deleted?type={name}")["deleted"] == []


def test_the_purge_removes_both_rows_of_a_pair_and_types(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    ids = type_ids(api)
    kept, gone = relate(api, ada, bob, ids["FRIEND"]), relate(api, ada, bob, ids["PARENT"])
    api.ok("DELETE", f"/api/relationships/{gone['id']}")
    api.ok("DELETE", f"/api/relationship-types/{ids['CHILD']}")
    for days in (29, 31):
        purge_deleted(now=timezone.now() + dt.timedelta(days=days))
        check_invariants(alice)
        assert Relationship.objects.owned_by(alice).deleted().count() == (2 if days == 29 else 0)
    assert kept in list_relationships(api)
    assert set(ids) - set(type_ids(api)) == {"CHILD"}
    assert not RelationshipType.objects.owned_by(alice).deleted().exists()
