"""Merging a card into a known one: nothing is lost, and a second merge changes nothing."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people.entries import pair_entries
from people.vcard import Card, CardDate
from people.vcard.card import LIST_FIELDS
from people.vcard.merge import merge_cards
from tests.people.vcard.lines import card_lines
from tests.people.vcard.test_round_trip import CARDS

BIRTHDAY = CardDate(date=dt.date(2000, 1, 1), type="BIRTHDAY")
EXTRA = ("item1.X-ABRELATEDNAMES:Jenny", "item1.X-ABLabel:Spouse")


def phone(number: str, kind: str = "home") -> dict[str, Any]:
    return {"type": kind, "number": number}


@pytest.mark.parametrize("overwrite", [True, False])
@given(known=CARDS, card=CARDS, same_name=st.booleans())
def test_second_merge_changes_nothing(overwrite: bool, known: Card, card: Card, same_name: bool) -> None:
    card = replace(card, name=known.name) if same_name else card
    once = merge_cards(known, card, overwrite=overwrite)
    if once is None:
        assert not overwrite
        return
    assert merge_cards(once, card, overwrite=overwrite) == once
    for field in LIST_FIELDS:
        merged = getattr(once, field)
        assert merged[: len(getattr(known, field))] == getattr(known, field)
        assert None not in pair_entries(field, getattr(card, field), merged)


@pytest.mark.parametrize("overwrite", [True, False])
@given(card=CARDS)
def test_merging_a_card_with_itself_changes_nothing(overwrite: bool, card: Card) -> None:
    assert merge_cards(card, card, overwrite=overwrite) == card


def test_contradicting_card_is_not_merged_unless_it_is_the_same_contact() -> None:
    known, card = Card(name="Ada", job_title="Analyst"), Card(name="Ada", job_title="Baker")
    assert merge_cards(known, card, overwrite=False) is None
    assert merge_cards(known, card, overwrite=True) == card


def test_different_dates_are_a_contradiction() -> None:
    known = Card(name="Ada", important_dates=(BIRTHDAY,))
    card = Card(name="Ada", important_dates=(replace(BIRTHDAY, date=dt.date(2000, 1, 2)),))
    assert merge_cards(known, card, overwrite=False) is None
    assert merge_cards(known, card, overwrite=True) == card


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_entry_that_is_known_keeps_its_spelling_and_type(overwrite: bool) -> None:
    known, card = Card(phone_numbers=(phone("+1 2"),)), Card(phone_numbers=(phone("+12", "work"),))
    merged = merge_cards(known, card, overwrite=overwrite)
    assert merged
    assert merged.phone_numbers == known.phone_numbers


def test_groups_of_kept_lines_do_not_collide() -> None:
    known, card = Card(lines=card_lines("item1.X-FOO:1", "item1.X-ABLabel:Foo")), Card(lines=card_lines(*EXTRA))
    merged = merge_cards(known, card, overwrite=False)
    assert merged
    moved = card_lines("item1x1.X-ABRELATEDNAMES:Jenny", "item1x1.X-ABLabel:Spouse")
    assert merged.lines == (*known.lines, *moved)
    assert merge_cards(merged, card, overwrite=False) == merged
