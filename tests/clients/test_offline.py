"""Devices that were offline sync again: nothing is lost, and nothing is stored twice.

These tests are about the client: which requests it sends, and what it does with the responses.
`test_offline_random_actions.py` does all of this at random, on both databases.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from contacts_client import Action, AnotherAccountError, Connection, Copy, RefusedError, State, Store, new_id
from contacts_client.store import Edit, Record

from accounts.models import ApiToken, User
from people.models import ImportantDate, Person
from tests.builders import make_token
from tests.client import client_of
from tests.clients.devices import Device, KilledError, settle

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]
Make = Callable[[str], Device]


@pytest.fixture
def phone(device: Make) -> Device:
    return device("phone")


@pytest.fixture
def laptop(device: Make) -> Device:
    return device("laptop")


def create_on_both(phone: Device, laptop: Device, **fields: Any) -> str:
    """Create a person and sync it to both devices; returns its id."""
    id_ = phone.copy.create("person", {"name": "Ada", **fields})
    settle(phone, laptop)
    return id_


def test_records_made_offline_are_visible_at_once_and_sent_in_order(phone: Device, laptop: Device) -> None:
    family = phone.copy.create("group", {"name": "Family"})
    ada = phone.copy.create("person", {"name": "Ada", "groupIds": [family], "emails": [{"email": "ada@example.org"}]})
    phone.copy.update("person", ada, {"surname": "Lovelace"})
    born = phone.copy.create("importantDate", {"personId": ada, "type": "BIRTHDAY", "date": "1815-12-10"})
    phone.copy.update("person", ada, {"emails": [{"email": "ada@example.org"}, {"email": "a@example.org"}]})
    assert phone.people()["Ada"]["surname"] == "Lovelace"
    settle(phone, laptop)
    seen = laptop.copy.get("person", ada)
    assert seen
    assert (seen["surname"], seen["groupIds"]) == ("Lovelace", [family])
    assert [entry["email"] for entry in seen["emails"]] == ["ada@example.org", "a@example.org"]
    assert ImportantDate.unscoped.get().pk.hex == born.replace("-", "")
    assert not any([phone.copy.conflicts(), laptop.copy.conflicts(), phone.copy.refused()])


def test_edits_of_different_fields_and_entries_are_merged(phone: Device, laptop: Device) -> None:
    ada = create_on_both(phone, laptop, emails=[{"email": "ada@example.org"}])
    (mail,) = phone.people()["Ada"]["emails"]
    phone.copy.update("person", ada, {"nickname": "Countess", "emails": [mail, {"email": "phone@example.org"}]})
    laptop.copy.update("person", ada, {"notes": "Met.", "emails": [mail, {"email": "laptop@example.org"}]})
    settle(phone, laptop)
    for device in (phone, laptop):
        seen = device.people()["Ada"]
        assert (seen["nickname"], seen["notes"]) == ("Countess", "Met.")
        mails = {entry["email"] for entry in seen["emails"]}
        assert mails == {"ada@example.org", "phone@example.org", "laptop@example.org"}
        assert device.copy.conflicts() == []


@pytest.mark.parametrize("keep", ["mine", "theirs"])
def test_two_edits_of_one_field_are_a_conflict(phone: Device, laptop: Device, keep: Any) -> None:
    ada = create_on_both(phone, laptop, notes="old")
    phone.copy.update("person", ada, {"notes": "phone's", "surname": "Lovelace"})
    laptop.copy.update("person", ada, {"notes": "laptop's"})
    settle(phone, laptop)
    (conflict,) = laptop.copy.conflicts()
    told = (conflict.field, conflict.base, conflict.mine, conflict.theirs)
    assert told == ("notes", "old", "laptop's", "phone's")
    assert laptop.people()["Ada"]["notes"] == "phone's"
    laptop.copy.resolve(conflict, keep)
    settle(phone, laptop)
    assert phone.people()["Ada"]["notes"] == ("laptop's" if keep == "mine" else "phone's")
    assert phone.people()["Ada"]["surname"] == "Lovelace"
    assert laptop.copy.conflicts() == []


@pytest.mark.parametrize("removed", [False, True])
def test_record_edited_here_and_deleted_there_can_be_restored(
    phone: Device, laptop: Device, alice: User, removed: bool
) -> None:
    ada = create_on_both(phone, laptop, emails=[{"email": "ada@example.org"}])
    phone.copy.delete("person", ada)
    phone.copy.sync()
    if removed:
        client_of(alice).ok("DELETE", f"/api/people/{ada}/permanent")
    laptop.copy.update("person", ada, {"notes": "laptop's"})
    settle(phone, laptop)
    assert laptop.people() == {}
    (conflict,) = laptop.copy.conflicts()
    assert (conflict.action, conflict.field, conflict.mine) == (Action.UPDATE, None, {"notes": "laptop's"})
    laptop.copy.resolve(conflict, "mine")
    settle(phone, laptop)
    back = phone.people()["Ada"]
    assert (back["notes"], back["emails"][0]["email"]) == ("laptop's", "ada@example.org")
    assert (back["id"] == ada) is not removed


def test_restoring_a_deleted_record_shows_what_the_other_device_wrote(phone: Device, laptop: Device) -> None:
    ada = create_on_both(phone, laptop)
    phone.copy.update("person", ada, {"notes": "phone's"})
    phone.copy.sync()
    phone.copy.delete("person", ada)
    phone.copy.sync()
    laptop.copy.update("person", ada, {"notes": "laptop's", "nickname": "laptop's"})
    laptop.copy.sync()
    laptop.copy.resolve(laptop.copy.conflicts()[0], "mine")
    settle(phone, laptop)
    back = phone.people()["Ada"]
    assert (back["notes"], back["nickname"]) == ("phone's", "laptop's")
    assert [(c.mine, c.theirs) for c in laptop.copy.conflicts()] == [("laptop's", "phone's")]


def test_date_deleted_here_and_moved_to_another_person_there_is_kept(
    phone: Device, laptop: Device, alice: User
) -> None:
    ada, other = create_on_both(phone, laptop), phone.copy.create("person", {"name": "Ada L."})
    date = phone.copy.create("importantDate", {"personId": other, "title": "Party", "date": "2000-01-01"})
    settle(phone, laptop)
    laptop.copy.delete("importantDate", date)
    client_of(alice).ok("POST", "/api/people/merge", {"primaryId": ada, "secondaryId": other})
    settle(phone, laptop)
    for device in phone, laptop:
        assert [found["personId"] for found in device.copy.all("importantDate")] == [ada]
    assert [conflict.action for conflict in laptop.copy.conflicts()] == [Action.DELETE]


OWN_EDITS: dict[str, Callable[[Copy, str, str], str]] = {
    "interaction": lambda copy, ada, ben: copy.create(
        "interaction", {"personIds": [ada], "kind": "CALL", "at": "2026-02-01T10:00:00Z"}
    ),
    "date": lambda copy, ada, ben: copy.create(
        "importantDate", {"personId": ada, "type": "BIRTHDAY", "date": "1815-12-10"}
    ),
    "relationship": lambda copy, ada, ben: copy.create("relationship", {"personId": ben, "relatedPersonId": ada}),
}


@pytest.mark.parametrize("sent", [False, True], ids=["unsent", "sent"])
@pytest.mark.parametrize("edit", OWN_EDITS)
def test_own_edit_of_what_hangs_on_a_person_is_no_conflict_with_its_deletion(
    phone: Device, laptop: Device, edit: str, sent: bool
) -> None:
    ben = phone.copy.create("person", {"name": "Ben"})
    ada = create_on_both(phone, laptop)
    OWN_EDITS[edit](phone.copy, ada, ben)
    if sent:
        phone.copy.push()  # without reading what it has changed of Ada
    phone.copy.delete("person", ada)
    settle(phone, laptop)
    assert not phone.copy.conflicts()
    assert [device.copy.get("person", ada) for device in (phone, laptop)] == [None, None]


def test_entry_of_another_device_is_a_conflict_with_a_deletion(phone: Device, laptop: Device) -> None:
    ada = create_on_both(phone, laptop)
    laptop.copy.create("interaction", {"personIds": [ada], "kind": "CALL", "at": "2026-02-01T10:00:00Z"})
    laptop.copy.sync()
    phone.copy.create("interaction", {"personIds": [ada], "kind": "GIFT", "at": "2026-02-02T10:00:00Z"})
    phone.copy.delete("person", ada)
    settle(phone, laptop)
    (conflict,) = phone.copy.conflicts()
    assert (conflict.action, conflict.field) == (Action.DELETE, None)
    assert phone.copy.get("person", ada) is not None


def test_file_of_an_older_version_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as old:
        old.execute(
            "CREATE TABLE records (type TEXT, id TEXT, etag TEXT, record TEXT, reading INTEGER, PRIMARY KEY (type, id))"
        )
        old.execute("INSERT INTO records VALUES ('person', '1', 'e', '{\"id\": \"1\", \"name\": \"Ada\"}', 0)")
    copy = Copy(Store(path))
    copy.delete("person", "1")
    assert (copy.store.edits()[0].seen, copy.store.record("person", "1")) == (
        0,
        Record("e", {"id": "1", "name": "Ada"}, None),
    )


def test_record_deleted_here_and_edited_there_is_kept(phone: Device, laptop: Device) -> None:
    ada = create_on_both(phone, laptop)
    phone.copy.update("person", ada, {"notes": "phone's"})
    phone.copy.sync()
    laptop.copy.delete("person", ada)
    assert laptop.people() == {}
    settle(phone, laptop)
    assert laptop.people()["Ada"]["notes"] == "phone's"
    (conflict,) = laptop.copy.conflicts()
    assert conflict.action is Action.DELETE
    laptop.copy.resolve(conflict, "mine")
    settle(phone, laptop)
    assert phone.people() == laptop.people() == {}


def test_record_created_without_response_and_removed_there_can_be_created_again(
    phone: Device, laptop: Device, alice: User
) -> None:
    ada = phone.copy.create("person", {"name": "Ada"})
    with pytest.raises(KilledError), phone.faulty_network(lambda r: "killed after" if r.method == "POST" else "ok"):
        phone.copy.sync()
    phone.restart()
    phone.copy.update("person", ada, {"notes": "phone's"})
    client_of(alice).ok("DELETE", f"/api/people/{ada}")
    client_of(alice).ok("DELETE", f"/api/people/{ada}/permanent")
    phone.copy.sync()
    phone.copy.resolve(phone.copy.conflicts()[0], "mine")
    settle(phone, laptop)
    assert laptop.people()["Ada"]["notes"] == "phone's"


@pytest.mark.parametrize("outcome", ["unsent", "unanswered", "killed before", "killed after"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_failing_program_or_network_duplicates_nothing(
    phone: Device, laptop: Device, method: str, outcome: str
) -> None:
    def fail(request: httpx.Request) -> str:
        return outcome if request.method == method else "ok"

    bob = phone.copy.create("person", {"name": "Bob"})
    carl = create_on_both(phone, laptop, name="Carl")
    ada = phone.copy.create("person", {"name": "Ada"})
    phone.copy.update("person", carl, {"notes": "n", "emails": [{"email": "carl@example.org"}]})
    phone.copy.update("person", ada, {"emails": [{"email": "ada@example.org"}]})
    phone.copy.delete("person", bob)
    with phone.faulty_network(fail), pytest.raises((httpx.TransportError, KilledError)):
        phone.copy.sync()
    phone.restart()
    settle(phone, laptop)
    assert Person.unscoped.count() == 3
    assert set(phone.people()) == set(laptop.people()) == {"Ada", "Carl"}
    for name, person in laptop.people().items():
        assert [entry["email"] for entry in person["emails"]] == [f"{name.lower()}@example.org"]
    assert not any([phone.copy.store.edits(), phone.copy.conflicts()])


def test_edits_after_a_lost_response_cause_no_conflict_with_themselves(phone: Device, laptop: Device) -> None:
    """The response to a create is lost, another device changes the record, then the first device sends more edits."""

    def lose_creates(request: httpx.Request) -> str:
        return "killed after" if request.method == "POST" else "ok"

    ada = phone.copy.create("person", {"name": "Ada", "notes": "first"})
    phone.copy.create("group", {"name": "G"})
    phone.copy.update("person", ada, {"nickname": "mine"})
    with phone.faulty_network(lose_creates), pytest.raises(KilledError):
        phone.copy.sync()
    laptop.copy.sync()
    laptop.copy.update("person", ada, {"nickname": "theirs", "notes": "second"})
    laptop.copy.sync()
    phone.restart()
    settle(phone, laptop)
    seen = phone.people()["Ada"]
    assert (seen["nickname"], seen["notes"]) == ("theirs", "second")
    assert [conflict.mine for conflict in phone.copy.conflicts()] == ["mine"]


def test_changes_of_others_after_a_lost_response_are_kept(phone: Device, laptop: Device) -> None:
    """The user of the first device has not seen these changes, so later edits of the new record keep them."""

    def lose_creates(request: httpx.Request) -> str:
        return "killed after" if request.method == "POST" else "ok"

    ada = phone.copy.create("person", {"name": "Ada", "notes": "first", "emails": [{"email": "a@example.org"}]})
    phone.copy.create("group", {"name": "G"})
    emails = phone.people()["Ada"]["emails"]
    phone.copy.update("person", ada, {"notes": "mine", "emails": [*emails, {"email": "mine@example.org"}]})
    with phone.faulty_network(lose_creates), pytest.raises(KilledError):
        phone.copy.sync()
    laptop.copy.sync()
    emails = laptop.people()["Ada"]["emails"]
    laptop.copy.update("person", ada, {"notes": "theirs", "emails": [*emails, {"email": "theirs@example.org"}]})
    laptop.copy.sync()
    phone.restart()
    settle(phone, laptop)
    seen = phone.people()["Ada"]
    assert {entry["email"] for entry in seen["emails"]} == {"a@example.org", "mine@example.org", "theirs@example.org"}
    assert seen["notes"] == "theirs"
    assert [conflict.mine for conflict in phone.copy.conflicts()] == ["mine"]


def test_refused_edit_is_kept_and_can_be_amended_or_discarded(phone: Device, laptop: Device) -> None:
    ada = phone.copy.create("person", {"name": "Ada", "emails": [{"email": "no address"}]})
    phone.copy.update("person", ada, {"notes": "n"})
    lost = phone.copy.create("group", {"name": ""})
    phone.copy.update("group", lost, {"description": "d"})
    report = phone.copy.sync()
    assert report.refused == 2
    person, group = phone.copy.refused()
    assert person.problem
    assert person.problem["details"][0]["field"] == "emails.0.email"
    phone.copy.amend(person, {"emails": [{"email": "ada@example.org"}]})
    phone.copy.discard(group)
    settle(phone, laptop)
    assert laptop.people()["Ada"]["notes"] == "n"
    assert not any([phone.copy.store.edits(), list(laptop.copy.all("group"))])


def test_edit_added_by_another_program_before_sending_is_included(
    phone: Device, laptop: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = create_on_both(phone, laptop)
    phone.copy.update("person", ada, {"notes": "first"})
    is_blocked, other = phone.copy._is_blocked, Copy(Store(phone.path))

    def add_another_edit(edit: Edit) -> bool:
        other.update("person", ada, {"notes": "second", "nickname": "Countess"})
        return is_blocked(edit)

    with monkeypatch.context() as patch:
        patch.setattr(phone.copy, "_is_blocked", add_another_edit)
        phone.copy.push()
    other.store.close()
    settle(phone, laptop)
    seen = laptop.people()["Ada"]
    assert (seen["notes"], seen["nickname"]) == ("second", "Countess")


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("deleted_by", ["phone", "laptop"])
def test_conflict_of_a_field_remains_after_its_record_is_deleted(
    phone: Device, laptop: Device, alice: User, deleted_by: str, removed: bool
) -> None:
    ada = create_on_both(phone, laptop)
    date = phone.copy.create("importantDate", {"personId": ada, "title": "old", "date": "2000-01-01"})
    settle(phone, laptop)
    phone.copy.update("importantDate", date, {"title": "phone's"})
    laptop.copy.update("importantDate", date, {"title": "laptop's"})
    settle(phone, laptop)
    assert [conflict.field for conflict in laptop.copy.conflicts()] == ["title"]
    (phone if deleted_by == "phone" else laptop).copy.delete("importantDate", date)
    settle(phone, laptop)
    (conflict,) = laptop.copy.conflicts()
    assert (conflict.field, conflict.mine) == (None, {"title": "laptop's"})
    if removed:
        client_of(alice).ok("DELETE", f"/api/people/{ada}/important-dates/{date}/permanent")
    laptop.copy.resolve(conflict, "mine")
    laptop.copy.update("importantDate", date, {"date": "2001-01-01"})
    settle(phone, laptop)
    assert not any([laptop.copy.refused(), laptop.copy.conflicts()])
    (back,) = phone.copy.all("importantDate")
    assert (back["title"], back["date"][:10]) == ("laptop's", "2001-01-01")
    assert (back["id"] == date) is not removed


@pytest.mark.parametrize("syncs_between", [False, True])
def test_resolving_two_conflicts_of_a_removed_record_creates_one_record(
    phone: Device, laptop: Device, alice: User, syncs_between: bool
) -> None:
    ada = create_on_both(phone, laptop)
    phone.copy.update("person", ada, {"notes": "phone's", "nickname": "phone's"})
    laptop.copy.update("person", ada, {"notes": "laptop's", "nickname": "laptop's"})
    settle(phone, laptop)
    phone.copy.delete("person", ada)
    settle(phone, laptop)
    client_of(alice).ok("DELETE", f"/api/people/{ada}/permanent")
    for conflict in laptop.copy.conflicts():
        laptop.copy.resolve(conflict, "mine")
        if syncs_between:
            settle(phone, laptop)
    settle(phone, laptop)
    (back,) = phone.copy.all("person")
    assert (back["notes"], back["nickname"], back["name"]) == ("laptop's", "laptop's", "Ada")
    assert not any([laptop.copy.conflicts(), laptop.copy.refused(), laptop.copy.store.edits()])


def test_412_of_a_proxy_is_a_refusal(tmp_path: Path) -> None:
    copy = Copy(Store(tmp_path / "file"), connection_answering(412, text="<html>Precondition Failed</html>"))
    copy.store.put_records([("person", "1", '"1-0"', {"id": "1", "name": "Ada"}, None)], 0)
    copy.update("person", "1", {"name": "Grace"})
    assert copy.sync().refused == 1
    assert [edit.body for edit in copy.refused()] == [{"name": "Grace"}]


def connection_answering(status: int, **content: Any) -> Connection:
    """A connection on which every write gets this response."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"user": {"id": "u"}, "changes": [], "cursor": "c", "hasMore": False})
        return httpx.Response(status, **content)

    return Connection("http://testserver", "", transport=httpx.MockTransport(answer))


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (409, {"json": {"error": "Later", "code": "in_progress"}}),
        (403, {"json": {"error": "This token reads only", "code": "read_only_token"}}),
        (404, {"text": "404 page not found"}),  # of a proxy whose service is down
    ],
)
def test_response_that_does_not_concern_the_edit_ends_the_sync_and_keeps_it(
    tmp_path: Path, status: int, content: dict[str, Any]
) -> None:
    copy = Copy(Store(tmp_path / "file"), connection_answering(status, **content))
    copy.store.put_records([("person", id_, '"1-0"', {"id": id_, "name": "Ada"}, None) for id_ in ("1", "2")], 0)
    copy.update("person", "1", {"name": "Grace"})
    copy.delete("person", "2")
    copy.create("person", {"name": "Ada"})
    for _ in range(3):
        with pytest.raises(RefusedError):
            copy.sync()
    assert [edit.state for edit in copy.store.edits()] == [State.SENDING, State.WAITING, State.WAITING]
    assert len(list(copy.store.records("person"))) == 2
    with pytest.raises(RefusedError):
        copy._send(2)
    with pytest.raises(RefusedError):
        copy._send(3)
    assert [edit.state for edit in copy.store.edits()] == [State.SENDING] * 3


def test_refusal_without_json_is_kept(tmp_path: Path) -> None:
    copy = Copy(Store(tmp_path / "file"), connection_answering(413, text="<html>Too large</html>"))
    copy.create("person", {"name": "Ada"})
    assert copy.sync().refused == 1
    assert [edit.problem for edit in copy.refused()] == [{}]


def test_id_of_an_edit_cannot_be_amended(tmp_path: Path) -> None:
    copy = Copy(Store(tmp_path / "file"), connection_answering(400, json={"error": "No"}))
    copy.create("person", {"name": "Ada"})
    copy.sync()
    (edit,) = copy.refused()
    with pytest.raises(ValueError, match="keeps its id"):
        copy.amend(edit, {"id": new_id()})
    assert copy.refused() == [edit]


def test_expired_cursor_causes_a_full_read(phone: Device, laptop: Device, mallory: User) -> None:
    ada = create_on_both(phone, laptop)
    gone = phone.copy.create("person", {"name": "Gone"})
    settle(phone, laptop)
    phone.copy.delete("person", gone)
    phone.copy.sync()
    laptop.copy.update("person", ada, {"notes": "kept"})
    laptop.copy.update("person", gone, {"notes": "kept, too"})
    cursor = client_of(mallory).ok("GET", "/api/changes")["cursor"]
    laptop.copy.store.set_fact("cursor", cursor)
    settle(phone, laptop)
    assert set(laptop.people()) == {"Ada"}
    assert phone.people()["Ada"]["notes"] == "kept"
    assert [conflict.mine for conflict in laptop.copy.conflicts()] == [{"notes": "kept, too"}]


@pytest.mark.parametrize("begins_anew", [False, True])
@pytest.mark.parametrize("work", ["sync", "push"])
def test_other_account_gets_no_edits_and_deletes_nothing(
    phone: Device, laptop: Device, mallory: User, alice: User, work: str, begins_anew: bool
) -> None:
    ada = create_on_both(phone, laptop)
    phone.copy.create("person", {"name": "Grace"})
    if begins_anew:  # the program ended after a 410
        phone.copy.store.set_fact("cursor", None)
    phone.token = make_token(mallory)
    phone.restart()
    with pytest.raises(AnotherAccountError):
        getattr(phone.copy, work)()
    assert set(phone.people()) == {"Ada", "Grace"}
    assert phone.copy.get("person", ada)
    assert not Person.objects.owned_by(mallory).exists()
    phone.token = make_token(alice)
    phone.restart()
    settle(phone, laptop)
    assert set(laptop.people()) == {"Ada", "Grace"}


def test_other_account_gets_nothing_of_a_partly_read_copy(
    phone: Device, laptop: Device, mallory: User, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy does not know yet whose records it has read: the profile was changed last, so it comes last."""
    create_on_both(phone, laptop)
    client_of(alice).ok("PUT", "/api/user/profile", {"email": alice.email, "name": "Alicia"})
    new = Copy(Store(phone.path.with_name("new")), phone.connection)
    new.create("person", {"name": "Maria"})
    monkeypatch.setattr("contacts_client.copy.PAGE_SIZE", 1)
    pages: list[httpx.Request] = []

    def kill_at_second_page(request: httpx.Request) -> str:
        if request.url.path == "/api/changes":
            pages.append(request)
        return "killed before" if len(pages) > 1 else "ok"

    with pytest.raises(KilledError), phone.faulty_network(kill_at_second_page):
        new.sync()
    assert not list(new.store.records("settings"))
    phone.token = make_token(mallory)
    phone.restart()
    again = Copy(new.store, phone.connection)
    with pytest.raises(AnotherAccountError):
        again.sync()
    assert "Maria" in {person["name"] for person in again.all("person")}
    assert not Person.objects.owned_by(mallory).exists()
    new.store.close()


def test_revoked_token_stops_the_sync_and_loses_no_edit(phone: Device, laptop: Device, alice: User) -> None:
    phone.copy.create("person", {"name": "Ada"})
    ApiToken.unscoped.all().delete()
    with pytest.raises(RefusedError) as refused:
        phone.copy.sync()
    assert refused.value.status == 401
    assert [edit.state for edit in phone.copy.store.edits()] == [State.WAITING]
    phone.token = make_token(alice)
    phone.restart()
    phone.copy.sync()
    assert Person.unscoped.count() == 1


def test_sync_without_changes_is_one_request(phone: Device, laptop: Device) -> None:
    create_on_both(phone, laptop)
    phone.network.requests.clear()
    phone.copy.sync()
    assert [request.url.path for request in phone.network.requests] == ["/api/changes"]
