"""The person that the account's user is: named in the profile, and what follows from it everywhere."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from people.models import Person
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client, client_of
from tests.concurrency import send_concurrently
from tests.dav.devices import Device
from tests.notifications.recording_channel import RecordingChannel
from tests.people.merging.steps import merge_people, undo_merge
from tests.relationships.steps import make_people, relate, type_ids

pytestmark = pytest.mark.django_db

SILENT = {
    "lastContact": "2025-01-10",
    "contactReminderEnabled": True,
    "contactReminderInterval": 1,
    "contactReminderIntervalUnit": "MONTHS",
}
HOME = [{"type": "home", "streetLine1": "Road 1", "locality": "Oslo", "country": "NO"}]


def name_me(api: Client, person: Person | None) -> Any:
    return api.ok("PUT", "/api/user/me-person", {"personId": str(person.pk) if person else None})


def me_of(api: Client) -> str | None:
    key: str | None = api.ok("GET", "/api/user/profile")["user"]["mePersonId"]
    return key


def settings_since(api: Client, cursor: str) -> list[Any]:
    changes = api.ok("GET", f"/api/changes?cursor={cursor}")["changes"]
    return [change["record"]["mePersonId"] for change in changes if change["type"] == "settings"]


def test_it_is_named_replaced_and_taken_away(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    assert me_of(api) is None
    answer = name_me(api, ada)
    assert answer == {"user": {"id": str(alice.pk), "mePersonId": str(ada.pk)}}
    assert me_of(api) == str(ada.pk)
    assert name_me(api, ada) == answer
    name_me(api, bob)
    assert me_of(api) == str(bob.pk)
    assert list(Person.objects.owned_by(alice).filter(is_me=True)) == [bob]
    name_me(api, None)
    assert me_of(api) is None


def test_who_is_not_an_own_active_person_is_refused(api: Client, alice: User, mallory: User) -> None:
    ada, gone = make_people(alice, "Ada Gone")
    theirs = make_person(mallory)
    name_me(api, ada)
    api.ok("DELETE", f"/api/people/{gone.pk}")
    messages = set()
    for key in (str(gone.pk), str(theirs.pk), UNKNOWN_ID, "x", 1):
        answer = api.ok("PUT", "/api/user/me-person", {"personId": key}, status=400)
        assert [detail["field"] for detail in answer["details"]] == ["personId"]
        messages.add(answer["details"][0]["message"])
    assert len(messages) == 1
    assert [row["field"] for row in api.ok("PUT", "/api/user/me-person", {}, status=400)["details"]] == ["personId"]
    assert me_of(api) == str(ada.pk)
    assert me_of(client_of(mallory)) is None


def test_edits_do_not_pass_over_each_other(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    tag = api.call("GET", "/api/user/profile")["ETag"]
    first = api.call("PUT", "/api/user/me-person", {"personId": str(ada.pk)}, HTTP_IF_MATCH=tag)
    assert (first.status_code, first["ETag"]) == (200, api.call("GET", "/api/user/profile")["ETag"])
    second = api.call("PUT", "/api/user/me-person", {"personId": str(bob.pk)}, HTTP_IF_MATCH=tag)
    assert (second.status_code, second.json()["current"]["mePersonId"]) == (412, str(ada.pk))


@pytest.mark.parametrize("is_restored", [True, False])
def test_in_the_trash_it_is_nobody_until_it_is_restored(api: Client, alice: User, is_restored: bool) -> None:
    ada = make_person(alice)
    name_me(api, ada)
    cursor = api.ok("GET", "/api/changes")["cursor"]
    api.ok("DELETE", f"/api/people/{ada.pk}")
    assert (me_of(api), settings_since(api, cursor)) == (None, [None])
    if is_restored:
        api.ok("POST", f"/api/people/{ada.pk}/restore")
        assert settings_since(api, cursor) == [str(ada.pk)]
    else:
        api.ok("DELETE", f"/api/people/{ada.pk}/permanent")
    assert me_of(api) == (str(ada.pk) if is_restored else None)


def delete_one(api: Client, ada: Person) -> None:
    api.ok("DELETE", f"/api/people/{ada.pk}")


def delete_in_bulk(api: Client, ada: Person) -> None:
    api.ok("POST", "/api/people/bulk", {"action": "delete", "personIds": [str(ada.pk)]})


@pytest.mark.parametrize("delete", [delete_one, delete_in_bulk])
@pytest.mark.parametrize("is_other", [True, False])
def test_who_was_named_meanwhile_stays(
    api: Client, alice: User, delete: Callable[[Client, Person], None], is_other: bool
) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    name_me(api, ada)
    delete(api, ada)
    assert me_of(api) is None
    name_me(api, bob if is_other else None)
    api.ok("POST", f"/api/people/{ada.pk}/restore")
    assert me_of(api) == (str(bob.pk) if is_other else None)


def test_a_merge_keeps_the_mark_and_its_undo_gives_it_back(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    name_me(api, ada)
    cursor = api.ok("GET", "/api/changes")["cursor"]
    merge = merge_people(api, str(bob.pk), str(ada.pk))["mergeId"]
    assert me_of(api) == str(bob.pk)
    assert settings_since(api, cursor) == [str(bob.pk)]
    undo_merge(api, merge)
    assert me_of(api) == str(ada.pk)
    merge = merge_people(api, str(ada.pk), str(bob.pk))["mergeId"]
    assert me_of(api) == str(ada.pk)
    undo_merge(api, merge)
    assert me_of(api) == str(ada.pk)


def test_merges_one_after_another_are_undone_one_by_one(api: Client, alice: User) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    name_me(api, ada)
    first = merge_people(api, str(bob.pk), str(ada.pk))["mergeId"]
    second = merge_people(api, str(eve.pk), str(bob.pk))["mergeId"]
    assert me_of(api) == str(eve.pk)
    undo_merge(api, second)
    assert me_of(api) == str(bob.pk)
    undo_merge(api, first)
    assert me_of(api) == str(ada.pk)


@pytest.mark.parametrize("is_other", [True, False])
def test_undo_leaves_who_was_named_since_the_merge(api: Client, alice: User, is_other: bool) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    name_me(api, ada)
    merge = merge_people(api, str(bob.pk), str(ada.pk))["mergeId"]
    name_me(api, eve if is_other else None)
    undo_merge(api, merge)
    assert me_of(api) == (str(eve.pk) if is_other else None)


def graph_of(api: Client, person: Person | None) -> tuple[list[Any], set[tuple[str, str, str | None, bool]]]:
    """The nodes, and the edges by labels, each with whether it is a relationship of two people."""
    path = "/api/dashboard/graph" if person is None else f"/api/people/{person.pk}/graph"
    graph = api.ok("GET", path)
    names = {node["id"]: node["label"] for node in graph["nodes"]}
    assert len(names) == len(graph["nodes"])
    edges = [
        (names[edge["source"]], names[edge["target"]], edge["type"], edge["relationshipId"] is not None)
        for edge in graph["edges"]
    ]
    assert len(set(edges)) == len(edges)
    return graph["nodes"], set(edges)


def test_graphs_have_one_node_for_the_user(api: Client, alice: User) -> None:
    types = type_ids(api)
    me = make_person(alice, name="Me", relationship_to_user_id=types["OTHER"])
    bob, eve, fay = make_people(alice, "Bob Eve Fay", relationship_to_user_id=types["CHILD"])
    gus = make_person(alice, name="Gus")
    relate(api, me, bob, types["PARENT"])  # as Bob's relationship to the user says
    relate(api, eve, me, types["FRIEND"])
    relate(api, me, gus)
    relate(api, fay, gus, types["SIBLING"])
    name_me(api, me)
    around_me = {
        ("Me", "Bob", "PARENT", True),
        ("Eve", "Me", "FRIEND", True),
        ("Eve", "Me", "CHILD", False),
        ("Fay", "Me", "CHILD", False),
        ("Me", "Gus", None, True),
    }
    nodes, edges = graph_of(api, None)
    assert nodes[0] == {"id": str(me.pk), "label": "Me", "groups": [], "colors": [], "isCenter": True, "isUser": True}
    assert [node["label"] for node in nodes[1:]] == ["Bob", "Eve", "Fay", "Gus"]
    assert not any(node["isUser"] or node["isCenter"] for node in nodes[1:])
    assert edges == {*around_me, ("Fay", "Gus", "SIBLING", True)}
    nodes, edges = graph_of(api, me)
    assert (nodes[0]["label"], nodes[0]["isCenter"], nodes[0]["isUser"]) == ("Me", True, True)
    # From Me's own rows.
    assert edges == around_me - {("Eve", "Me", "FRIEND", True)} | {("Me", "Eve", "FRIEND", True)}
    nodes, edges = graph_of(api, fay)
    shown = {str(fay.pk): False, str(gus.pk): False, str(me.pk): True}
    assert {node["id"]: node["isUser"] for node in nodes} == shown
    assert edges == {("Fay", "Gus", "SIBLING", True), ("Fay", "Me", "CHILD", False)}
    assert graph_of(api, bob)[1] == {("Bob", "Me", "CHILD", True)}
    api.ok("DELETE", f"/api/people/{me.pk}")
    nodes, _ = graph_of(api, None)
    assert [node["id"] for node in nodes if node["isUser"]] == ["user"]


def test_filters_and_limits_of_the_network_leave_the_user(api: Client, alice: User) -> None:
    types = type_ids(api)
    me, zoe, ada, bob = make_people(alice, "Me Zoe Ada Bob")
    relate(api, me, zoe, types["FRIEND"])
    relate(api, zoe, bob, types["FRIEND"])
    relate(api, bob, ada, types["FRIEND"])
    name_me(api, me)
    body = {"name": "Work", "peopleIds": [str(ada.pk), str(me.pk)]}
    group = api.ok("POST", "/api/groups", body, status=201)["group"]["id"]

    def shown(query: str) -> list[str]:
        return [node["label"] for node in api.ok("GET", f"/api/dashboard/graph?{query}")["nodes"]]

    assert shown("limit=2") == ["Me", "Zoe", "Bob"]
    assert shown(f"includeGroupIds={group}") == ["Me", "Ada"]
    assert shown(f"excludeGroupIds={group}") == ["Me", "Bob", "Zoe"]


@pytest.mark.parametrize("max_removed", [0, 200])
def test_orphans_count_from_it(api: Client, alice: User, max_removed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relationships.orphans.MAX_REMOVED", max_removed)  # 0: reads the whole network
    types = type_ids(api)
    me, bob, eve, fay, gus = make_people(alice, "Me Bob Eve Fay Gus")
    relate(api, me, bob)
    relate(api, bob, eve)
    relate(api, me, fay)
    api.ok("PUT", f"/api/people/{gus.pk}", {"relationshipToUserId": types["FRIEND"]})
    relate(api, gus, fay)

    def orphans(person: Person) -> list[str]:
        return [row["fullName"] for row in api.ok("GET", f"/api/people/{person.pk}/orphans")["orphans"]]

    assert orphans(bob) == ["Eve"]
    assert orphans(gus) == ["Bob", "Eve", "Fay", "Me"]
    name_me(api, me)
    assert orphans(bob) == ["Eve"]
    assert orphans(gus) == []
    # Without the person, the user is still who Gus is a friend of.
    assert orphans(me) == ["Bob", "Eve"]


def test_letters_and_insights_leave_it_out(api: Client, alice: User, clock: Any) -> None:
    me, bob = (make_person(alice, name=name, surname="Meier") for name in ("Me", "Bob"))
    bare = make_person(alice, name="Bare")
    for person in (me, bob):
        body = {**SILENT, "addresses": HOME, "importantDates": [{"type": "BIRTHDAY", "date": "1996-03-10"}]}
        api.ok("PUT", f"/api/people/{person.pk}", body)
    name_me(api, me)
    (household,) = api.ok("GET", "/api/people/addresses")["households"]
    assert (household["name"], household["personIds"]) == ("Bob Meier", [str(bob.pk)])
    named = {key: [row["personName"] for row in rows] for key, rows in api.ok("GET", "/api/insights").items()}
    assert named == {"drifting": ["Bob Meier"], "incomplete": ["Bare"], "milestones": ["Bob Meier"]}
    # Its days are remembered all the same.
    events = api.ok("GET", "/api/upcoming?days=30")["events"]
    assert {(row["kind"], row["personName"]) for row in events} == {
        ("important_date", "Bob Meier"),
        ("important_date", "Me Meier"),
        ("contact", "Bob Meier"),
    }
    name_me(api, bare)
    assert api.ok("GET", "/api/insights")["incomplete"] == []


def test_nobody_is_reminded_to_contact_themselves(
    api: Client, alice: User, clock: Any, channel: RecordingChannel
) -> None:
    me, bob = make_people(alice, "Me Bob")
    for person in (me, bob):
        api.ok("PUT", f"/api/people/{person.pk}", {**SILENT, "contactReminderIntervalUnit": "WEEKS"})
    name_me(api, me)
    expected = api.ok("GET", "/api/reminders/upcoming?days=30")["reminders"]
    assert {line["personName"] for line in expected} == {"Bob"}
    deliver(1, 15)
    assert {sent.notice.content["personName"] for sent in channel.sent} == {"Bob"}
    # It goes on when the mark is gone.
    name_me(api, None)
    deliver(15, 32)
    assert {sent.notice.content["personName"] for sent in channel.sent} == {"Me", "Bob"}


def deliver(first: int, end: int) -> None:
    for day in range(first, end):
        call_command("deliver_reminders", "--now", f"2026-03-{day:02}T12:00:00Z")


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> RecordingChannel:
    channel = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (channel,))
    return channel


def test_what_waits_to_be_sent_is_not_sent_any_more(
    api: Client, alice: User, clock: Any, channel: RecordingChannel
) -> None:
    me = make_person(alice)
    api.ok("PUT", "/api/user/quiet-hours", {"from": "08:00", "to": "20:00"})
    api.ok("PUT", f"/api/people/{me.pk}", {**SILENT, "lastContact": "2026-02-02"})
    clock.move_to("2026-03-02T09:00:00Z")
    call_command("deliver_reminders", "--now", "2026-03-02T09:00:00Z")
    assert [line["personName"] for line in api.ok("GET", "/api/reminders/upcoming?days=1")["reminders"]] == ["Ada"]
    name_me(api, me)
    assert api.ok("GET", "/api/reminders/upcoming?days=30")["reminders"] == []
    clock.move_to("2026-03-02T20:00:00Z")
    call_command("deliver_reminders", "--now", "2026-03-02T20:00:00Z")
    assert channel.sent == []
    (delivery,) = api.ok("GET", "/api/notifications/deliveries")["deliveries"]
    assert (delivery["status"], delivery["code"]) == ("skipped", "me")


def test_devices_are_told_whose_card_is_the_users(api: Client, alice: User) -> None:
    me, bob = make_people(alice, "Me Bob")
    device = Device(alice)
    home = f"/dav/addressbooks/{alice.pk}/"

    def me_card() -> str | None:
        entry = device.propfind(home, "cs:me-card").entries[home]
        return next((found.findtext("{DAV:}href") for found in entry.found.values()), None)

    assert me_card() is None
    name_me(api, me)
    path = me_card()
    assert path is not None
    assert "FN:Me" in device.text(path.removeprefix(device.book))
    # It is the same in the listing of the book.
    assert path in device.propfind(device.book, "d:getetag", depth="1").entries
    for change in ({"quiet": True}, {"cardDavSyncEnabled": False}):
        api.ok("PUT", f"/api/people/{me.pk}", change)
        assert me_card() is None
        api.ok("PUT", f"/api/people/{me.pk}", {"quiet": False, "cardDavSyncEnabled": True})
        assert me_card() == path
    name_me(api, bob)
    assert me_card() not in {None, path}
    api.ok("DELETE", f"/api/people/{bob.pk}")
    assert me_card() is None


def test_the_task_of_a_device_leaves_with_the_mark(api: Client, alice: User, clock: Any) -> None:
    me = make_person(alice)
    api.ok("PUT", f"/api/people/{me.pk}", SILENT)
    device = Device(alice)
    tasks = f"/dav/calendars/{alice.pk}/keep-in-touch/"

    def sync(token: str) -> Any:
        body = (
            f'<d:sync-collection xmlns:d="DAV:"><d:sync-token>{token}</d:sync-token><d:sync-level>1</d:sync-level>'
            "<d:prop><d:getetag/></d:prop></d:sync-collection>"
        )
        answer = device.ask("REPORT", tasks, body)
        return answer.token, {path: entry.status for path, entry in answer.entries.items()}

    token, listed = sync("")
    (task,) = listed
    name_me(api, me)
    token, listed = sync(token)
    assert listed == {task: 404}
    name_me(api, None)
    assert sync(token)[1] == {task: 200}


@pytest.mark.django_db(transaction=True)
def test_at_once_one_is_named_who_is_not_in_the_trash(api: Client, alice: User) -> None:
    def name(person: Person) -> Callable[[Client], Any]:
        return lambda client: client.call("PUT", "/api/user/me-person", {"personId": str(person.pk)})

    def delete(person: Person) -> Callable[[Client], Any]:
        return lambda client: client.call("DELETE", f"/api/people/{person.pk}")

    for _ in range(4):
        ada, bob = make_people(alice, "Ada Bob")
        statuses = send_concurrently(alice, name(ada), name(bob), delete(ada))
        # Who is deleted first cannot be named any more.
        assert tuple(statuses) in {(200, 200, 200), (400, 200, 200)}
        marked = list(Person.objects.owned_by(alice).filter(is_me=True))
        assert len(marked) == 1
        assert me_of(api) == (str(marked[0].pk) if marked[0].deleted_at is None else None)
