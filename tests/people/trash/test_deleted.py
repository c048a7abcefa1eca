"""GET /api/deleted: each kind, newest first, only own records within the retention."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.json import format_timestamp
from people.api.deleted import KINDS
from people.models import Group
from people.trash import find_deleters, trash_kinds
from tests.builders import make_person
from tests.client import Client
from tests.queries import count_queries

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

KINDS_OF_PEOPLE = ["people", "groups", "importantDates", "customFieldTemplates"]


def trash(api: Client, kind: str) -> list[Any]:
    response = api.ok("get", f"/api/deleted?type={kind}")
    assert set(response) == {"deleted", "retentionDays", "cutoffDate"}
    rows: list[Any] = response["deleted"]
    return rows


def delete_group(api: Client, name: str) -> str:
    key: str = api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"]
    api.ok("delete", f"/api/groups/{key}")
    return key


def test_every_kind_of_the_contract_and_no_other() -> None:
    assert set(trash_kinds()) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS_OF_PEOPLE)
def test_a_record_that_leaves_the_trash_while_it_is_listed(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Between the query of the ids and that of the records."""
    keys = [_delete_one(api, alice, kind, name) for name in ("one", "two", "three")]
    model: Any = trash_kinds()[kind].model

    def restore_meanwhile(owner: User, name: str, rows: Any) -> Any:
        model.objects.owned_by(owner).filter(pk=keys[1]).delete()
        return {**find_deleters(owner, name, rows), UUID(keys[0]): {"tokenId": keys[0], "name": "Phone"}}

    monkeypatch.setattr("people.api.deleted.find_deleters", restore_meanwhile)
    rows = trash(api, kind)
    assert [(row["id"], row["deletedBy"] is None) for row in rows] == [(keys[2], True), (keys[0], False)]


@pytest.mark.parametrize("query", ["", "?type=", "?type=persons", "?type=People", "?kind=people"])
def test_a_missing_or_unknown_type_is_400(api: Client, query: str) -> None:
    assert api.ok("get", f"/api/deleted{query}", status=400)["details"][0]["field"] == "type"


def test_response_contains_the_end_of_the_retention(api: Client, settings: Any) -> None:
    settings.RETENTION_DAYS = 7
    response = api.ok("get", "/api/deleted?type=groups")
    assert (response["deleted"], response["retentionDays"]) == ([], 7)
    cutoff = dt.datetime.fromisoformat(response["cutoffDate"])
    assert abs(timezone.now() - dt.timedelta(days=7) - cutoff) < dt.timedelta(minutes=1)


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", KINDS_OF_PEOPLE)
def test_own_records_newest_first(api: Client, stranger: Client, alice: User, kind: str) -> None:
    keys = [_delete_one(api, alice, kind, name) for name in ("one", "two")]
    rows = trash(api, kind)
    assert [row["id"] for row in rows] == keys[::-1]
    assert all(row["deletedAt"] for row in rows)
    assert trash(stranger, kind) == []


def _delete_one(api: Client, owner: User, kind: str, name: str) -> str:
    if kind == "groups":
        return delete_group(api, name)
    if kind == "customFieldTemplates":
        body = {"name": name, "type": "TEXT"}
        key: str = api.ok("post", "/api/custom-field-templates", body, status=201)["customFieldTemplate"]["id"]
        api.ok("delete", f"/api/custom-field-templates/{key}")
        return key
    person = make_person(owner, name=name)
    if kind == "people":
        api.ok("delete", f"/api/people/{person.pk}")
        return str(person.pk)
    path = f"/api/people/{person.pk}/important-dates"
    key = api.ok("post", path, {"title": name, "date": "2020-05-04"})["importantDate"]["id"]
    api.ok("delete", f"{path}/{key}")
    return key


@pytest.mark.both_databases
def test_records_after_the_retention_are_not_listed(api: Client) -> None:
    kept, gone = delete_group(api, "kept"), delete_group(api, "gone")
    old = timezone.now() - dt.timedelta(days=30, minutes=1)
    Group.unscoped.filter(pk=gone).update(deleted_at=old)
    assert [row["id"] for row in trash(api, "groups")] == [kept]
    assert api.call("post", f"/api/groups/{gone}/restore").status_code == 404


def test_the_record_is_as_it_was(api: Client) -> None:
    key = delete_group(api, "one")
    row = Group.unscoped.get(pk=key)
    assert trash(api, "groups")[0] == {
        "id": key,
        "name": "one",
        "description": None,
        "color": row.color,
        "contactReminder": None,
        "leadDays": None,
        "memberCount": 0,
        "deletedAt": format_timestamp(row.deleted_at),
        "deletedBy": None,
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", KINDS_OF_PEOPLE)
def test_deleted_records_are_paged(api: Client, alice: User, kind: str) -> None:
    keys = [_delete_one(api, alice, kind, name) for name in ("one", "two", "three")][::-1]
    page = api.ok("get", f"/api/deleted?type={kind}&limit=2")
    assert [row["id"] for row in page["deleted"]] == keys[:2]
    assert page["pagination"] == {"total": 3, "limit": 2, "offset": 0, "hasMore": True}
    page = api.ok("get", f"/api/deleted?type={kind}&limit=1000&offset=2")
    assert [row["id"] for row in page["deleted"]] == keys[2:]
    assert page["pagination"] == {"total": 3, "limit": 500, "offset": 2, "hasMore": False}
    assert [row["id"] for row in api.ok("get", f"/api/deleted?type={kind}&offset=1")["deleted"]] == keys[1:]


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=x", "offset=-1", "offset=1e3"])
def test_invalid_page_is_400(api: Client, query: str) -> None:
    response = api.ok("get", f"/api/deleted?type=groups&{query}", status=400)
    assert response["details"][0]["field"] == query.partition("=")[0]


@pytest.mark.parametrize("page", ["", "&limit=50"])
def test_as_many_queries_for_many_records_as_for_one(api: Client, alice: User, page: str) -> None:
    counts: list[list[int]] = []
    for more in (1, 9):
        for number in range(more):
            for kind in KINDS_OF_PEOPLE:
                _delete_one(api, alice, kind, f"{more}-{number}")
        paths = [f"/api/deleted?type={kind}{page}" for kind in KINDS_OF_PEOPLE]
        counts.append([count_queries(api.ok, "get", path) for path in paths])
    assert counts[0] == counts[1]
