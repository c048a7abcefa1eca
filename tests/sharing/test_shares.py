"""Shares: made, read, changed; who may."""

from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.ids import new_id
from sharing.carry.carrier import carry_account
from sharing.models import Share, ShareMembership
from tests.builders import UNKNOWN_ID
from tests.client import Client, client_of
from tests.queries import count_queries
from tests.sharing.builders import make_group, make_share
from tests.sharing.conftest import carry_all

pytestmark = pytest.mark.sqlite_suffices


def test_a_share_as_its_maker_sees_it(api: Client) -> None:
    group = make_group(api, "Family")
    share = api.ok("POST", "/api/shares", {"name": " Family ", "groupId": group}, status=201)["share"]
    assert share == {
        "id": share["id"],
        "name": "Family",
        "groupId": group,
        "private": ["notes"],
        "reminders": "none",
        "newcomers": "auto",
        "state": "active",
        "members": [
            {
                "id": share["members"][0]["id"],
                "name": "Alice",
                "you": True,
                "host": True,
                "joinedAt": share["members"][0]["joinedAt"],
            }
        ],
        "peopleCount": 0,
        "waitingCount": 0,
        "conflictCount": 0,
        "lastChangeAt": None,
        "createdAt": share["createdAt"],
        "updatedAt": share["updatedAt"],
    }
    assert api.ok("GET", "/api/shares") == {"shares": [share]}
    assert api.ok("GET", f"/api/shares/{share['id']}") == {"share": share}


@pytest.mark.both_databases
def test_whoever_is_in_the_group_is_counted_at_once(api: Client, alice: User) -> None:
    groups = [make_group(api, name) for name in ("Family", "Club")]
    for number, group in enumerate([*groups, groups[0], groups[0]]):
        api.ok("POST", "/api/people", {"name": f"P{number}", "groupIds": [group]}, status=201)
    in_trash = api.ok("POST", "/api/people", {"name": "Gone", "groupIds": groups}, status=201)["person"]["id"]
    api.ok("DELETE", f"/api/people/{in_trash}")
    bodies = [{"name": "Ours", "groupId": group} for group in groups]
    made = [api.ok("POST", "/api/shares", body, status=201)["share"] for body in bodies]
    assert [share["peopleCount"] for share in made] == [3, 1]
    carry_account(alice.pk, max_batches=1)
    for _ in range(2):
        assert [share["peopleCount"] for share in api.ok("GET", "/api/shares")["shares"]] == [3, 1]
        carry_all()


def test_settings_in_post(api: Client) -> None:
    body: dict[str, Any] = {"private": ["photo", "notes", "photo"], "reminders": "all", "newcomers": "ask"}
    share = make_share(api, **body)
    assert (share["private"], share["reminders"], share["newcomers"]) == (["notes", "photo"], "all", "ask")
    assert make_share(api, "School", private=[])["private"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 101),
        ("name", None),
        ("groupId", UNKNOWN_ID),
        ("groupId", None),
        ("private", ["lastContact"]),
        ("private", "notes"),
        ("private", [["notes"]]),
        ("reminders", "some"),
        ("newcomers", True),
        ("id", "x"),
    ],
)
def test_what_is_refused_in_post(api: Client, field: str, value: Any) -> None:
    body = {"name": "Family", "groupId": make_group(api, "Family"), field: value}
    answer = api.ok("POST", "/api/shares", body, status=400)
    assert answer["details"][0]["field"].partition(".")[0] == field
    assert api.ok("GET", "/api/shares") == {"shares": []}


def test_a_client_may_give_the_id(api: Client, stranger: Client) -> None:
    key = str(new_id())
    assert make_share(api, id=key)["id"] == key
    taken = {"id": key, "name": "Mine", "groupId": make_group(stranger, "Mine")}
    assert stranger.ok("POST", "/api/shares", taken, status=409)["code"] == "id_taken"
    assert stranger.ok("POST", "/api/groups", {"id": key, "name": "Theirs"}, status=409)["code"] == "id_taken"


def test_a_foreign_or_deleted_group_is_no_group(api: Client, stranger: Client) -> None:
    foreign, deleted = make_group(stranger, "Mine"), make_group(api, "Gone")
    api.ok("DELETE", f"/api/groups/{deleted}")
    for group in (foreign, deleted):
        api.ok("POST", "/api/shares", {"name": "Family", "groupId": group}, status=400)


def test_a_group_is_in_one_share(api: Client) -> None:
    share = make_share(api)
    body = {"name": "Again", "groupId": share["groupId"]}
    assert api.ok("POST", "/api/shares", body, status=409)["code"] == "already_shared"


def test_twenty_shares(api: Client) -> None:
    for number in range(20):
        make_share(api, f"Share {number}")
    body = {"name": "One more", "groupId": make_group(api, "One more")}
    assert api.ok("POST", "/api/shares", body, status=409)["code"] == "share_limit"


def test_settings_are_changed(api: Client) -> None:
    share = make_share(api)
    path = f"/api/shares/{share['id']}"
    changed = api.ok("PUT", path, {"private": ["emails"], "reminders": "birthdays", "newcomers": "ask", "paused": True})
    expected = {"private": ["emails"], "reminders": "birthdays", "newcomers": "ask", "state": "paused"}
    assert {name: changed["share"][name] for name in expected} == expected
    assert api.ok("PUT", path, {})["share"]["private"] == ["emails"]
    assert api.ok("PUT", path, {"name": "Kin", "paused": False})["share"]["name"] == "Kin"
    assert api.ok("GET", path)["share"]["state"] == "active"
    for body in ({"paused": "no"}, {"name": " "}, {"private": ["x"]}, {"reminders": None}):
        api.ok("PUT", path, body, status=400)


def test_whoever_reads_a_share_may_send_it_back(api: Client) -> None:
    share = make_share(api)
    assert api.ok("PUT", f"/api/shares/{share['id']}", share)["share"]["private"] == share["private"]


def test_if_match_and_if_none_match(api: Client) -> None:
    path = f"/api/shares/{make_share(api)['id']}"
    etag = api.call("GET", path)["ETag"]
    assert api.call("GET", path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    api.ok("PUT", path, {"reminders": "all"}, HTTP_IF_MATCH=etag)
    stale = api.ok("PUT", path, {"reminders": "none"}, status=412, HTTP_IF_MATCH=etag)
    assert stale["current"]["reminders"] == "all"


def test_a_public_field_is_compared_for_everybody_again(api: Client, alice: User) -> None:
    share = make_share(api)
    ShareMembership.objects.owned_by(alice).update(sent_revision=5)
    api.ok("PUT", f"/api/shares/{share['id']}", {"private": ["notes", "photo"]})
    assert ShareMembership.objects.owned_by(alice).get().sent_revision == 5
    api.ok("PUT", f"/api/shares/{share['id']}", {"private": ["photo"]})
    assert ShareMembership.objects.owned_by(alice).get().sent_revision == 0


def test_an_account_with_a_share_is_marked(api: Client, alice: User) -> None:
    make_share(api)
    alice.refresh_from_db()
    assert alice.is_shared


def test_the_feed_has_shares(api: Client) -> None:
    share = make_share(api)
    page = api.ok("GET", "/api/changes?types=share")
    assert [(change["type"], change["id"], change["record"]) for change in page["changes"]] == [
        ("share", share["id"], share)
    ]
    changed = api.ok("PUT", f"/api/shares/{share['id']}", {"newcomers": "ask"})["share"]
    page = api.ok("GET", f"/api/changes?types=share&cursor={page['cursor']}")
    assert [change["record"] for change in page["changes"]] == [changed]
    assert page["changes"][0]["etag"] == api.call("GET", f"/api/shares/{share['id']}")["ETag"]


@pytest.mark.both_databases
def test_the_number_of_queries_is_constant(api: Client, alice: User) -> None:
    make_share(api)
    paths = ("/api/shares", "/api/changes?types=share", "/api/user/export")
    before = [count_queries(api.ok, "GET", path) for path in paths]
    for number in range(8):
        make_share(api, f"Share {number}")
    assert [count_queries(api.ok, "GET", path) for path in paths] == before


def test_a_stranger_finds_nothing(api: Client, stranger: Client) -> None:
    share = make_share(api)
    for method, body in (("GET", None), ("PUT", {"name": "Mine"})):
        found = stranger.call(method, f"/api/shares/{share['id']}", body)
        unknown = stranger.call(method, f"/api/shares/{UNKNOWN_ID}", body)
        assert (found.status_code, found.json()) == (404, unknown.json())
    assert Share.unscoped.rows().get(pk=share["id"]).name == "Family"


def test_the_export_names_shares(api: Client) -> None:
    make_share(api, "Kin", group="Relatives")
    document = api.ok("GET", "/api/user/export")
    assert document["shares"] == [{"name": "Kin", "group": "Relatives", "members": []}]


def test_an_import_makes_no_share(api: Client, mallory: User) -> None:
    make_share(api)
    reader = client_of(mallory)
    reader.reader = None  # it gets the other account's names by the import
    receipt = reader.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    assert receipt["success"]
    assert reader.ok("GET", "/api/shares") == {"shares": []}
