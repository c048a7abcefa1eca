"""Import, export, discovery, cron, command and lock, with an address book in memory."""

import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import suppress
from io import StringIO
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import User
from carddav.api.sync import progress
from carddav.client.book import WriteOutcome
from carddav.models import Connection, JournalEntry, Mapping, PendingImport, Run
from carddav.services import imports, schedule
from carddav.services.connections import locked_connection
from carddav.services.exports import export_people
from carddav.services.runs import start_run
from carddav.sync import pictures
from carddav.sync.lock import LockedError, LockLostError, locked
from carddav.sync.pictures import CardPicture
from contacts_project.kernel.webdav.errors import LoginRefusedError
from notifications.models import Delivery
from people.contents.fields import photo_token
from people.models import Group, Membership, Person
from people.photos.images import PixelBudget, to_stored_form
from tests.builders import make_user
from tests.carddav.builders import make_mapping
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.client import Client
from tests.pictures import picture

pytestmark = pytest.mark.sqlite_suffices

CRON_HEADERS = {"HTTP_AUTHORIZATION": "Bearer cron-secret"}


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    return SyncedAccount(alice, import_mode="manual")


def events_of(run: Run) -> list[tuple[str, Any]]:
    """All events of a run's stream."""

    async def collect(stream: AsyncGenerator[bytes, None]) -> list[bytes]:
        return [piece async for piece in stream]

    async def here(function: Any, *args: Any) -> Any:
        return await sync_to_async(function)(*args)  # in the thread that sees the test's transaction

    with patch("carddav.api.sync.in_thread", here):
        pieces = async_to_sync(collect)(progress(run.owner_id, run.pk, "en"))
    found = []
    for piece in pieces:
        name, data = piece.decode().strip().split("\ndata: ")
        found.append((name.removeprefix("event: "), orjson.loads(data)))
    return found


def test_discover_adds_101_pending_imports(synced: SyncedAccount) -> None:
    for number in range(101):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    with synced.patch_open_book():
        response = synced.api.ok("POST", "/api/carddav/discover")
    assert response == {"success": True, "discovered": 101, "errors": 0, "errorMessages": []}
    assert synced.requests() == ["changes", *["multiget"] * 3]
    assert synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 101}
    with synced.patch_open_book():
        assert synced.api.ok("POST", "/api/carddav/discover")["discovered"] == 0


def test_discover_without_a_connection_is_404(api: Client) -> None:
    for path in ("discover", "sync", "export-bulk"):
        body: Any = {"personIds": []} if path == "export-bulk" else None
        assert api.call("POST", f"/api/carddav/{path}", body).status_code == 404


@pytest.mark.both_databases
def test_imported_people_get_the_chosen_groups(synced: SyncedAccount) -> None:
    for name in ("Ada L", "Bob M", "Cy N"):
        synced.server.edit(f"{name}.vcf", vcard(name, "TEL:1"))
    synced.sync()
    all_of, one_of = (
        synced.api.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("All", "One")
    )
    pending = synced.api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    ids = {row["displayName"]: row["id"] for row in pending}
    body = {
        "importIds": [ids["Ada L"], ids["Bob M"]],
        "globalGroupIds": [all_of],
        "perContactGroups": {ids["Ada L"]: [one_of]},
    }
    response = synced.api.ok("POST", "/api/carddav/import", body)
    assert response == {"success": True, "imported": 2, "skipped": 0, "errors": 0, "errorMessages": []}
    assert synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 1}
    members = Membership.objects.owned_by(synced.owner).filter(group=all_of)
    assert {row.person.name for row in members} == {"Ada", "Bob"}
    assert Membership.objects.owned_by(synced.owner).get(group=one_of).person.name == "Ada"
    synced.requests()
    assert counts(synced.sync()) == {"updated_remotely": 2}  # the groups go up as CATEGORIES
    assert counts(synced.sync()) == {}
    assert synced.api.call("POST", "/api/carddav/import", {"importIds": []}).status_code == 400
    assert synced.api.call("POST", "/api/carddav/import", {"importIds": [ids["Ada L"]]}).status_code == 400
    wrong = {"importIds": [ids["Cy N"]], "perContactGroups": {ids["Cy N"]: [str(synced.owner.pk)]}}
    assert synced.api.call("POST", "/api/carddav/import", wrong).status_code == 400


def pending_ids(synced: SyncedAccount) -> list[str]:
    return [row["id"] for row in synced.api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]]


@pytest.mark.both_databases
def test_large_import_executes_statements_per_batch(synced: SyncedAccount, django_assert_max_num_queries: Any) -> None:
    for number in range(120):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X", "TEL:1", uid=f"uid-{number}"))
    synced.sync()
    group = synced.api.ok("POST", "/api/groups", {"name": "All"}, status=201)["group"]["id"]
    body = {"importIds": pending_ids(synced), "globalGroupIds": [group]}
    with django_assert_max_num_queries(240):
        response = synced.api.ok("POST", "/api/carddav/import", body)
    assert (response["imported"], response["skipped"], response["errors"]) == (120, 0, 0)
    assert Membership.objects.owned_by(synced.owner).filter(group=group).count() == 120
    assert Mapping.objects.owned_by(synced.owner).count() == 120


@pytest.mark.both_databases
def test_failing_import_does_not_stop_the_others(synced: SyncedAccount) -> None:
    for number in range(5):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    synced.sync()
    row = PendingImport.objects.owned_by(synced.owner).get(display_name="P3 X")
    taken = synced.make_person(name="Bob")
    make_mapping(synced.connection, taken)
    Mapping.objects.owned_by(synced.owner).update(
        href_key=row.href_key
    )  # so that the database refuses the import's mapping
    response = synced.api.ok("POST", "/api/carddav/import", {"importIds": pending_ids(synced)})
    assert (response["success"], response["imported"], response["errors"]) == (False, 4, 1)
    assert response["errorMessages"][0].startswith("P3 X: ")
    assert [left.pk for left in PendingImport.objects.owned_by(synced.owner)] == [row.pk]


def test_import_stops_at_the_plan_limit_and_reports_the_rest(synced: SyncedAccount, settings: Any) -> None:
    settings.SAAS_MODE = True
    synced.owner.refresh_from_db()
    limit = synced.owner.plan_limit("people") or 0
    for number in range(limit + 7):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    synced.sync()
    response = synced.api.ok("POST", "/api/carddav/import", {"importIds": pending_ids(synced)})
    assert (response["imported"], response["skipped"], response["errors"]) == (limit, 0, 7)
    assert len(response["errorMessages"]) == 7
    assert synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 7}


@pytest.mark.both_databases
@pytest.mark.parametrize("is_uploaded", [True, False])
def test_import_stops_at_its_time_limit(
    synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch, is_uploaded: bool
) -> None:
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    synced.sync()
    if is_uploaded:
        PendingImport.objects.owned_by(synced.owner).update(connection=None, href=None, href_key="")
    monkeypatch.setattr(imports, "_BATCH_SIZE", 2)
    monkeypatch.setattr(imports, "MAX_SECONDS", 0.0)
    began: list[float] = [0.0, 0.0]  # for the first batch, the clock stands still
    monkeypatch.setattr("time.monotonic", lambda: began.pop() if began else 1.0)
    body = {"importIds": pending_ids(synced)}
    response = synced.api.ok("POST", "/api/carddav/import", body)
    assert response["success"] is False
    assert response["errorMessages"] == [str(imports.NOT_TRIED_MESSAGE.format(count=3 - response["imported"]))]
    assert synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 3 - response["imported"]}


@pytest.mark.both_databases
def test_pictures_beyond_the_time_limit_are_loaded_by_the_next_run(
    synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch, media: Any
) -> None:
    for number in range(2):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X", "PHOTO;VALUE=uri:https://slow.example/a.jpg"))
    synced.sync()
    jpeg = to_stored_form(picture(), PixelBudget())
    monkeypatch.setattr(pictures, "load_picture", lambda card, budget: CardPicture(photo_token(card), jpeg))
    monkeypatch.setattr(imports, "MAX_PICTURE_SECONDS", 0.0)
    assert synced.api.ok("POST", "/api/carddav/import", {"importIds": pending_ids(synced)})["imported"] == 2
    assert not Person.objects.owned_by(synced.owner).exclude(photo=None).exists()
    assert counts(synced.sync()) == {"updated_locally": 2}
    assert Person.objects.owned_by(synced.owner).exclude(photo=None).count() == 2
    assert counts(synced.sync()) == {}


def test_uploaded_card_is_imported_without_connection(api: Client, alice: User) -> None:
    api.generic("POST", "/api/vcard/upload", vcard("Ada L", "TEL:1").encode(), "text/vcard")
    [row] = PendingImport.objects.owned_by(alice)
    assert api.ok("POST", "/api/carddav/import", {"importIds": [str(row.pk)]})["imported"] == 1
    assert Person.objects.owned_by(alice).get().phone_numbers[0]["number"] == "1"
    assert not Mapping.objects.owned_by(alice).exists()


@pytest.mark.both_databases
def test_bulk_export_reports_the_refused_card(synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carddav.services.exports._BATCH_SIZE", 10)
    people = [synced.make_person(name=f"P{number}") for number in range(11)]
    synced.server.refuses = lambda text: WriteOutcome.REFUSED if "FN:P7\r" in text else None
    body = {"personIds": [str(person.pk) for person in people]}
    with synced.patch_open_book():
        response = synced.api.ok("POST", "/api/carddav/export-bulk", body)
        assert (response["exported"], response["skipped"], response["errors"]) == (10, 0, 1)
        assert len(synced.server.cards) == 10
        synced.server.refuses = lambda text: None
        again = synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (again["exported"], again["skipped"], again["errors"]) == (0, 11, 0)
    synced.edit(people[7], name="Better")
    assert counts(synced.sync()) == {"exported": 1}


def test_new_people_are_not_exported_without_auto_export(alice: User) -> None:
    synced = SyncedAccount(alice, auto_export_new=False)
    synced.api.ok("POST", "/api/people", {"name": "Bob"}, status=201)
    assert counts(synced.sync()) == {}
    assert synced.server.cards == {}


def test_second_request_joins_the_first_run(synced: SyncedAccount) -> None:
    first = start_run(owner=synced.owner, trigger="manual", now=timezone.now())
    second = start_run(owner=synced.owner, trigger="manual", now=timezone.now())
    assert first == second
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    one, other = events_of(first), events_of(second)
    assert one == other
    assert one[-1][0] == "complete"
    assert set(one[-1][1]) == {
        "imported",
        "exported",
        "updatedLocally",
        "updatedRemotely",
        "conflicts",
        "errors",
        "errorMessages",
        "pendingImports",
    }
    assert one[-1][1]["pendingImports"] == 1


def test_failure_is_an_error_event_and_in_the_history(synced: SyncedAccount) -> None:
    def refuse(what: str) -> None:
        raise LoginRefusedError(status=401)

    synced.server.on_request = refuse
    run = synced.sync()
    [(name, data)] = events_of(run)
    assert (name, data["code"]) == ("error", "auth")
    [shown] = synced.api.ok("GET", "/api/carddav/runs")["runs"]
    assert (shown["code"], shown["trigger"], shown["dryRun"]) == ("auth", "manual", False)


@pytest.mark.both_databases
def test_password_changed_during_the_run_ends_the_pause(synced: SyncedAccount) -> None:
    def refuse(what: str) -> None:
        synced.api.ok("PUT", "/api/carddav/connection", {"password": "another"})
        raise LoginRefusedError(status=401)

    synced.server.on_request = refuse
    assert synced.sync().code == "auth"
    synced.server.on_request = lambda what: None
    assert (synced.reload().pause, synced.sync().code) == ("", "")


@pytest.mark.both_databases
def test_lock_of_a_killed_run_expires(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.server.faults[2] = "kill_before"
    with pytest.raises(Killed):
        synced.sync()
    # A killed process does not release the lock: play one on another machine.
    later = timezone.now() + dt.timedelta(seconds=60)
    rows = Connection.objects.owned_by(synced.owner)
    rows.update(claim="0199c1a0-0000-7000-8000-000000000000", holder="elsewhere", held_until=later)
    with pytest.raises(LockedError):
        synced.sync()
    rows.update(held_until=timezone.now() - dt.timedelta(seconds=1))
    run = synced.sync()
    assert (run.code, run.pending_imports) == ("", 1)
    assert [row.code for row in Run.objects.owned_by(synced.owner).order_by("started_at")] == ["interrupted", ""]


@pytest.mark.both_databases
def test_write_without_the_lock_is_refused(synced: SyncedAccount) -> None:
    with locked_connection(synced.owner) as context:
        Connection.objects.owned_by(synced.owner).update(claim="0199c1a0-0000-7000-8000-000000000000")
        with pytest.raises(LockLostError), context.write():
            pytest.fail("the lock is lost")


def test_import_gives_up_waiting_for_the_lock(synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    row = PendingImport.objects.owned_by(synced.owner).get()
    monkeypatch.setattr("carddav.services.connections._MAX_WAIT_SECONDS", 0.0)
    with locked(synced.connection):
        response = synced.api.call("POST", "/api/carddav/import", {"importIds": [str(row.pk)]})
    assert (response.status_code, response.json()["code"]) == (409, "busy")


def test_cron_syncs_due_accounts_and_counts_errors(
    synced: SyncedAccount, mallory: User, settings: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CRON_SECRET = "cron-secret"
    paused = SyncedAccount(mallory, pause="auth")
    late = SyncedAccount(make_user("late@example.org"), next_sync_at=timezone.now() + dt.timedelta(hours=1))
    failing = SyncedAccount(make_user("failing@example.org"))
    stages = {found.owner.pk: found for found in (synced, paused, late, failing)}

    def refuse(what: str) -> None:
        raise LoginRefusedError(status=401)

    failing.server.on_request = refuse
    monkeypatch.setattr("carddav.services.books.open_book", lambda context: stages[context.owner.pk].open_book(context))
    pauses: list[float] = []
    monkeypatch.setattr("carddav.services.schedule.time.sleep", pauses.append)
    response = client.get("/api/cron/carddav-sync", **CRON_HEADERS).json()
    assert (response["total"], response["synced"], response["skipped"], response["errors"]) == (4, 1, 2, 1)
    assert response["success"] is False
    assert len(response["errorMessages"]) == 1
    assert len(synced.server.requests) == 1
    assert paused.server.requests == late.server.requests == []
    assert pauses == [0.2]


@pytest.mark.parametrize("header", [{}, {"HTTP_AUTHORIZATION": "Bearer wrong"}, {"HTTP_AUTHORIZATION": "Basic x"}])
def test_cron_with_a_wrong_secret_is_401(db: None, client: Any, settings: Any, header: dict[str, str]) -> None:
    settings.CRON_SECRET = "cron-secret"
    assert client.get("/api/cron/carddav-sync", **header).status_code == 401
    settings.CRON_SECRET = ""
    assert client.get("/api/cron/carddav-sync", HTTP_AUTHORIZATION="Bearer ").status_code == 401


def test_command_syncs_due_accounts_or_one_user(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    Connection.objects.owned_by(synced.owner).update(next_sync_at=timezone.now() + dt.timedelta(hours=1))
    out = StringIO()
    with synced.patch_open_book():
        call_command("sync_carddav", stdout=out)
        assert out.getvalue() == "0 synced, 1 skipped, 0 failed\n"
        call_command("sync_carddav", user="ALICE@example.org", stdout=out)
    assert PendingImport.objects.owned_by(synced.owner).count() == 1
    with pytest.raises(CommandError, match="There is no account"):
        call_command("sync_carddav", user="nobody@example.org")


@pytest.mark.both_databases
def test_sweep_starts_due_runs_and_ends_killed_ones(synced: SyncedAccount) -> None:
    enqueued: list[str] = []
    schedule.sweep(now=timezone.now(), enqueue_due=enqueued.append)
    [run] = Run.objects.owned_by(synced.owner)
    assert (enqueued, run.trigger, run.state) == ([str(run.pk)], "automatic", "queued")
    Run.objects.owned_by(synced.owner).update(state="running")
    Connection.objects.owned_by(synced.owner).update(next_sync_at=timezone.now() + dt.timedelta(hours=1))
    schedule.sweep(now=timezone.now(), enqueue_due=enqueued.append)
    run.refresh_from_db()
    assert (run.state, run.code, len(enqueued)) == ("ended", "interrupted", 1)


def test_sweep_skips_inactive_accounts(synced: SyncedAccount) -> None:
    User.objects.filter(pk=synced.owner.pk).update(is_active=False)
    enqueued: list[str] = []
    schedule.sweep(now=timezone.now(), enqueue_due=enqueued.append)
    assert enqueued == []
    User.objects.filter(pk=synced.owner.pk).update(is_active=True)
    schedule.sweep(now=timezone.now(), enqueue_due=enqueued.append)
    assert len(enqueued) == 1


@pytest.mark.both_databases
def test_edit_starts_a_run_if_automatic_sync_is_enabled(synced: SyncedAccount) -> None:
    synced.sync()
    assert schedule.start_if_unsent(owner_id=synced.owner.pk, now=timezone.now()) is None
    synced.api.ok("POST", "/api/people", {"name": "Bob"}, status=201)
    Connection.objects.owned_by(synced.owner).update(sync_enabled=False)
    assert schedule.start_if_unsent(owner_id=synced.owner.pk, now=timezone.now()) is None
    Connection.objects.owned_by(synced.owner).update(sync_enabled=True)
    assert schedule.start_if_unsent(owner_id=synced.owner.pk, now=timezone.now()) is not None


def test_orphan_check_tells_whether_people_are_synced(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.connection.import_mode = "auto"
    synced.connection.save()
    synced.sync()
    other = synced.make_person(name="Bob")
    path = "/api/people/bulk/orphans"
    assert synced.api.ok("POST", path, {"personIds": [str(synced.person().pk)]})["hasCardDavSync"] is True
    assert synced.api.ok("POST", path, {"personIds": [str(other.pk)]})["hasCardDavSync"] is False


def test_conflict_is_resolved_by_its_owner_with_valid_values_only(synced: SyncedAccount, stranger: Client) -> None:
    hrefs = [synced.server.edit("1.vcf", vcard("Ada L"))]
    synced.connection.import_mode = "auto"
    synced.connection.save()
    synced.sync()
    synced.server.remove(hrefs[0])
    synced.sync()
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
    assert stranger.call("POST", path, {"resolution": "keep_local"}).status_code == 404
    assert synced.api.call("POST", path, {"resolution": "both"}).status_code == 400
    assert synced.api.call("POST", path, {"resolution": "merged", "values": {"name": "X"}}).status_code == 400
    assert Group.objects.owned_by(synced.owner).count() == 0


@pytest.mark.both_databases
def test_conflict_has_the_name_in_the_users_order_and_errors_name_the_field(alice: User) -> None:
    synced = SyncedAccount(alice)
    User.objects.filter(pk=alice.pk).update(name_order="EASTERN")
    synced.server.edit("1.vcf", vcard("Ada L", "ORG:Here"))
    synced.sync()
    synced.edit(synced.person(), organization="Mine")
    synced.server.edit("1.vcf", vcard("Ada L", "ORG:Theirs"))
    synced.sync()
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert (conflict["personName"], [entry["field"] for entry in conflict["fields"]]) == ("L Ada", ["organization"])
    body = {"resolution": "merged", "values": {"organization": 5}}
    response = synced.api.call("POST", f"/api/carddav/conflicts/{conflict['id']}/resolve", body)
    assert (response.status_code, response.json()["details"][0]["field"]) == (400, "values.organization")


@pytest.mark.both_databases
def test_import_mode_notify_sends_one_notice_for_new_cards(alice: User) -> None:
    synced = SyncedAccount(alice, import_mode="notify")
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    assert synced.sync().pending_imports == 3
    [delivery] = Delivery.objects.owned_by(alice)
    assert (delivery.kind, delivery.channel, delivery.content["count"]) == ("carddav.contacts_found", "email", 3)
    synced.sync()
    assert Delivery.objects.owned_by(alice).count() == 1
    call_command("deliver_reminders", stdout=StringIO())
    [message] = mail.outbox
    assert message.subject == "3 new contacts on your server"


@pytest.mark.both_databases
def test_export_skips_people_who_are_already_in_the_book(synced: SyncedAccount) -> None:
    synced.server.edit("ada.vcf", vcard("Ada L", uid="uid-ada"))
    ada = synced.make_person(name="Ada", surname="L", uid="uid-ada")
    bob = synced.make_person(name="Bob")
    with synced.patch_open_book():
        response = synced.api.ok("POST", "/api/carddav/export-bulk", {"personIds": [str(ada.pk), str(bob.pk)]})
    assert (response["exported"], response["skipped"], response["errors"]) == (1, 1, 0)
    assert len(synced.server.cards) == 2
    assert counts(synced.sync()) == {}


def test_repeated_export_finds_the_card_of_a_killed_one(synced: SyncedAccount) -> None:
    """Even if the server has given the new card another name."""
    synced.sync()
    bob = synced.make_person(name="Bob", uid="uid-bob")
    body = {"personIds": [str(bob.pk)]}
    synced.requests()
    synced.server.faults = {1: "kill_after"}
    with synced.patch_open_book():
        with suppress(Killed):
            export_people(owner=synced.owner, person_ids=[bob.pk])
        [href] = synced.server.cards
        text = synced.server.cards[href].text
        synced.server.remove(href)
        synced.server.edit("renamed.vcf", text)
        response = synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (response["exported"], response["skipped"], response["errors"]) == (0, 1, 0)
    assert len(synced.server.cards) == 1
    assert counts(synced.sync()) == {}


@pytest.mark.parametrize("is_spelled", [False, True])
def test_new_card_with_a_lost_response_is_found_under_another_name(synced: SyncedAccount, is_spelled: bool) -> None:
    synced.sync()
    bob = synced.make_person(name="Bob", uid="uid-bob", notes="mine")

    def rename(what: str) -> None:
        if what.startswith("get ") and "/ada/book/renamed.vcf" not in synced.server.cards:
            [href] = synced.server.cards
            text = synced.server.cards[href].text
            synced.server.remove(href)
            synced.server.edit("renamed.vcf", text.replace("NOTE:mine\r\n", "") if is_spelled else text)

    synced.requests()
    synced.server.on_request = rename
    synced.server.faults = {1: "lose_after"}
    with synced.patch_open_book():
        receipt = export_people(owner=synced.owner, person_ids=[bob.pk])
    assert receipt.messages == []
    assert list(synced.server.cards) == ["/ada/book/renamed.vcf"]
    assert receipt.done == 1
    assert counts(synced.sync()) == {}
    assert synced.person("Bob").notes == "mine"  # fields that the server drops are kept here


@pytest.mark.both_databases
@pytest.mark.parametrize("is_export", [False, True])
def test_new_card_of_a_killed_run_keeps_its_name(synced: SyncedAccount, is_export: bool) -> None:
    """The killed run's request may still arrive; of two with the same name the server accepts only one."""
    synced.sync()
    bob = synced.make_person(name="Bob")
    synced.requests()
    synced.server.faults = {1: "kill_before"}
    with synced.patch_open_book(), suppress(Killed):
        export_people(owner=synced.owner, person_ids=[bob.pk])
    sent = JournalEntry.objects.owned_by(synced.owner).get().href
    if is_export:
        with synced.patch_open_book():
            export_people(owner=synced.owner, person_ids=[bob.pk])
    else:
        synced.sync()
    assert list(synced.server.cards) == [sent]
