"""A run with every kind of change is killed or disconnected before and after each of its requests in turn.

Each request meets one of the faults; with TEST_ROUNDS=4 all of them. And a new card that is still on its way when its
sender is killed: it comes in before, during or after the run that asks for it, which is cut off as well.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy

import pytest
from django.db import transaction

from carddav.models import Conflict, JournalEntry
from people.models import Person
from tests.builders import make_user
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.rounds import rounds

FAULTS = ["kill_before", "kill_after", "lose_before", "lose_after"]
EVERY = max(1, len(FAULTS) // rounds(1))
HALF = max(1, 2 // rounds(1))
_numbers = itertools.count()


def make_account_edited_on_both_sides() -> SyncedAccount:
    """An account of ten contacts, with every kind of change pending for the next run."""
    synced = SyncedAccount(make_user(f"k{next(_numbers)}@example.org"))
    hrefs = [synced.server.edit(f"{n}.vcf", vcard(f"P{n} X", "NOTE:old", uid=f"uid-{n}")) for n in range(10)]
    synced.sync()
    synced.edit(synced.person("P0"), notes="here")
    synced.edit(synced.person("P1"), organization="here")
    synced.server.edit(hrefs[1], vcard("P1 X", "NOTE:there", uid="uid-1"))
    synced.server.edit(hrefs[2], vcard("P2 X", "NOTE:there", uid="uid-2"))
    synced.edit(synced.person("P3"), notes="here")
    synced.server.edit(hrefs[3], vcard("P3 X", "NOTE:there", uid="uid-3"))
    synced.server.remove(hrefs[4])
    synced.api.ok("DELETE", f"/api/people/{synced.person('P5').pk}", {"deleteFromCardDav": True})
    synced.api.ok("DELETE", f"/api/people/{synced.person('P6').pk}", {"deleteFromCardDav": False})
    synced.api.ok("POST", "/api/people", {"name": "New", "surname": "X"}, status=201)
    synced.api.ok("POST", "/api/people", {"name": "Newer", "surname": "X"}, status=201)
    synced.server.edit("other.vcf", vcard("Other X", uid="uid-other"))
    synced.requests()
    return synced


@contextmanager
def restored_afterwards(synced: SyncedAccount) -> Iterator[None]:
    """Restore account and server after the block, because creating them takes longer than a run."""
    server, before = synced.server, transaction.savepoint()
    synced.server = deepcopy(server)
    yield
    transaction.savepoint_rollback(before)
    synced.server = server


def outcome(synced: SyncedAccount) -> dict[str, object]:
    """The state of both sides, however it was reached."""
    people = Person.objects.owned_by(synced.owner)
    wanted = ("FN", "NOTE", "ORG")
    cards = [
        sorted(line for line in stored.text.split("\r\n") if line.startswith(wanted))
        for stored in synced.server.cards.values()
    ]
    return {
        "people": sorted(people.active().values_list("name", "notes", "organization")),
        "trash": sorted(people.deleted().values_list("name", flat=True)),
        "cards": sorted(cards),
        "conflicts": sorted(
            Conflict.objects.owned_by(synced.owner).filter(resolved_at=None).values_list("person__name", "kind")
        ),
        "unknown": JournalEntry.objects.owned_by(synced.owner).count(),
    }


@pytest.mark.split
@pytest.mark.parametrize("fault", FAULTS)
def test_outcome_equals_that_of_an_undisturbed_run(db: None, fault: str) -> None:
    synced = make_account_edited_on_both_sides()
    with restored_afterwards(synced):
        synced.sync()
        requests = len(synced.server.requests)
        expected = outcome(synced)
    assert requests >= 9
    assert (expected["conflicts"], expected["unknown"]) == ([("P3", "fields")], 0)
    for number in range(1 + FAULTS.index(fault) % EVERY, requests + 1, EVERY):
        with restored_afterwards(synced):
            synced.server.faults = {number: fault}
            with suppress(Killed):
                synced.sync()
            assert not synced.server.faults, number
            for _ in range(2):
                synced.sync()
            assert outcome(synced) == expected, (fault, number)
            synced.requests()
            assert counts(synced.sync()) == {}, (fault, number)
            assert synced.requests() == ["changes"], (fault, number)


def make_account_with_delayed_put() -> SyncedAccount:
    """An account whose person was edited after a run was killed while its PUT was under way."""
    synced = SyncedAccount(make_user(f"k{next(_numbers)}@example.org"))
    synced.sync()
    synced.api.ok("POST", "/api/people", {"name": "Ada", "organization": "Office"}, status=201)
    synced.requests()
    synced.server.faults = {2: "kill_sent"}
    with suppress(Killed):
        synced.sync()
    synced.edit(synced.person(), organization="Works")
    synced.requests()
    return synced


def sync_with_fault_and_late_card(synced: SyncedAccount, fault: str, number: int, arrival: str) -> None:
    """The next run has `fault` at request `number`; the card comes in before it, before the one after it, or last."""
    if arrival == "before":
        synced.server.deliver_delayed_puts()
    synced.server.faults = {number: fault}
    with suppress(Killed):
        synced.sync()
    synced.server.faults = {}
    if arrival == "between":
        synced.server.deliver_delayed_puts()
    synced.sync()
    synced.server.deliver_delayed_puts()


@pytest.mark.split
@pytest.mark.parametrize("fault", FAULTS)
def test_new_card_that_arrives_late_is_not_duplicated(db: None, fault: str) -> None:
    cases = [*itertools.product(range(1, 5), ("before", "between", "after"))]
    synced = make_account_with_delayed_put()
    for number, arrival in cases[(FAULTS.index(fault) + 1) % HALF :: HALF]:
        with restored_afterwards(synced):
            sync_with_fault_and_late_card(synced, fault, number, arrival)
            for _ in range(2):
                run = synced.sync()
                assert (run.code, run.error_messages) == ("", []), (number, arrival)
            [stored] = synced.server.cards.values()
            assert "ORG:Works" in stored.text, (number, arrival)
            assert synced.person().organization == "Works"
            synced.requests()
            assert counts(synced.sync()) == {}, (number, arrival)
            assert synced.requests() == ["changes"], (number, arrival)
            assert outcome(synced)["unknown"] == 0
            assert outcome(synced)["conflicts"] == []
