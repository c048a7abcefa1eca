"""A card for which the server answers 5xx is quarantined, for longer each time, while the others are synced."""

import datetime as dt

import pytest
from django.db.models import F

from accounts.models import User
from carddav.client.book import WriteOutcome
from carddav.models import JournalEntry, Mapping
from carddav.models.mapping import MAX_TRIES
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    """An account whose server fails for each card that contains `Bad`."""
    synced = SyncedAccount(alice)
    for name in ("Ada", "Bob"):
        synced.server.edit(f"{name}.vcf", vcard(f"{name} L", uid=name))
    synced.sync()
    synced.server.refuses = lambda text: WriteOutcome.UNKNOWN if "Bad" in text else None
    return synced


def count_puts(synced: SyncedAccount) -> int:
    return synced.requests().count("put")


def backdate_quarantine(synced: SyncedAccount, by: dt.timedelta) -> None:
    """Let this time pass for the cards that are held back."""
    rows = Mapping.objects.owned_by(synced.owner).exclude(next_try_at=None)
    rows.update(next_try_at=F("next_try_at") - by)


def make_failing_contact(synced: SyncedAccount, *, is_new: bool) -> str:
    """Create or edit a contact for which the server fails; returns its name."""
    if is_new:
        synced.api.ok("POST", "/api/people", {"name": "Cy", "notes": "Bad"}, status=201)
        return "Cy"
    synced.edit(synced.person("Ada"), notes="Bad")
    return "Ada"


@pytest.mark.parametrize("is_new", [True, False])
def test_card_that_keeps_failing_is_quarantined(synced: SyncedAccount, is_new: bool) -> None:
    name = make_failing_contact(synced, is_new=is_new)
    for number in range(MAX_TRIES):
        synced.edit(synced.person("Bob"), notes=f"{number}")
        run = synced.sync()
        assert (run.code, counts(run)) == ("", {"updated_remotely": 1, "errors": 1})
        assert str(run.messages[0]).startswith(f"{name} (")
        assert "status 500" in str(run.messages[0])
    synced.requests()
    run = synced.sync()
    assert (counts(run), synced.requests()) == ({}, ["changes"])
    assert not JournalEntry.objects.owned_by(synced.owner).exists()
    assert synced.person(name).notes == "Bad"

    backdate_quarantine(synced, dt.timedelta(minutes=61))
    assert counts(synced.sync()) == {"errors": 1}
    assert count_puts(synced)
    backdate_quarantine(synced, dt.timedelta(minutes=61))  # the second quarantine is twice as long
    assert counts(synced.sync()) == {}
    assert count_puts(synced) == 0

    synced.edit(synced.person(name), notes="Good")
    assert counts(synced.sync()) == ({"exported": 1} if is_new else {"updated_remotely": 1})
    assert "NOTE:Good" in synced.card_of(synced.person(name))
    assert len(synced.server.cards) == (3 if is_new else 2)


@pytest.mark.both_databases
@pytest.mark.parametrize("is_new", [True, False])
def test_quarantined_card_is_sent_when_the_server_has_recovered(synced: SyncedAccount, is_new: bool) -> None:
    name = make_failing_contact(synced, is_new=is_new)
    for _ in range(MAX_TRIES + 1):
        synced.sync()
    synced.server.refuses = lambda text: None
    backdate_quarantine(synced, dt.timedelta(hours=2))
    assert counts(synced.sync()) == ({"exported": 1} if is_new else {"updated_remotely": 1})
    assert "NOTE:Bad" in synced.card_of(synced.person(name))
    assert {row.failures for row in Mapping.objects.owned_by(synced.owner)} == {0}
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]


def test_edit_of_a_quarantined_card_resets_its_tries(synced: SyncedAccount) -> None:
    make_failing_contact(synced, is_new=False)
    for _ in range(MAX_TRIES):
        synced.sync()
    synced.edit(synced.person(), notes="Bad still")
    for _ in range(MAX_TRIES):
        synced.requests()
        assert counts(synced.sync()) == {"errors": 1}
        assert count_puts(synced)
    synced.requests()
    assert counts(synced.sync()) == {}
    assert count_puts(synced) == 0
