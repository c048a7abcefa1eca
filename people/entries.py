"""Entries of multi-value fields: their keys, and when two of them are the same (docs/entries.md). Pure.

`pair_entries` is the one comparison for bodies, merging people, importing into somebody, and the sync. It follows the
table of people.field_table.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import ascii_digits, case_key, fold, fold_domain, fold_email, nfc
from people import field_table
from people.countries import country_key
from people.field_table import Compare, DateKey, EntryKey
from people.phone_numbers import PhoneNumber, national_spellings, parse_phone

Entry = Mapping[str, Any]
Key = Callable[[Any], Hashable]

# The keys of an entry that a request body may contain, in the order of the response, after `id`.
ENTRY_KEYS: Mapping[str, tuple[str, ...]] = {
    field.column: tuple(key.name for key in field.keys if not key.read_only) for field in field_table.LISTS
}
# The keys that the geocoder adds to an address.
GEOCODED_KEYS = ("latitude", "longitude", "geocodeStatus")


def _text(value: object) -> Hashable:
    return nfc(ascii_digits(value)) if isinstance(value, str) else value


def _normalized_url(value: str) -> Hashable:
    """Without the case of scheme and host (RFC 3986, 6.2.2.1); http is https, and so is an address without a scheme; a
    slash at the end of the path is left out."""
    text = nfc(ascii_digits(value))
    try:
        parts = urlsplit(text)
        if not parts.scheme and not parts.netloc:
            parts = urlsplit(f"//{text}")  # an address typed without its scheme
        host = fold_domain(parts.hostname or "")
        port = parts.port
    except ValueError:
        return text
    user, at, _ = parts.netloc.rpartition("@")
    scheme = "https" if parts.scheme in {"", "http"} else parts.scheme
    return scheme, user + at, host, port, parts.path.removesuffix("/"), parts.query, parts.fragment


_NORMALIZERS: Mapping[Compare, Callable[[Any], Hashable]] = {
    Compare.TEXT: _text,
    Compare.SPACED: lambda value: " ".join(nfc(ascii_digits(value)).split()),
    Compare.CASELESS: lambda value: case_key(ascii_digits(value)),
    Compare.LENIENT: lambda value: fold(ascii_digits(value)),
    Compare.COUNTRY: country_key,
    Compare.PHONE: parse_phone,
    Compare.EMAIL: lambda value: fold_email(ascii_digits(value)),
    Compare.URL: _normalized_url,
    Compare.DEGREES: lambda value: round(float(value), 6),
    Compare.DAY: lambda value: str(value)[:10],
    Compare.ALONE: lambda value: value,
}


def normalize(value: object, compare: Compare) -> Hashable:
    """Equal for values that are the same; an empty text is the same as none."""
    text = value.strip() if isinstance(value, str) else value
    return None if text is None or text == "" else _NORMALIZERS[compare](text) or None


def is_same_value(field: field_table.PersonField, one: object, other: object) -> bool:
    """Whether two values of a single-valued field are the same."""
    if one == other:
        return True
    if isinstance(one, str) and isinstance(other, str):
        return normalize(one, field.compare) == normalize(other, field.compare)
    return not one and not other


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the entries of one field are compared; each function returns equal keys for entries that agree in it."""

    exact: Key
    """All keys, as they are spelled."""
    spelled: Key
    """The keys that say which entry it is, as they are spelled."""
    same: Key
    """The same keys as the table compares them."""
    kind: Key
    """Type and label."""
    compared: frozenset[str]
    """The names of these keys."""
    phone_key: str = ""
    """The key that holds a phone number, which may be written nationally or internationally."""

    @classmethod
    def of(cls, keys: Sequence[EntryKey] | Sequence[DateKey]) -> "Comparison":
        compared = [key for key in keys if key.compare is not Compare.NOT]
        kinds = [key.name for key in keys if key.classifies]
        alone = next((key.name for key in compared if key.compare is Compare.ALONE), None)
        pairs = [(key.name, key.compare) for key in compared if key.name != alone]
        phone = next((key.name for key in compared if key.compare is Compare.PHONE), "")

        def spelled(entry: Entry) -> Hashable:
            return tuple(entry.get(key.name) for key in compared)

        def same(entry: Entry) -> Hashable:
            if alone and entry.get(alone):
                return str(entry[alone])
            return tuple(normalize(entry.get(name), compare) for name, compare in pairs)

        names = [key.name for key in keys if not getattr(key, "read_only", False)]
        return cls(
            exact=lambda entry: tuple(entry.get(name) for name in names),
            spelled=spelled,
            same=same,
            kind=lambda entry: tuple(normalize(entry.get(name), Compare.CASELESS) for name in kinds),
            compared=frozenset(key.name for key in compared),
            phone_key=phone,
        )


_GROUP_KEYS = (EntryKey("name", compare=Compare.CASELESS, classifies=True),)
_RELATION_KEYS = (
    EntryKey("person", compare=Compare.TEXT, classifies=True),
    EntryKey("type", compare=Compare.CASELESS),
    *(EntryKey(name) for name in ("label", "inverse", "inverseLabel", "since", "until")),
)
RELATION_KEYS = tuple(key.name for key in _RELATION_KEYS)
"""The keys of a relationship between two people, as an entry of one of them: `person` identifies the other one."""
COMPARISONS: Mapping[str, Comparison] = {
    **{field.column: Comparison.of(field.keys) for field in field_table.LISTS},
    "important_dates": Comparison.of(field_table.CARD_DATE_KEYS),
    "categories": Comparison.of(_GROUP_KEYS),
    "relationships": Comparison.of(_RELATION_KEYS),
}
"""By the field of a card; important dates as entries of the keys of CARD_DATE_KEYS, categories (groups) of a `name`.

Relationships, which no card holds so, are compared by RELATION_KEYS."""


def pair_entries(
    field: str, new: Sequence[Entry], old: Sequence[Entry], *, by_id: bool = False, edits: bool = False
) -> list[int | None]:
    """For each new entry the index of the old entry that it is, or None. Each old entry is paired at most once.

    Exact equals are paired first, whatever their order, then those that the table calls the same; of several, one of
    the same type. With `by_id`, equal ids come before everything. With `edits`, `old` is a former state of `new`: at
    last an entry is paired with the only one left of its type and label, whose value it changes.
    """
    found: list[int | None] = [None] * len(new)
    if not old or not new:
        return found
    comparison, unpaired = COMPARISONS[field], dict(enumerate(old))
    kind, normalized = comparison.kind, dict[int, Hashable]()

    def same(entry: Entry) -> Hashable:
        """Kept, because it is asked twice for each entry, and takes longest."""
        if (number := id(entry)) not in normalized:
            normalized[number] = comparison.same(entry)
        return normalized[number]

    keys: list[Key] = [
        comparison.exact,
        comparison.spelled,
        lambda entry: (same(entry), kind(entry)),
        same,
    ]
    if by_id:
        keys.insert(0, lambda entry: entry.get("id") or object())
    for key in keys:
        _pair_by(key, new, unpaired, found)
        if not unpaired or None not in found:
            return found
    if comparison.phone_key:
        _pair_spellings(comparison.phone_key, new, old, unpaired, found)
    if edits and unpaired:
        _pair_by(kind, new, unpaired, found, only_one=True)
    return found


def is_same_part(field: str, name: str, one: Entry, other: Entry) -> bool:
    """Whether the key `name` has the same value in two entries: as it is spelled, or as a value that the table calls
    the same."""
    if one.get(name) == other.get(name):
        return True
    comparison = COMPARISONS[field]
    return name in comparison.compared and pair_entries(field, [{name: one[name]}], [{name: other[name]}]) == [0]


def _pair_by(
    key: Key, new: Sequence[Entry], unpaired: dict[int, Entry], found: list[int | None], *, only_one: bool = False
) -> None:
    """Pair entries with equal keys, the first ones first; with `only_one` only if one old entry has the key."""
    indexes: dict[Hashable, list[int]] = defaultdict(list)
    for index, entry in unpaired.items():
        indexes[key(entry)].append(index)
    for position, entry in enumerate(new):
        if found[position] is not None:
            continue
        candidates = indexes.get(key(entry))
        if candidates and (not only_one or len(candidates) == 1):
            matched = found[position] = candidates.pop(0)
            del unpaired[matched]


def _pair_spellings(
    name: str, new: Sequence[Entry], old: Sequence[Entry], unpaired: dict[int, Entry], found: list[int | None]
) -> None:
    """Pair a national number with the international one that it may stand for, if there is no other such number.

    All numbers of both lists count, so that joining the same lists again finds the same pairs: beside +43 151 1 and
    +49 151 1 it is not known which of them 0151 1 is.
    """
    old_numbers = [parse_phone(str(entry.get(name) or "")) for entry in old]
    new_numbers = [parse_phone(str(entry.get(name) or "")) for entry in new]
    meanings: dict[PhoneNumber, set[PhoneNumber]] = defaultdict(set)
    for number in {*old_numbers, *new_numbers}:
        for spelling in national_spellings(number) if number.is_international else ():
            meanings[spelling].add(number)

    def meaning(number: PhoneNumber) -> PhoneNumber:
        known = meanings.get(number, ())
        return next(iter(known)) if len(known) == 1 else number

    by_meaning: dict[tuple[PhoneNumber, bool], list[int]] = defaultdict(list)
    for index in unpaired:
        by_meaning[meaning(old_numbers[index]), old_numbers[index].is_international].append(index)
    for position, number in enumerate(new_numbers):
        # One of each: two national numbers with different digits are two, even if both may mean the same.
        candidates = by_meaning.get((meaning(number), not number.is_international))
        if found[position] is None and candidates:
            matched = found[position] = candidates.pop(0)
            del unpaired[matched]


def identify_entries(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[JsonObject]:
    """The entries as they are stored: with all keys, and the id of the stored entry that each one is (pair_entries).

    An address keeps its geocoding result as long as its text is the same.
    """
    given, known = list(entries), list(stored)
    found = pair_entries(field, given, known, by_id=True, edits=True)
    known_by_address = {address_values(old): old for old in known} if field == "addresses" else {}
    identified = []
    for entry, index in zip(given, found, strict=True):
        key = str(new_id()) if index is None else known[index]["id"]
        identified_entry = {"id": key, **{key: entry.get(key) for key in ENTRY_KEYS[field]}}
        if field == "addresses":
            geocoded = entry if "geocodeStatus" in entry else known_by_address.get(address_values(entry), {})
            identified_entry |= {key: geocoded.get(key) for key in GEOCODED_KEYS}
        identified.append(identified_entry)
    return identified


def address_values(entry: Entry) -> tuple[object, ...]:
    """The values of an address without its type."""
    return tuple(map(entry.get, ENTRY_KEYS["addresses"][1:]))


class _Day(Protocol):
    """An important date: a row, or the date of a card."""

    @property
    def type(self) -> str | None: ...


def date_entry(day: _Day) -> JsonObject:
    """An important date as an entry, by the JSON names of what a card holds of it; the day is a text."""
    entry = {key.name: getattr(day, key.column) for key in field_table.CARD_DATE_KEYS}
    return {**entry, "date": entry["date"].isoformat()}
