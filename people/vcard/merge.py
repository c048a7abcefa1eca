"""Merges a card into what is known of a person. Nothing is lost, and merging the same card again changes nothing.

With `overwrite`, for the same contact (same UID), values of the card replace known ones. Without it, for a card that
looks like the same person, a different value means that it is another person. Multi-value fields become unions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from people import field_table
from people.vcard.card import ENTRY_FIELDS, Card, CardDate, Entry, KeptLine
from people.vcard.content_lines import parse_line
from people.vcard.line_merge import missing_lines
from people.vcard.versions import VERSIONS, canonical_key
from people.vcard.writer import card_lines

# Of the last contact the later date counts; see merge_cards.
_SCALARS = tuple(field.card for field in field_table.CARD_SCALARS if field.card != "last_contact")


def _casefold_key(*keys: str) -> Callable[[Entry], object]:
    return lambda entry: tuple(str(entry.get(key) or "").casefold() for key in keys)


def _phone_key(entry: Entry) -> object:
    number = str(entry["number"])
    return "".join(c for c in number if c.isdigit() or c == "+") or number.casefold()


#: For each multi-value field the key by which two entries are the same; the type is not part of it.
ENTRY_MATCH_KEYS: dict[str, Callable[[Entry], object]] = {
    **{
        field.card: _casefold_key(*(key.name for key in field.keys if key.name != "type" and not key.read_only))
        for field in field_table.LISTS
    },
    "phone_numbers": _phone_key,
    "locations": lambda entry: (entry["latitude"], entry["longitude"]),
}


def merge_cards(known: Card, card: Card, *, overwrite: bool) -> Card | None:
    """`known` with everything that `card` adds; None if they contradict each other. The photo stays that of `known`."""
    scalars: dict[str, object] = {}
    for field in _SCALARS:
        old, new = getattr(known, field), getattr(card, field)
        if not overwrite and new and old and new != old:
            return None
        scalars[field] = new or old
    dates = _merge_dates(known.important_dates, card.important_dates, overwrite=overwrite)
    if dates is None:
        return None
    lists = {
        field: _merge_entries(key, getattr(known, field), getattr(card, field), overwrite=overwrite)
        for field, key in ENTRY_MATCH_KEYS.items()
    }
    known_names = {name.casefold() for name in known.categories}
    merged: dict[str, Any] = {
        **scalars,
        **lists,
        "last_contact": max(filter(None, (known.last_contact, card.last_contact)), default=None),
        "important_dates": dates,
        "categories": (*known.categories, *(name for name in card.categories if name.casefold() not in known_names)),
    }
    return replace(known, **merged, lines=_merge_lines(known, card, merged, overwrite=overwrite))


def _merge_entries(
    key: Callable[[Entry], object], known: tuple[Entry, ...], new: tuple[Entry, ...], *, overwrite: bool
) -> tuple[Entry, ...]:
    """The union of entries, known ones first. With `overwrite`, an entry of the card may change the type of a value."""
    result = list(known)
    new_values = {(key(entry), entry["type"]) for entry in new}
    for entry in new:
        indexes = [index for index, old in enumerate(result) if key(old) == key(entry)]
        if any(result[index]["type"] == entry["type"] for index in indexes):
            continue
        # Known entries with a type that the card does not list for this value: their type was changed.
        retyped = [index for index in indexes if (key(entry), result[index]["type"]) not in new_values]
        if not indexes:
            result.append(entry)
        elif overwrite and retyped:
            result[retyped[0]] = entry
        elif overwrite:
            result.append(entry)
    return tuple(result)


def _merge_dates(
    known: tuple[CardDate, ...], new: tuple[CardDate, ...], *, overwrite: bool
) -> tuple[CardDate, ...] | None:
    """The union of dates, None if they contradict each other. A person has each predefined type once.

    Dates of no type are the same if title and day are.
    """
    result = list(known)
    for day in new:
        if day.type is None:
            if not any(_same_day(day, old) and old.type is None for old in result):
                result.append(day)
            continue
        index = next((index for index, old in enumerate(result) if old.type == day.type), None)
        if index is None:
            result.append(day)
        elif not _same_day(day, result[index]):
            if not overwrite:
                return None
            result[index] = day
    return tuple(result)


def _same_day(one: CardDate, other: CardDate) -> bool:
    same_title = one.type is not None or (one.title or "").casefold() == (other.title or "").casefold()
    return same_title and (one.date, one.year_unknown) == (other.date, other.year_unknown)


def _merge_lines(known: Card, card: Card, merged: Mapping[str, Any], *, overwrite: bool) -> tuple[KeptLine, ...]:
    """The lines of both, those of `card` first with `overwrite`. Unchanged if the lines of `card` add nothing.

    That keeps an exported card from changing the person when it is imported again.
    """
    known_lines, new_lines = known.lines, tuple(_with_merged_entry(kept, merged) for kept in card.lines)
    if not new_lines or _contains_all_lines(known, merged["uid"], new_lines):
        return known_lines
    known_lines = tuple(_with_merged_entry(kept, merged) for kept in known_lines)
    if overwrite:
        return (*new_lines, *missing_lines(new_lines, known_lines, by_name=True))
    return (*known_lines, *missing_lines(known_lines, new_lines))


def _with_merged_entry(kept: KeptLine, merged: Mapping[str, Any]) -> KeptLine:
    """The line with its entry replaced by the merged entry that is the same."""
    if kept.entry is None:
        return kept
    field = next((field for field in kept.fields if field in ENTRY_FIELDS), None)
    if field is None or kept.entry in merged[field]:
        return kept
    same = entry_matcher(field)
    return replace(kept, entry=next((e for e in merged[field] if same(e) == same(kept.entry)), None))


def entry_matcher(field: str) -> Callable[[Any], Any]:
    """A function that returns equal keys for entries of the field, or dates, that are the same."""
    return ENTRY_MATCH_KEYS.get(field, _date_key)


def _date_key(day: Any) -> object:
    return day.type or ((day.title or "").casefold(), day.date, day.year_unknown)


def _contains_all_lines(known: Card, uid: str | None, new_lines: Sequence[KeptLine]) -> bool:
    """Whether `known` has each of the lines, with the same text or as an export in any version would write it.

    `uid` is the UID of the merged card.
    """
    known_by_text: dict[str, list[KeptLine]] = {}
    for kept in known.lines:
        known_by_text.setdefault(kept.text, []).append(kept)
    others = [kept for kept in new_lines if kept not in known_by_text.get(kept.text, ())]
    if not others:
        return True
    as_exported = replace(known, uid=uid)
    exported_keys = {canonical_key(line) for version in VERSIONS for line in card_lines(as_exported, version)}
    has_photo = any("photo" in kept.fields for kept in known.lines)
    return all(
        (has_photo and "photo" in kept.fields) or canonical_key(parse_line(kept.text)) in exported_keys
        for kept in others
    )
