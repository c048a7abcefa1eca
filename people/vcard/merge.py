"""Puts what a card says on top of what is known already, so that nothing is lost and a second time changes nothing.

Two ways: `overwrite` for the same contact (same UID), where the card's word counts, and without it for what looks like
the same person, where one contradiction means that it is somebody else. Lists are unions either way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from people import field_table
from people.vcard.card import Card, CardDate, Entry, KeptLine
from people.vcard.content_lines import parse_line
from people.vcard.line_merge import ENTRY_FIELDS, missing_lines
from people.vcard.versions import VERSIONS, canonical
from people.vcard.writer import card_lines

# The last contact is the later one of both.
_SCALARS = tuple(field.card for field in field_table.CARD_SCALARS if field.card != "last_contact")


def _folded(*keys: str) -> Callable[[Entry], object]:
    return lambda entry: tuple(str(entry.get(key) or "").casefold() for key in keys)


def _digits(entry: Entry) -> object:
    number = str(entry["number"])
    return "".join(c for c in number if c.isdigit() or c == "+") or number.casefold()


#: What makes two entries of a field the same, whatever their type says.
ENTRY_KEYS: dict[str, Callable[[Entry], object]] = {
    **{
        field.card: _folded(*(key.name for key in field.keys if key.name != "type" and not key.read_only))
        for field in field_table.LISTS
    },
    "phone_numbers": _digits,
    "locations": lambda entry: (entry["latitude"], entry["longitude"]),
}


def merge_cards(known: Card, card: Card, *, overwrite: bool) -> Card | None:
    """`known` with everything that `card` adds; None when they contradict each other. The photo is left alone."""
    scalars: dict[str, object] = {}
    for field in _SCALARS:
        old, new = getattr(known, field), getattr(card, field)
        if not overwrite and new and old and new != old:
            return None
        scalars[field] = new or old
    dates = _dates(known.important_dates, card.important_dates, overwrite=overwrite)
    if dates is None:
        return None
    lists = {
        field: _entries(key, getattr(known, field), getattr(card, field), overwrite=overwrite)
        for field, key in ENTRY_KEYS.items()
    }
    merged: dict[str, Any] = {
        **scalars,
        **lists,
        "last_contact": max(filter(None, (known.last_contact, card.last_contact)), default=None),
        "important_dates": dates,
        "categories": _categories(known.categories, card.categories),
    }
    return replace(known, **merged, lines=_lines(known, card, merged, overwrite=overwrite))


def _entries(
    key: Callable[[Entry], object], known: tuple[Entry, ...], new: tuple[Entry, ...], *, overwrite: bool
) -> tuple[Entry, ...]:
    """The union, in the order known first. A card of the same contact may say of what type a value is now."""
    result = list(known)
    said = {(key(entry), entry["type"]) for entry in new}
    for entry in new:
        places = [place for place, old in enumerate(result) if key(old) == key(entry)]
        if any(result[place]["type"] == entry["type"] for place in places):
            continue
        retyped = [place for place in places if (key(entry), result[place]["type"]) not in said]
        if not places:
            result.append(entry)
        elif overwrite and retyped:
            result[retyped[0]] = entry
        elif overwrite:
            result.append(entry)
    return tuple(result)


def _dates(known: tuple[CardDate, ...], new: tuple[CardDate, ...], *, overwrite: bool) -> tuple[CardDate, ...] | None:
    """A predefined type stands once; any other date is told by its title and day."""
    result = list(known)
    for day in new:
        if day.type is None:
            if not any(_same_day(day, old) and old.type is None for old in result):
                result.append(day)
            continue
        place = next((place for place, old in enumerate(result) if old.type == day.type), None)
        if place is None:
            result.append(day)
        elif not _same_day(day, result[place]):
            if not overwrite:
                return None
            result[place] = day
    return tuple(result)


def _same_day(one: CardDate, other: CardDate) -> bool:
    same_title = one.type is not None or (one.title or "").casefold() == (other.title or "").casefold()
    return same_title and (one.date, one.year_unknown) == (other.date, other.year_unknown)


def _categories(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    names = {name.casefold() for name in known}
    return (*known, *(name for name in new if name.casefold() not in names))


def _lines(known: Card, card: Card, merged: Mapping[str, Any], *, overwrite: bool) -> tuple[KeptLine, ...]:
    """Those of both, the newer ones first where they count. What says nothing new leaves them as they are."""
    mine, theirs = known.lines, tuple(_rebind(kept, merged) for kept in card.lines)
    if not theirs or _covers_all_lines(known, merged["uid"], theirs):
        return mine
    mine = tuple(_rebind(kept, merged) for kept in mine)
    if overwrite:
        return (*theirs, *missing_lines(theirs, mine, by_name=True))
    return (*mine, *missing_lines(mine, theirs))


def _rebind(kept: KeptLine, merged: Mapping[str, Any]) -> KeptLine:
    """The line with the entry among the `merged` ones, by field, that is the one it holds."""
    if kept.entry is None:
        return kept
    field = next((field for field in kept.fields if field in ENTRY_FIELDS), None)
    if field is None or kept.entry in merged[field]:
        return kept
    same = same_key(field)
    return replace(kept, entry=next((e for e in merged[field] if same(e) == same(kept.entry)), None))


def same_key(field: str) -> Callable[[Any], Any]:
    """What makes two entries of a field, or two dates, the same."""
    return ENTRY_KEYS.get(field, _date_key)


def _date_key(day: Any) -> object:
    return day.type or ((day.title or "").casefold(), day.date, day.year_unknown)


def _covers_all_lines(known: Card, uid: str | None, theirs: Sequence[KeptLine]) -> bool:
    """Whether what is known, with this UID, says each of the lines, letter for letter or as an export spells it."""
    there: dict[str, list[KeptLine]] = {}
    for kept in known.lines:
        there.setdefault(kept.text, []).append(kept)
    others = [kept for kept in theirs if kept not in there.get(kept.text, ())]
    if not others:
        return True
    as_exported = replace(known, uid=uid)
    spelled = {canonical(line) for version in VERSIONS for line in card_lines(as_exported, version)}
    has_photo = any("photo" in kept.fields for kept in known.lines)
    return all((has_photo and "photo" in kept.fields) or canonical(parse_line(kept.text)) in spelled for kept in others)
