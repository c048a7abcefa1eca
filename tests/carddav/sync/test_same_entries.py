"""A person and a card that meet for the first time: each line of the table of docs/entries.md."""

from typing import Any

import pytest

from people import field_table
from people.vcard import read_card
from tests.carddav.sync.synced_account import SyncedAccount, counts
from tests.people.same_entries import DIFFERENT, SAME, Case, card_with

pytestmark = pytest.mark.sqlite_suffices


def meet(synced: SyncedAccount, case: Case) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The entries of the person before and after it met the card."""
    body = {"name": "Ada", case.field: [case.one]}
    person = synced.api.ok("POST", "/api/people", body, status=201)["person"]
    synced.server.edit("1.vcf", card_with(case.other, case.field, "Ada", person["uid"]))
    run = synced.sync()
    assert (run.code, run.conflicts, run.imported, run.errors) == ("", 0, 0, 0)
    after = synced.api.ok("GET", f"/api/people/{person['id']}")["person"]
    assert counts(synced.sync()) == {}
    return person[case.field], after[case.field]


def entries_on_server(synced: SyncedAccount, case: Case) -> int:
    [stored] = synced.server.cards.values()
    card, _ = read_card(stored.text)
    [attribute] = [field.card for field in field_table.FIELDS if field.name == case.field]
    return len(getattr(card, attribute))


@pytest.mark.parametrize("case", SAME, ids=str)
def test_each_side_keeps_its_spelling(synced: SyncedAccount, case: Case) -> None:
    before, after = meet(synced, case)
    assert before == after
    assert entries_on_server(synced, case) == 1


@pytest.mark.parametrize("case", DIFFERENT, ids=str)
def test_each_side_gets_the_others(synced: SyncedAccount, case: Case) -> None:
    before, after = meet(synced, case)
    assert len(after) == 2
    assert after[0]["id"] == before[0]["id"]
    assert entries_on_server(synced, case) == 2
