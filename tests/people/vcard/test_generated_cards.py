"""Writing any generated card loses nothing, and an edit changes nothing but the edited entry."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people.vcard import Card, patch_card, read_cards, write_card
from people.vcard.card import LIST_FIELDS
from tests.people.vcard.generated_cards import cards
from tests.people.vcard.lines import replace_entry, without_lines
from tests.people.vcard.lost_properties import find_lost_properties, parse_properties
from tests.rounds import rounds

GENERATED_EXAMPLES = settings(max_examples=rounds(30), deadline=None)


def parse_card(data: bytes) -> Card:
    [result] = read_cards(data)
    assert result.card, result.error
    return result.card


@pytest.mark.parametrize("version", ["3.0", "4.0"])
@GENERATED_EXAMPLES
@given(data=cards())
def test_writing_a_card_loses_nothing(version: str, data: bytes) -> None:
    card = parse_card(data)
    written = write_card(card, version).encode()
    assert find_lost_properties(data, written) == []
    assert without_lines(parse_card(written)) == without_lines(card)


@GENERATED_EXAMPLES
@given(data=cards())
def test_a_patch_without_a_change_is_the_text_itself(data: bytes) -> None:
    text = data.decode()
    assert patch_card(text, parse_card(data), revised="20300101T000000Z") == text


VALUES: dict[str, tuple[str, list[Any]]] = {
    "phone_numbers": ("number", ["+44 99", "+1-555-9"]),
    "emails": ("email", ["new@example.org"]),
    "addresses": ("locality", ["Newtown; a, b"]),
    "urls": ("url", ["http://new.example.org/a,b;c"]),
    "im_handles": ("handle", ["new handle"]),
    "locations": ("latitude", [7.25]),
    "custom_fields": ("value", ["new, value"]),
}


@st.composite
def edits(draw: Any, card: Card) -> tuple[str, Any, Any]:
    """(field, one of its entries, the new entry), which has another value or another type, or is None."""
    field = draw(st.sampled_from([field for field in LIST_FIELDS if getattr(card, field)]))
    old = draw(st.sampled_from(getattr(card, field)))
    key, values = VALUES[field]
    edit = draw(st.sampled_from(["value", "type", "removal"]))
    if edit == "removal":
        return field, old, None
    if edit == "type":
        return field, old, {**old, "type": draw(st.sampled_from(["home", "work cell", "Summer house", "other"]))}
    return field, old, {**old, key: draw(st.sampled_from(values))}


@GENERATED_EXAMPLES
@given(data=cards(), choices=st.data())
def test_an_edit_changes_what_was_edited(data: bytes, choices: Any) -> None:
    edited = parse_card(data)
    count, removed = 0, False
    for _ in range(choices.draw(st.integers(1, 3))):
        if any(getattr(edited, field) for field in LIST_FIELDS):
            field, old, new = choices.draw(edits(edited))
            count += sum(kept.entry == old for kept in edited.lines)
            removed = removed or new is None
            edited = replace_entry(edited, field, old, new) if new not in getattr(edited, field) else edited
    version = choices.draw(st.sampled_from(["3.0", "4.0"]))
    written = write_card(edited, version).encode()
    assert _in_any_order(parse_card(written)) == _in_any_order(edited)
    _check_losses(data, written, count, removed=removed)
    patched = patch_card(data.decode(), edited)
    assert _in_any_order(parse_card(patched.encode())) == _in_any_order(edited)
    left = [line for line in data.decode().split("\r\n") if line not in patched.split("\r\n")]
    assert len([line for line in left if "X-ABLabel" not in line]) <= count


def _in_any_order(card: Card) -> Card:
    """Preferred entries are parsed first, and another entry may already have the new value."""
    changes: dict[str, Any] = {field: sorted(map(repr, getattr(card, field))) for field in LIST_FIELDS}
    return replace(without_lines(card), **changes)


def _check_losses(before: bytes, after: bytes, count: int, *, removed: bool) -> None:
    """Only the edited lines and their labels differ, and an edited line keeps its parameters."""
    old, new = parse_properties(before), parse_properties(after)
    missing = [prop for prop in old if prop not in new]
    changed = [prop for prop in missing if prop.name != "X-ABLABEL"]
    assert len(changed) <= count
    for prop in () if removed else changed:
        kept = {param for param in prop.params if param[0] not in {"TYPE", "VALUE"}}
        assert any(kept <= other.params for other in new if other not in old), (prop, after)


NEW_TEXTS = st.sampled_from(["New; text, here", "Ada", "x"])
NEW_VALUES = {
    "surname": NEW_TEXTS | st.none(),
    "name": NEW_TEXTS,
    "middle_name": NEW_TEXTS | st.none(),
    "prefix": NEW_TEXTS | st.none(),
    "suffix": NEW_TEXTS | st.none(),
    "second_last_name": NEW_TEXTS,
    "nickname": NEW_TEXTS,
    "display_name": NEW_TEXTS | st.none(),
    "organization": NEW_TEXTS,
    "job_title": NEW_TEXTS,
    "gender": NEW_TEXTS | st.just("F"),
    "notes": NEW_TEXTS | st.just("Two\n\nparagraphs"),
    "uid": st.just("urn:uuid:2"),
    "anniversary": st.just(dt.date(2011, 2, 3)),
    "last_contact": st.just(dt.date(2012, 2, 3)),
    "categories": st.sampled_from([(), ("New, group",)]),
}


@GENERATED_EXAMPLES
@given(data=cards(), choices=st.data())
def test_edit_of_a_single_valued_field_changes_nothing_else(data: bytes, choices: Any) -> None:
    card = parse_card(data)
    field = choices.draw(st.sampled_from(sorted(NEW_VALUES)))
    edited = replace(card, **{field: choices.draw(NEW_VALUES[field])})
    version = choices.draw(st.sampled_from(["3.0", "4.0"]))
    assert without_lines(parse_card(write_card(edited, version).encode())) == without_lines(edited)
    if field != "uid":  # a UID that is missing is no reason to write
        assert without_lines(parse_card(patch_card(data.decode(), edited).encode())) == without_lines(edited)


@GENERATED_EXAMPLES
@given(data=cards(), choices=st.data())
def test_date_is_moved_renamed_or_removed(data: bytes, choices: Any) -> None:
    card = parse_card(data)
    if not card.important_dates:
        return
    old = choices.draw(st.sampled_from(card.important_dates))
    moved = replace(old, date=dt.date(1604, 7, 8), year_unknown=True)
    titled = replace(old, type=None, title="Name day; other")
    new = choices.draw(
        st.sampled_from([None, moved, replace(old, date=dt.date(2001, 2, 3), year_unknown=False), titled])
    )
    edited = replace_entry(card, "important_dates", old, new)
    for text in (write_card(edited, "3.0"), write_card(edited, "4.0"), patch_card(data.decode(), edited)):
        assert set(parse_card(text.encode()).important_dates) == set(edited.important_dates)
