"""The sequences of programs that cannot run here, written from their sources: each step does what it means."""

import base64
import re
from typing import Any

import pytest
import time_machine

from accounts.models import User
from people.models import Interaction, Person
from tests.client import client_of
from tests.dav.devices import Device, group_devices
from tests.dav.replay import Exchange, Replay, read_sequence
from tests.dav.test_calendars import NOON, make_friend
from tests.dav.test_photos import encoded, photo_line, scene, shown_picture
from tests.dav.test_sequences import replay, seed

__all__ = ["group_devices"]

# The requests of other sequences, which run on both databases, send the same statements.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

APPLE, DAVX5, KDE, TASKS = "apple-further", "davx5-4.5", "kdav-5.115", "tasks.org-14.8"
OUTLOOK, EVOLUTION = "outlook-caldav-synchronizer-4.6", "evolution-data-server-3.61"


def start(user: User, name: str, *cards: str, **options: Any) -> tuple[Replay, Any, Device]:
    """The replay of a sequence, a function that sends steps of it, and a device of somebody else."""
    first = seed(user, *cards)
    program, requests = replay(Device(user), **options), read_sequence(name, "")

    def run(*steps: str) -> list[Exchange]:
        done = program.run(requests, *steps)
        assert done, steps
        return done

    return program, run, first


def assert_as_written(done: list[Exchange]) -> None:
    told = [(each.request.method, each.path, each.status) for each in done]
    assert told == [(each.request.method, each.path, each.request.status) for each in done]


def named(user: User, uid: str) -> dict[str, Any]:
    row = Person.objects.owned_by(user).active().get(uid=uid)
    return dict(client_of(user).ok("GET", f"/api/people/{row.pk}")["person"])


def changed(exchange: Exchange) -> list[str]:
    """The names of the cards in a report, without their extension."""
    return sorted(href.rpartition("/")[2].removesuffix(".vcf") for href in exchange.answer.entries)


def test_davx5_finds_both_homes_and_fetches_by_tens(alice: User) -> None:
    _, run, _ = start(alice, DAVX5, *(f"p{number}" for number in range(1, 26)))
    done = run("set-up")
    assert_as_written(done)
    options = next(each for each in done if each.request.method == "OPTIONS")
    assert "addressbook" in options.response["DAV"]
    assert "calendar-access" in options.response["DAV"]
    first = run("first-sync")
    assert_as_written(first)
    fetched = [len(each.answer.entries) for each in first[2:]]
    assert fetched == [10, 10, 6]
    texts = [entry.text("card:address-data") for each in first[2:] for entry in each.answer.entries.values()]
    assert all("VERSION:4.0" in text for text in texts)
    (state,) = run("idle")
    (again,) = run("idle")
    assert state.content == again.content


def test_davx5_fetches_what_changed_and_uploads(alice: User) -> None:
    numbers = range(1, 26)
    _, run, first = start(alice, DAVX5, *(f"p{number}" for number in numbers), takes_listed_token=False)
    run("set-up", "first-sync")
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{named(alice, 'p1')['id']}", {"nickname": "one"})
    _, listed, fetched = run("one-changed")
    assert (changed(listed), changed(fetched)) == (["p1"], ["p1"])
    for number in numbers:
        api.ok("PUT", f"/api/people/{named(alice, f'p{number}')['id']}", {"jobTitle": "all"})
    _, listed, *fetched = run("all-changed")
    assert len(changed(listed)) == 25
    assert [len(each.answer.entries) for each in fetched] == [10, 10, 5]
    put, create, delete = run("upload")
    assert (put.status, create.status, delete.status) == (204, 201, 204)
    person = named(alice, "p1")
    assert [entry["number"] for entry in person["phoneNumbers"]] == ["+49 30 1"]
    # The nickname and the job are in no card that this phone has sent.
    assert (person["nickname"], person["jobTitle"]) == ("one", "all")
    assert named(alice, "7b0fd5e0-22c5-4e0a-a6f0-b3f6a1c7c1d2")["emails"][0]["email"] == "new@example.org"
    assert not Person.objects.owned_by(alice).active().filter(uid="p2").exists()
    assert first.get("p2.vcf").status_code == 404
    run("after-upload")
    _, listed = run("after-upload")
    assert listed.answer.entries == {}


def test_davx5_begins_anew_after_an_expired_token_and_goes_on_after_a_refusal(alice: User) -> None:
    _, run, _ = start(alice, DAVX5, "p1", keeps_tokens=frozenset({"expired-token"}))
    run("set-up", "first-sync")
    refused, all_of_it = run("expired-token")
    assert (refused.status, b"valid-sync-token" in refused.content) == (403, True)
    assert changed(all_of_it) == ["p1", "u-rich-1"]
    (event,) = run("refused")
    assert (event.status, b"need-privileges" in event.content) == (403, True)


def test_kde_reads_back_what_it_wrote(alice: User) -> None:
    _, run, first = start(alice, KDE, "p1")
    assert_as_written(run("discovery"))
    listed, fetched = run("list")
    assert {"p1", "u-rich-1"} <= set(changed(listed))
    assert changed(fetched) == ["p1", "u-rich-1"]
    put, got = run("edit")
    assert (put.status, got.status) == (204, 200)
    assert named(alice, "p1")["notes"] == "from KAddressBook"
    assert_as_written(run("create"))
    assert_as_written(run("delete"))
    assert Person.objects.owned_by(alice).active().count() == 2
    client_of(alice).ok("PUT", f"/api/people/{named(alice, 'p1')['id']}", {"notes": "ours"})
    late, got = run("conflict")
    assert (late.status, b"NOTE:ours" in got.content) == (412, True)
    assert got.response["ETag"] == first.get("p1.vcf")["ETag"]


def test_outlook_syncs_with_a_token_and_asks_for_the_etag(alice: User) -> None:
    _, run, first = start(alice, OUTLOOK, "p1", keeps_tokens=frozenset({"expired-token"}))
    for step in ("discovery", "checks", "sync"):
        assert_as_written(run(step))
    (idle,) = run("idle")
    assert idle.answer.entries == {}
    put, etag = run("edit")
    assert put.status == 204
    (entry,) = etag.answer.entries.values()
    assert entry.text("d:getetag") == first.get("p1.vcf")["ETag"]
    person = named(alice, "p1")
    assert ([group["name"] for group in person["groups"]], person["notes"]) == (["Outlook"], "from Outlook")
    assert_as_written(run("create"))
    assert_as_written(run("delete"))
    refused, all_of_it = run("expired-token")
    assert (refused.status, b"valid-sync-token" in refused.content) == (403, True)
    assert changed(all_of_it) == ["p1", "u-rich-1"]


def test_a_newer_evolution_keeps_the_token_as_a_uri(alice: User) -> None:
    program, run, _ = start(alice, EVOLUTION, "p1", keeps_tokens=frozenset({"token-as-a-number"}))
    opened = run("open")
    assert_as_written(opened)
    assert re.match(r"https?://", program.token)
    assert all("VERSION:4.0" in entry.text("card:address-data") for entry in opened[-1].answer.entries.values())
    (idle,) = run("idle")
    assert idle.answer.entries == {}
    assert_as_written(run("edit"))
    (number,) = named(alice, "p1")["phoneNumbers"]
    assert re.sub(r"\D", "", number["number"]) == "49301"
    refused, all_of_it = run("token-as-a-number")
    assert (refused.status, b"valid-sync-token" in refused.content) == (403, True)
    assert changed(all_of_it) == ["p1", "u-rich-1"]


def test_tasks_org_ticks_and_takes_back(alice: User) -> None:
    with time_machine.travel(NOON, tick=False):
        person = make_friend(client_of(alice), "Ann")
        program = replay(Device(alice))
        program.paths = {"/dav/calendars/ID/keep-in-touch/PERSON": _task(alice, person), **program.paths}
        program.words = {b"PERSON": person.encode()}
        requests = read_sequence(TASKS, "")
        assert_as_written(program.run(requests, "set-up", "sync"))
        (tick,) = program.run(requests, "tick")
        assert (tick.status, "ETag" in tick.response) == (204, False)
        assert Interaction.objects.owned_by(alice).active().count() == 1
        (undo,) = program.run(requests, "undo")
        assert undo.status == 204
        assert Interaction.objects.owned_by(alice).active().count() == 0
        assert_as_written(program.run(requests, "delete"))
        assert Person.objects.owned_by(alice).active().count() == 1


def test_an_iphone_fetches_by_fifties_and_sends_a_copy_of_the_picture(alice: User, group_devices: set[str]) -> None:
    program, run, first = start(alice, APPLE, *(f"p{number}" for number in range(1, 120)))
    group_devices.add(program.device.token)
    original = encoded(scene())
    first.put("p1.vcf", first.text("p1.vcf").replace("END:", f"{photo_line(original, 'PNG')}END:"))
    done = run("first-fetch-of-120")
    assert_as_written(done)
    assert [len(each.answer.entries) for each in done[2:]] == [50, 50, 20]
    copy = encoded(scene().crop((150, 0, 750, 600)).resize((512, 512)), "JPEG", quality=80)
    program.words = {b"PICTURE": base64.b64encode(copy)}
    (put,) = run("photo")
    assert (put.status, "ETag" in put.response) == (204, False)
    assert shown_picture(first, "p1.vcf") == original
    assert [entry["number"] for entry in named(alice, "p1")["phoneNumbers"]] == ["+49 30 1"]


def test_an_iphone_ticks_in_place_and_as_a_new_task(alice: User) -> None:
    with time_machine.travel(NOON, tick=False):
        person = make_friend(client_of(alice), "Ann")
        program = replay(Device(alice))
        program.paths = {"/dav/calendars/ID/keep-in-touch/PERSON": _task(alice, person), **program.paths}
        program.words = {b"PERSON": person.encode()}
        requests = read_sequence(APPLE, "")
        assert_as_written(program.run(requests, "reminders"))
        put, again = program.run(requests, "tick")
        assert (put.status, "ETag" in put.response) == (204, False)
        (entry,) = again.answer.entries.values()
        assert "STATUS:NEEDS-ACTION" in entry.text("cal:calendar-data")
        assert "DUE;VALUE=DATE:20260701" not in entry.text("cal:calendar-data")
        assert Interaction.objects.owned_by(alice).active().count() == 1
        (new,) = program.run(requests, "tick-as-a-new-task")
        assert new.status in {201, 204}
        assert Interaction.objects.owned_by(alice).active().count() == 2


def test_a_mac_finds_the_book(alice: User) -> None:
    _, run, _ = start(alice, APPLE, "p1")
    assert_as_written(run("mac"))


def _task(user: User, person: str) -> str:
    return f"/dav/calendars/{user.pk}/keep-in-touch/{person}"
