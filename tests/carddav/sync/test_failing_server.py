"""A server that fails over one card, with a 5xx: the others go on, and that one rests, longer each time."""

import datetime as dt

import pytest

from accounts.models import User
from carddav.client import Outcome
from carddav.models import JournalEntry, Mapping, MappingStatus
from carddav.sync.backoff import MAX_TRIES
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    """Whose server fails over each card that says Bad."""
    synced = SyncedAccount(alice)
    for name in ("Ada", "Bob"):
        synced.server.edit(f"{name}.vcf", vcard(f"{name} L", uid=name))
    synced.sync()
    synced.server.refuses = lambda text: Outcome.UNKNOWN if "Bad" in text else None
    return synced


def puts(synced: SyncedAccount) -> int:
    return synced.requests().count("put")


def age(synced: SyncedAccount, by: dt.timedelta) -> None:
    """Let time pass for the card that rests."""
    for row in Mapping.objects.owned_by(synced.owner).filter(status=MappingStatus.QUARANTINED):
        Mapping.objects.owned_by(synced.owner).filter(pk=row.pk).update(updated_at=row.updated_at - by)


def make_bad(synced: SyncedAccount, *, is_new: bool) -> str:
    """Make or edit a contact that the server fails over; the name."""
    if is_new:
        synced.api.ok("POST", "/api/people", {"name": "Cy", "notes": "Bad"}, status=201)
        return "Cy"
    synced.edit(synced.person("Ada"), notes="Bad")
    return "Ada"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_card_that_the_server_fails_over_rests(synced: SyncedAccount, is_new: bool) -> None:
    name = make_bad(synced, is_new=is_new)
    for number in range(MAX_TRIES):
        synced.edit(synced.person("Bob"), notes=f"{number}")
        run = synced.sync()
        assert (run.code, counts(run)) == ("", {"updated_remotely": 1, "errors": 1})
        assert run.error_messages[0].startswith(f"{name} (")
        assert "status 500" in run.error_messages[0]
    synced.requests()
    run = synced.sync()
    assert (counts(run), synced.requests()) == ({}, ["changes"])
    assert not JournalEntry.objects.owned_by(synced.owner).exists()
    assert synced.person(name).notes == "Bad"

    age(synced, dt.timedelta(minutes=61))
    assert counts(synced.sync()) == {"errors": 1}
    assert puts(synced)
    age(synced, dt.timedelta(minutes=61))  # twice as long now
    assert counts(synced.sync()) == {}
    assert puts(synced) == 0

    synced.edit(synced.person(name), notes="Good")
    assert counts(synced.sync()) == ({"exported": 1} if is_new else {"updated_remotely": 1})
    assert "NOTE:Good" in synced.card_of(synced.person(name))
    assert len(synced.server.cards) == (3 if is_new else 2)


@pytest.mark.parametrize("is_new", [True, False])
def test_it_goes_up_when_the_server_has_recovered(synced: SyncedAccount, is_new: bool) -> None:
    name = make_bad(synced, is_new=is_new)
    for _ in range(MAX_TRIES + 1):
        synced.sync()
    synced.server.refuses = lambda text: None
    age(synced, dt.timedelta(hours=2))
    assert counts(synced.sync()) == ({"exported": 1} if is_new else {"updated_remotely": 1})
    assert "NOTE:Bad" in synced.card_of(synced.person(name))
    assert {row.failures for row in Mapping.objects.owned_by(synced.owner)} == {0}
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]


def test_what_is_edited_while_it_rests_has_its_tries_anew(synced: SyncedAccount) -> None:
    make_bad(synced, is_new=False)
    for _ in range(MAX_TRIES):
        synced.sync()
    synced.edit(synced.person(), notes="Bad still")
    for _ in range(MAX_TRIES):
        synced.requests()
        assert counts(synced.sync()) == {"errors": 1}
        assert puts(synced)
    synced.requests()
    assert counts(synced.sync()) == {}
    assert puts(synced) == 0
