"""What a client that works offline needs of favourites, quiet people, rules of groups, shared addresses, bulk actions.

That is: ids of its own, batches, If-Match, Idempotency-Key, the change feed; also the account's export, merge and undo.
"""

from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.ids import new_id
from tests.builders import UNKNOWN_ID
from tests.client import Client, client_of

pytestmark = pytest.mark.django_db

HOME = {"type": "home", "streetLine1": "Hauptstraße 5", "postalCode": "1010", "locality": "Wien", "country": "AT"}
RULE = {"name": "Family", "contactReminder": {"interval": 3, "unit": "WEEKS"}, "leadDays": 10}


def step(method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    return {"method": method, "path": path, "body": body, "headers": headers}


def run_batch(api: Client, *operations: dict[str, Any]) -> list[Any]:
    results = api.ok("POST", "/api/batch", {"operations": list(operations), "atomic": True})["results"]
    assert [result["status"] for result in results if result["status"] >= 300] == [], results
    return [result["body"] for result in results]


def changes_since(api: Client, cursor: str) -> tuple[dict[str, Any], str]:
    """What the feed has changed, by id, and where it ends."""
    page = api.ok("GET", f"/api/changes?cursor={cursor}" if cursor else "/api/changes")
    assert page["hasMore"] is False
    return {change["id"]: change["record"] for change in page["changes"]}, page["cursor"]


def test_a_client_writes_them_offline_and_reads_them_in_the_feed(api: Client) -> None:
    group, ada, bea = (str(new_id()) for _ in range(3))
    _, cursor = changes_since(api, "")
    birthday = {"type": "BIRTHDAY", "date": "1990-05-05", "reminderEnabled": True}
    run_batch(
        api,
        step("POST", "/api/groups", {"id": group, **RULE}),
        step(
            "POST",
            "/api/people",
            {"id": ada, "name": "Ada", "favourite": True, "addresses": [HOME], "groupIds": [group]},
        ),
        step(
            "POST",
            "/api/people",
            {"id": bea, "name": "Bea", "quiet": True, "addresses": [HOME], "importantDates": [birthday]},
        ),
        step("POST", f"/api/groups/{group}/members", {"personId": bea}),
    )
    found, cursor = changes_since(api, cursor)
    assert {group, ada, bea} <= found.keys()
    assert (found[group]["contactReminder"], found[group]["leadDays"]) == (RULE["contactReminder"], 10)
    assert [(found[key]["favourite"], found[key]["quiet"]) for key in (ada, bea)] == [(True, False), (False, True)]
    assert {found[key]["contactReminderFrom"]["groupId"] for key in (ada, bea)} == {group}
    assert {found[key]["contactReminderFrom"]["name"] for key in (ada, bea)} == {"Family"}

    stale = api.call("GET", f"/api/people/{ada}")["ETag"]
    api.ok("PUT", f"/api/people/{ada}", {"quiet": True}, HTTP_IF_MATCH=stale)
    assert api.call("PUT", f"/api/people/{ada}", {"favourite": False}, HTTP_IF_MATCH=stale).status_code == 412
    of_group = api.call("GET", f"/api/groups/{group}")["ETag"]
    api.ok("PUT", f"/api/groups/{group}", {"contactReminder": {"interval": 1, "unit": "WEEKS"}}, HTTP_IF_MATCH=of_group)
    assert api.call("POST", f"/api/groups/{group}/apply-rule", HTTP_IF_MATCH=of_group).status_code == 412
    found, cursor = changes_since(api, cursor)
    assert set(found) == {ada, group}  # a changed rule asks nothing of its members

    key = str(new_id())
    applied = [api.ok("POST", f"/api/groups/{group}/apply-rule", HTTP_IDEMPOTENCY_KEY=key) for _ in range(2)]
    assert applied == [{"affectedCount": 2}] * 2
    found, cursor = changes_since(api, cursor)
    assert {key: record["contactReminderInterval"] for key, record in found.items()} == {ada: 1, bea: 1}

    entry = found[ada]["addresses"][0]["id"]
    shared = api.ok("GET", f"/api/people/{ada}/addresses/{entry}/shared")["people"]
    assert [(one["id"], one["name"]) for one in shared] == [(bea, "Bea")]
    moved = {**HOME, "streetLine1": "Ring 1"}
    body = {"from": {"personId": ada, "entryId": entry}, "to": moved, "personIds": [bea]}
    refused = {**body, "personIds": [bea, UNKNOWN_ID]}
    assert api.call("POST", "/api/addresses/replace", refused).status_code == 400
    [replaced] = run_batch(api, step("POST", "/api/addresses/replace", body, **{"Idempotency-Key": str(new_id())}))
    assert replaced == {"affectedCount": 2}
    found, cursor = changes_since(api, cursor)
    assert {key: record["addresses"][0]["streetLine1"] for key, record in found.items()} == {
        ada: "Ring 1",
        bea: "Ring 1",
    }
    assert found[ada]["addresses"][0]["id"] == entry


def test_bulk_actions_merge_undo_and_the_export_keep_them(api: Client, mallory: User) -> None:
    group = api.ok("POST", "/api/groups", RULE, status=201)["group"]["id"]
    birthday = {"type": "BIRTHDAY", "date": "1990-05-05", "reminderEnabled": True}
    body = {"addresses": [HOME], "importantDates": [birthday], "groupIds": [group], "quiet": True}
    ada, bea = (api.ok("POST", "/api/people", {"name": n, **body}, status=201)["person"]["id"] for n in ("Ada", "Bea"))
    _, cursor = changes_since(api, "")
    both = {"personIds": [ada, bea]}
    run_batch(
        api,
        step("POST", "/api/people/bulk", {"action": "setQuiet", "value": False, **both}),
        step("POST", "/api/people/bulk", {"action": "setFavourite", "value": True, **both}),
        step("POST", "/api/people/bulk", {"action": "setContactReminder", "enabled": False, **both}),
        step("POST", "/api/people/bulk", {"action": "setDateReminders", "type": "BIRTHDAY", "enabled": False, **both}),
        step("POST", "/api/people/bulk", {"action": "removeFromGroups", "groupIds": [group], **both}),
    )
    found, cursor = changes_since(api, cursor)
    assert {ada, bea} <= found.keys()
    assert {(found[key]["favourite"], found[key]["quiet"]) for key in (ada, bea)} == {(True, False)}
    assert [found[key]["groupIds"] for key in (ada, bea)] == [[], []]
    assert api.ok("GET", "/api/people?withoutGroups=true")["pagination"]["total"] == 2

    before = api.ok("GET", f"/api/people/{ada}")["person"]
    merged = api.ok(
        "POST", "/api/people/merge", {"primaryId": ada, "secondaryId": bea, "fieldOverrides": {"quiet": True}}
    )
    assert api.ok("GET", f"/api/people/{ada}")["person"]["quiet"] is True
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    after = api.ok("GET", f"/api/people/{ada}")["person"]
    assert {**after, "updatedAt": before["updatedAt"]} == before

    other = client_of(mallory)
    other.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    theirs, ours = (client.ok("GET", "/api/people?sort=createdAt")["people"] for client in (other, api))
    marks = [
        [(one["name"], one["favourite"], one["quiet"], one["contactReminderEnabled"]) for one in people]
        for people in (theirs, ours)
    ]
    assert marks[0] == marks[1]
    assert other.ok("GET", "/api/people/addresses")["households"][0]["lines"] == ["Hauptstraße 5", "1010 Wien"]
