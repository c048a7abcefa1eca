"""Cards that are held back: a refusal that passes is tried again, one of the content waits; neither is silent."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from carddav.client.book import WriteOutcome
from carddav.models import Conflict, Connection
from carddav.models.mapping import MAX_TRIES
from carddav.services import schedule
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.client import Client

PASSING = [WriteOutcome.CHANGED, WriteOutcome.GONE]


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    """An account with a contact that is to be sent."""
    synced = SyncedAccount(alice)
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    return synced


def make_unsent(synced: SyncedAccount, *, is_new: bool) -> str:
    if is_new:
        synced.api.ok("POST", "/api/people", {"name": "Ada", "surname": "New", "notes": "mine"}, status=201)
    else:
        synced.edit(synced.person(), notes="mine")
    return "exported" if is_new else "updated_remotely"


def held_back(api: Client) -> list[dict[str, Any]]:
    cards: list[dict[str, Any]] = api.ok("GET", "/api/carddav/held-back")["heldBack"]
    assert api.ok("GET", "/api/carddav/connection")["connection"]["heldBack"] == len(cards)
    return cards


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("outcome", PASSING)
def test_a_refusal_for_the_length_of_one_run(synced: SyncedAccount, outcome: WriteOutcome, is_new: bool) -> None:
    """412 or 404 though nothing has changed, as from a proxy that is upset."""
    count = make_unsent(synced, is_new=is_new)
    synced.server.refuses = lambda text: outcome
    assert counts(synced.sync()) == {"errors": 1}
    # Once a run, not until it works.
    assert synced.requests().count("put") == 1
    [card] = held_back(synced.api)
    assert (card["code"], card["personName"][:3]) == ("passing", "Ada")
    assert card["nextTryAt"] is not None
    assert "status 400" in card["reason"]  # what the server in memory says
    synced.server.refuses = lambda text: None
    assert counts(synced.sync()) == {count: 1}
    assert held_back(synced.api) == []
    assert any("NOTE:mine" in stored.text for stored in synced.server.cards.values())
    assert not Conflict.objects.owned_by(synced.owner).exists()
    assert counts(synced.sync()) == {}
    assert len(synced.server.cards) == 1 + is_new


@pytest.mark.sqlite_suffices  # twenty runs, each with the statements of the other tests
@pytest.mark.parametrize("is_new", [True, False])
def test_the_delay_grows_from_an_hour_to_a_day(synced: SyncedAccount, is_new: bool) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        make_unsent(synced, is_new=is_new)
        synced.server.refuses = lambda text: WriteOutcome.CHANGED
        for _ in range(MAX_TRIES):
            assert counts(synced.sync()) == {"errors": 1}
        for hours in (1, 2, 4, 8, 16, 24, 24):
            [card] = held_back(synced.api)
            at = dt.datetime.fromisoformat(card["nextTryAt"])
            assert abs(at - timezone.now() - dt.timedelta(hours=hours)) < dt.timedelta(seconds=1)
            clock.shift(dt.timedelta(hours=hours, seconds=-1))
            assert counts(synced.sync()) == {}
            clock.shift(dt.timedelta(seconds=1))
            assert counts(synced.sync()) == {"errors": 1}
        # A change is sent at once.
        synced.server.refuses = lambda text: None
        for person in synced.api.ok("GET", "/api/people")["people"]:
            if person["notes"] == "mine":
                synced.api.ok("PUT", f"/api/people/{person['id']}", {"notes": "yours"})
        assert not counts(synced.sync()).get("errors")
        assert held_back(synced.api) == []


def test_a_run_is_due_when_a_card_may_be_tried_again(synced: SyncedAccount) -> None:
    make_unsent(synced, is_new=False)
    synced.server.refuses = lambda text: WriteOutcome.GONE
    enqueued: list[str] = []
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for delay in (dt.timedelta(minutes=5), dt.timedelta(minutes=5), dt.timedelta(hours=1)):
            synced.sync()
            clock.shift(delay - dt.timedelta(seconds=1))
            schedule.sweep(now=timezone.now(), enqueue_due=enqueued.append)
            assert enqueued == []
            clock.shift(dt.timedelta(seconds=1))
            assert Connection.objects.owned_by(synced.owner).due(timezone.now()).exists()


def test_a_card_that_is_gone_is_a_deletion_there(synced: SyncedAccount) -> None:
    make_unsent(synced, is_new=False)
    [href] = synced.server.cards

    def remove(text: str) -> WriteOutcome | None:
        synced.server.cards.pop(href, None)
        return WriteOutcome.GONE

    synced.server.refuses = remove
    assert counts(synced.sync()) == {"conflicts": 1}
    assert held_back(synced.api) == []
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert conflict["kind"] == "remote_deleted"


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(WriteOutcome.REFUSED, "refused"), (WriteOutcome.TOO_LARGE, "too_large")],
)
def test_refused_content_waits_for_a_change_or_for_the_user(
    synced: SyncedAccount, outcome: WriteOutcome, code: str
) -> None:
    make_unsent(synced, is_new=False)
    synced.server.refuses = lambda text: outcome
    assert counts(synced.sync()) == {"errors": 1}
    [card] = held_back(synced.api)
    assert (card["code"], card["nextTryAt"]) == (code, None)
    assert card["href"] == "/ada/book/1.vcf"
    assert counts(synced.sync()) == {}
    synced.api.ok("POST", f"/api/carddav/held-back/{card['personId']}/retry")
    synced.requests()
    assert counts(synced.sync()) == {"errors": 1}
    assert synced.requests().count("put") == 1
    [again] = held_back(synced.api)
    assert (again["code"], again["nextTryAt"], again["since"]) == (code, None, card["since"])
    synced.api.ok("POST", f"/api/carddav/held-back/{card['personId']}/retry")
    synced.server.refuses = lambda text: None
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert held_back(synced.api) == []
    synced.api.ok("POST", f"/api/carddav/held-back/{card['personId']}/retry", status=404)


@pytest.mark.parametrize(
    ("outcome", "code", "is_new"),
    [
        (WriteOutcome.FULL, "no_space", True),
        (WriteOutcome.READ_ONLY, "read_only", False),
        (WriteOutcome.LOCKED, "locked", False),
    ],
)
def test_a_server_that_takes_nothing_now(synced: SyncedAccount, outcome: WriteOutcome, code: str, is_new: bool) -> None:
    count = make_unsent(synced, is_new=is_new)
    synced.server.refuses = lambda text: outcome
    for _ in range(2):
        assert counts(synced.sync()) == {"errors": 1}
        [card] = held_back(synced.api)
        assert (card["code"], card["nextTryAt"] is None) == (code, False)
    # Runs are started for what may pass, not for a server that takes nothing.
    soon = timezone.now() + dt.timedelta(minutes=10)
    assert Connection.objects.owned_by(synced.owner).due(soon).exists() is (code == "locked")
    synced.server.refuses = lambda text: None
    assert counts(synced.sync()) == {count: 1}
    assert held_back(synced.api) == []


def test_a_card_that_cannot_be_read_is_not_overwritten(synced: SyncedAccount) -> None:
    make_unsent(synced, is_new=False)
    [href] = synced.server.cards
    broken = "BEGIN:VCARD\r\nVERSION:3.0\r\nnonsense\r\n"
    synced.server.edit(href, broken)
    synced.sync()
    [card] = held_back(synced.api)
    assert (card["code"], card["href"], card["nextTryAt"]) == ("unreadable", href, None)
    assert synced.server.cards[href].text == broken
    synced.server.edit(href, vcard("Ada L"))
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert held_back(synced.api) == []


def test_the_retry_starts_a_run(synced: SyncedAccount) -> None:
    make_unsent(synced, is_new=False)
    synced.server.refuses = lambda text: WriteOutcome.REFUSED
    synced.sync()
    [card] = held_back(synced.api)
    before = len(synced.api.ok("GET", "/api/carddav/runs")["runs"])
    synced.api.ok("POST", f"/api/carddav/held-back/{card['personId']}/retry")
    runs = synced.api.ok("GET", "/api/carddav/runs")["runs"]
    assert (len(runs), runs[0]["trigger"]) == (before + 1, "manual")


def test_people_who_are_not_synced_are_not_listed(synced: SyncedAccount, stranger: Client) -> None:
    make_unsent(synced, is_new=False)
    synced.server.refuses = lambda text: WriteOutcome.REFUSED
    synced.sync()
    [card] = held_back(synced.api)
    assert stranger.ok("GET", "/api/carddav/held-back") == {"heldBack": []}
    stranger.ok("POST", f"/api/carddav/held-back/{card['personId']}/retry", status=404)
    synced.edit(synced.person(), cardDavSyncEnabled=False)
    assert held_back(synced.api) == []
