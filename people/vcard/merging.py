"""Puts what a card says on top of what is known already, so that nothing is lost and a second time changes nothing.

Two ways: `overwrite` for the same contact (same UID), where the card's word counts, and without it for what looks like
the same person, where one contradiction means that it is somebody else. Lists are unions either way.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from people.vcard.card import Card, CardDate, Entry
from people.vcard.lines import parse_line
from people.vcard.writing import VERSIONS, in_version

_SCALARS = (
    "name",
    "surname",
    "middle_name",
    "second_last_name",
    "nickname",
    "prefix",
    "suffix",
    "display_name",
    "organization",
    "job_title",
    "gender",
    "anniversary",
    "notes",
    "uid",
)


def _folded(*keys: str) -> Callable[[Entry], object]:
    return lambda entry: tuple(str(entry.get(key) or "").casefold() for key in keys)


def _digits(entry: Entry) -> object:
    number = str(entry["number"])
    return "".join(c for c in number if c.isdigit() or c == "+") or number.casefold()


#: What makes two entries of a field the same, whatever their type says.
ENTRY_KEYS: dict[str, Callable[[Entry], object]] = {
    "phone_numbers": _digits,
    "emails": _folded("email"),
    "addresses": _folded("streetLine1", "streetLine2", "locality", "region", "country", "postalCode"),
    "urls": _folded("url"),
    "im_handles": _folded("protocol", "handle"),
    "locations": lambda entry: (entry["latitude"], entry["longitude"]),
    "custom_fields": _folded("key", "value"),
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
    changes: dict[str, Any] = {**scalars, **lists}
    return replace(
        known,
        **changes,
        last_contact=max(filter(None, (known.last_contact, card.last_contact)), default=None),
        important_dates=dates,
        categories=_categories(known.categories, card.categories),
        extra=_extra(known.extra, card.extra, overwrite=overwrite),
    )


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


def _extra(known: tuple[str, ...], new: tuple[str, ...], *, overwrite: bool) -> tuple[str, ...]:
    """Lines of the same property are replaced by a newer card of the same contact, else they are added."""
    said = set(known)
    if not said.issuperset(new):
        said.update(spelling for line in known for spelling in _spellings(line))
    if said.issuperset(new):
        return known
    if overwrite:
        names = {parse_line(line).name for line in new}
        return (*(line for line in known if parse_line(line).name not in names), *new)
    have = {_bare(line) for line in said}
    taken = {line.partition(".")[0].lower() for line in known if parse_line(line).group}
    missing = [line for line in new if _bare(line) not in have]
    groups = {group for line in missing if (group := parse_line(line).group)}
    missing = [line for line in new if line in missing or parse_line(line).group in groups]
    return (*known, *(_regrouped(line, taken) for line in missing))


def _spellings(line: str) -> Iterator[str]:
    """How the line comes back from an export: vCard 2.1's own spelling is another one there."""
    for version in VERSIONS:
        if written := in_version(line, version):
            yield written.spelled()


def _bare(line: str) -> str:
    """The line without its item group, whose number means nothing."""
    group = parse_line(line).group
    return line[len(group) + 1 :] if group else line


def _regrouped(line: str, taken: set[str]) -> str:
    """The line in a group that no line known so far uses: the same for all lines of one group."""
    group = parse_line(line).group
    if not group or group.lower() not in taken:
        return line
    name = group
    while name.lower() in taken:
        name += "x"
    return f"{name}.{_bare(line)}"
