"""Merges a card into that of a person. Nothing is lost, and merging the same card again changes nothing.

With `overwrite`, for the same contact (same UID), values of the card replace those of the person. Without it, for a
card that looks like the same person, a different value means that it is another person. Multi-value fields become
unions: of two entries that are the same (docs/entries.md), the person's stays as it is. What exceeds the limits of a
person, as many cards of one person together may do, is kept unseen as lines of the card, as far as they fit.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.text_forms import case_key, nfc
from people import field_table
from people.entries import date_entry, is_same_value, pair_entries
from people.vcard.card import ENTRY_FIELDS, LIST_FIELDS, Card, CardDate, CardLine, Entry
from people.vcard.content_lines import parse_line
from people.vcard.limits import MAX_ENTRIES, CardLimits
from people.vcard.line_merge import as_entry, entry_key, missing_lines
from people.vcard.versions import VERSIONS, canonical_key
from people.vcard.writer import card_lines

# Of the last contact the later date counts; see merge_cards.
_SCALARS = tuple(field for field in field_table.CARD_SCALARS if field.card != "last_contact")


def merge_cards(stored: Card, card: Card, *, overwrite: bool) -> Card | None:
    """`stored` with everything that `card` adds, but the photo; None if they contradict each other."""
    scalars: dict[str, object] = {}
    for field in _SCALARS:
        old, new = getattr(stored, field.card), getattr(card, field.card)
        if not old or (new and not is_same_value(field, old, new)):
            if old and not overwrite:
                return None
            old = new or old
        scalars[field.card] = old
    dates = _merge_dates(stored.important_dates, card.important_dates, overwrite=overwrite)
    if dates is None:
        return None
    lists = {field: _merge_entries(field, getattr(stored, field), getattr(card, field)) for field in LIST_FIELDS}
    stored_names = {case_key(name) for name in stored.categories}
    merged: dict[str, Any] = {
        **scalars,
        **lists,
        "last_contact": max(filter(None, (stored.last_contact, card.last_contact)), default=None),
        "important_dates": dates,
        "categories": (*stored.categories, *(name for name in card.categories if case_key(name) not in stored_names)),
    }
    return replace(stored, **merged, lines=_merge_lines(stored, card, merged, overwrite=overwrite))


def _merge_entries(field: str, stored: tuple[Entry, ...], new: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The union of entries, stored ones first and as they are, up to the limit of a field."""
    pairs = pair_entries(field, new, stored)
    added = [entry for entry, index in zip(new, pairs, strict=True) if index is None]
    return (*stored, *added[: max(0, MAX_ENTRIES - len(stored))])


def fields_beyond_limit(merged: Card, card: Card) -> list[str]:
    """The multi-value fields with entries of `card` for which `merged` had no room."""
    full = (field for field in LIST_FIELDS if len(getattr(merged, field)) >= MAX_ENTRIES)
    return [field for field in full if None in pair_entries(field, getattr(card, field), getattr(merged, field))]


def _merge_dates(
    stored: tuple[CardDate, ...], new: tuple[CardDate, ...], *, overwrite: bool
) -> tuple[CardDate, ...] | None:
    """The union of dates; with `overwrite` a date of a predefined type takes the card's day. None if they contradict
    each other."""
    result = list(stored)
    pairs = pair_entries("important_dates", [date_entry(day) for day in new], [date_entry(day) for day in stored])
    for day, index in zip(new, pairs, strict=True):
        if index is None and (day.type or len(result) < MAX_ENTRIES):
            result.append(day)
        elif index is None:
            continue
        elif (day.date, day.year_unknown) != (stored[index].date, stored[index].year_unknown):
            if not overwrite:
                return None
            result[index] = day
    return tuple(result)


def _merge_lines(stored: Card, card: Card, merged: JsonMapping, *, overwrite: bool) -> tuple[CardLine, ...]:
    """The lines of both, those of `card` first with `overwrite`. Unchanged if the lines of `card` add nothing.

    That keeps an exported card from changing the person when it is imported again.
    """
    stored_lines, new_lines = stored.lines, tuple(_with_entry_or_unseen(kept, merged) for kept in card.lines)
    if not new_lines or _contains_all_lines(stored, merged["uid"], new_lines):
        return stored_lines
    stored_lines = tuple(_with_merged_entry(kept, merged) for kept in stored_lines)
    if overwrite:
        lines = (*new_lines, *missing_lines(new_lines, stored_lines, by_name=True))
    else:
        lines = (*stored_lines, *missing_lines(stored_lines, new_lines))
    return CardLimits([]).limit_lines(lines)


def _with_entry_or_unseen(kept: CardLine, merged: JsonMapping) -> CardLine:
    """`_with_merged_entry`, or a line that sets no field if there was no room for its entry."""
    with_entry = _with_merged_entry(kept, merged)
    return CardLine(kept.text) if kept.entry is not None and with_entry.entry is None else with_entry


def _with_merged_entry(kept: CardLine, merged: JsonMapping) -> CardLine:
    """The line with its entry replaced by the merged entry that is the same."""
    if kept.entry is None:
        return kept
    field = next((field for field in kept.fields if field in ENTRY_FIELDS), None)
    if field is None or kept.entry in merged[field]:
        return kept
    [index] = pair_entries(field, [as_entry(kept.entry)], [as_entry(entry) for entry in merged[field]])
    return replace(kept, entry=None if index is None else merged[field][index])


def _whole_line_key(kept: CardLine) -> Hashable:
    return nfc(kept.text), kept.fields, None if kept.entry is None else entry_key(kept.entry)


def _contains_all_lines(stored: Card, uid: str | None, new_lines: Sequence[CardLine]) -> bool:
    """Whether `stored` has each of the lines, with the same text or as an export in any version would write it.

    `uid` is the UID of the merged card.
    """
    stored_keys = set(map(_whole_line_key, stored.lines))
    others = [kept for kept in new_lines if _whole_line_key(kept) not in stored_keys]
    if not others:
        return True
    as_exported = replace(stored, uid=uid)
    exported_keys = {canonical_key(line) for version in VERSIONS for line in card_lines(as_exported, version)}
    has_photo = any("photo" in kept.fields for kept in stored.lines)
    return all(
        (has_photo and "photo" in kept.fields) or canonical_key(parse_line(kept.text)) in exported_keys
        for kept in others
    )
