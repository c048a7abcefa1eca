"""The target field of each column of a table: as a CSV mapping says, else proposed by its name or its values."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import is_email, nfc
from contacts_project.kernel.texts import define_text
from people import field_table
from people.importing.sources.headers import FIELD_OF, KIND_OF, outlook_columns, split_name, thunderbird_targets
from people.importing.sources.tables import PHONE_PATTERN, CsvTable

IGNORE = "ignore"
#: The types of the columns of a birthday that is in three columns.
BIRTHDAY_PARTS = ("year", "month", "day")
_NOT_A_MAPPING = define_text("mapping_not_json", "This must be JSON: { column: field }.")
_NOT_AN_OBJECT = define_text("mapping_not_an_object", "This must be an object: { column: field }.")
_NOT_A_FIELD = define_text("not_a_field_name", "This must be the name of a field.")
_NO_SUCH_FIELD = define_text("no_such_field", "There is no field “%(field)s” to map to.")
_LONG_TYPE = define_text("mapping_type_too_long", "A type has at most %(limit)s characters.")
_NO_SUCH_COLUMN = define_text("no_such_column", "The file has no such column.")
EXTRA_FIELDS = ("birthday", "group", IGNORE)
FIELDS = frozenset({*field_table.MAPPING_NAMES, *EXTRA_FIELDS})
#: The multi-value field of a card and the key of its entry, by the name in a mapping.
ENTRIES: Mapping[str, tuple[str, str]] = {
    key.mapping: (field.card, key.name) for field in field_table.LISTS for key in field.keys if key.mapping
}
_MAX_KIND = 50
_PHONE_KINDS = frozenset({"mobile", "fax", "pager"})
# Yahoo's export names the numbers by their types alone. Its other columns are known by their words.
_YAHOO_COLUMNS = frozenset(("First", "Last", "Email", "Home", "Work", "Other"))
_URL = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
_OUTLOOK_FIELDS = {
    "First Name": "name",
    "Middle Name": "middleName",
    "Last Name": "surname",
    "Title": "prefix",
    "Suffix": "suffix",
    "Nickname": "nickname",
    "Given Yomi": "phoneticName",
    "Surname Yomi": "phoneticSurname",
    "Company": "organization",
    "Job Title": "jobTitle",
    "Gender": "gender",
    "Birthday": "birthday",
    "Anniversary": "anniversary",
    "Categories": "group",
    "Notes": "notes",
    "Web Page": "url",
    "Personal Web Page": "url:home",
    "Business Web Page": "url:work",
}
_EMAIL_COLUMN = re.compile(r"E-mail (?:([23]) )?Address")
_PHONE_COLUMN = re.compile(r"(.*?) ?(Phone|Fax)(?: [0-9])?")
_OTHER_PHONE_COLUMNS = frozenset({"Callback", "ISDN", "Pager", "Telex", "TTY/TDD Phone"})
_ADDRESS_COLUMN = re.compile(
    r"(Home|Business|Other) (?:Address )?"
    r"(Street|Street 2|Street 3|City|State|Postal Code|Country|Country/Region|PO Box)"
)
#: An address in one piece, which only counts if its parts are missing.
WHOLE_ADDRESS_COLUMN = re.compile(r"(?:Home|Business|Other) Address")
_ADDRESS_PARTS = {
    "City": "city",
    "State": "region",
    "Postal Code": "postalCode",
    "Country": "country",
    "Country/Region": "country",
}
_TYPE_NAMES = {"business": "work", "primary": "main", "company main": "company", "assistant's": "assistant"}
# Outlook fills these in for every contact, so that they contain nothing about the person.
_IGNORED_COLUMN = re.compile(
    r"E-mail (?:[23] )?(?:Type|Display Name)|Initials|Internet Free Busy|Directory Server|Priority|Sensitivity|Private"
)


class ColumnTarget(NamedTuple):
    """The target field of a column, and the type that its entries get, or an empty `kind`.

    An empty `field` means an unknown column: its values are left out with a warning. A birthday in three columns has
    the kinds BIRTHDAY_PARTS.
    """

    field: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.field}:{self.kind}" if self.kind else self.field or IGNORE


def parse_target(text: str) -> ColumnTarget:
    """The target that is written as in a mapping: a field, and its type after a colon."""
    field, _, kind = text.partition(":")
    return ColumnTarget(field.strip(), kind.strip())


def read_mapping(text: str, table: CsvTable) -> list[ColumnTarget]:
    """Return the target of each column: from `text`, the JSON of a mapping, else the proposed one.

    A key is a column name, or else the number of a column, counted from 1, or from 0 if one of the keys is 0. Raises
    FieldError.
    """
    targets = propose_targets(table)
    mapping = _parse_mapping(text)
    first = 0 if "0" in mapping and "0" not in table.names else 1
    columns = _ColumnFinder(table.names, first)
    for key, value in mapping.items():
        target = _parse_target(key, value)
        for index in columns.find(key):
            targets[index] = target
    return targets


def _parse_mapping(text: str) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        mapping = orjson.loads(text)
    except (ValueError, RecursionError):
        raise FieldError("mapping", _NOT_A_MAPPING) from None
    if not isinstance(mapping, dict):
        raise FieldError("mapping", _NOT_AN_OBJECT)
    return mapping


def _parse_target(key: str, value: object) -> ColumnTarget:
    if not isinstance(value, str):
        raise FieldError(f"mapping.{key}", _NOT_A_FIELD)
    name, _, kind = value.partition(":")
    if name.strip() not in FIELDS:
        raise FieldError(f"mapping.{key}", _NO_SUCH_FIELD.format(field=name.strip()[:60]))
    if len(kind.strip()) > _MAX_KIND:
        raise FieldError(f"mapping.{key}", _LONG_TYPE.format(limit=_MAX_KIND))
    return ColumnTarget(name.strip(), nfc(kind.strip()))


class _ColumnFinder:
    """Finds columns by their names in this or another case, or by their numbers, which begin with `first`."""

    def __init__(self, names: Sequence[str], first: int) -> None:
        self.count, self.first = len(names), first
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.by_folded: dict[str, list[int]] = defaultdict(list)
        for index, name in enumerate(names):
            self.by_name[name].append(index)
            self.by_folded[name.casefold()].append(index)

    def find(self, key: str) -> list[int]:
        header = nfc(" ".join(key.split()))
        if columns := self.by_name.get(header) or self.by_folded.get(header.casefold()):
            return columns
        if header.isascii() and header.isdigit() and len(header) < 5 and 0 <= int(header) - self.first < self.count:
            return [int(header) - self.first]
        raise FieldError(f"mapping.{key}", _NO_SUCH_COLUMN)


_YAHOO = {
    "Home": ColumnTarget("phone", "home"),
    "Work": ColumnTarget("phone", "work"),
    "Other": ColumnTarget("phone", "other"),
    "Primary": ColumnTarget("phone", "main"),
    "Yahoo! Phone": ColumnTarget("phone", "yahoo"),
    "Distribution Lists": ColumnTarget("group"),
}


def propose_targets(table: CsvTable) -> list[ColumnTarget]:
    """Propose the target of each column by its name, or by its values if the table has no header."""
    if (columns := outlook_columns(table.names)) is not None:
        return _fill_in([outlook_target(column) for column in columns], table.names, columns)
    if (named := thunderbird_targets(table.names)) is not None:
        return [parse_target(target) for target in named]
    targets = [_target_by_name(name) for name in table.names]
    if _YAHOO_COLUMNS.issubset(table.names):
        targets = [_YAHOO.get(name, target) for name, target in zip(table.names, targets, strict=True)]
    _resolve_kinds(targets, table)
    _resolve_names(targets)
    _resolve_birthdays(targets)
    _resolve_addresses(targets)
    if not table.has_header:
        for index, target in enumerate(targets):
            if not target.field:
                cells = [row.cells[index].strip() for row in table.sample if len(row.cells) > index]
                targets[index] = _target_by_values(cells)
        _assign_names(targets)
    return targets


def _fill_in(targets: Sequence[ColumnTarget], names: Sequence[str], columns: Sequence[str]) -> list[ColumnTarget]:
    """The targets of a product, and those by their names for columns that its table does not have."""
    return [
        _target_by_name(name) if not target.field and column == name else target
        for target, name, column in zip(targets, names, columns, strict=True)
    ]


def _resolve_kinds(targets: list[ColumnTarget], table: CsvTable) -> None:
    """A column whose name is a type alone (Home, Privat 2) has what its values are."""
    for index, target in enumerate(targets):
        if not target.field and (kinds := _kinds_of_name(table.names[index])) is not None:
            found = _target_by_values(row.cells[index].strip() for row in table.sample if len(row.cells) > index)
            if found.field:
                targets[index] = ColumnTarget(found.field, " ".join(filter(None, kinds)))


def _resolve_names(targets: list[ColumnTarget]) -> None:
    """A column `Name` beside a given name is the surname, beside both it is redundant; a display name may differ."""
    fields = {target.field for target in targets}
    both = {"name", "surname"}.issubset(fields)
    for index, target in enumerate(targets):
        if target.field == "display" and both:
            targets[index] = ColumnTarget("displayNameOverride")
        elif target.field in {"full", "display"}:
            targets[index] = ColumnTarget(IGNORE if both else "surname" if "name" in fields else "name")


def _resolve_birthdays(targets: list[ColumnTarget]) -> None:
    """Beside a year and a month of birth, a column `birthday` is the day of the month."""
    kinds = {target.kind for target in targets if target.field == "birthday"}
    if {"year", "month"}.issubset(kinds) and "day" not in kinds and ColumnTarget("birthday") in targets:
        targets[targets.index(ColumnTarget("birthday"))] = ColumnTarget("birthday", "day")


def _resolve_addresses(targets: list[ColumnTarget]) -> None:
    """A part of an address without a type belongs to the address that the column before it belongs to."""
    for index in range(1, len(targets)):
        before, target = targets[index - 1], targets[index]
        if not target.kind and all(one.field.startswith("address.") for one in (before, target)):
            targets[index] = ColumnTarget(target.field, before.kind)


def _assign_names(targets: list[ColumnTarget]) -> None:
    """Without a header, the first two columns without a target are the name and the surname."""
    free = [index for index, target in enumerate(targets) if not target.field]
    for index, field in zip(free, ("name", "surname"), strict=False):
        targets[index] = ColumnTarget(field)


def _target_by_name(name: str) -> ColumnTarget:
    if name in FIELDS:  # exact names of our own fields
        return ColumnTarget(name)
    words = split_name(name)
    kinds: list[str] = []
    while words:
        kind = _join_kinds(kinds)
        if (field := FIELD_OF.get("".join(words))) and not (kind and field not in ENTRIES):
            return parse_target(f"{field}:{kind}" if kind else field)
        kind_index = next((at for at in (0, -1) if words[at] in KIND_OF or words[at].isdigit()), None)
        if kind_index is None:
            return ColumnTarget()
        kinds.append(KIND_OF.get(words.pop(kind_index), ""))
    # Mobile, Mobil privat, Fax (geschäftlich): no word for a number, but only numbers have these types.
    return ColumnTarget() if _PHONE_KINDS.isdisjoint(kinds) else ColumnTarget("phone", _join_kinds(kinds))


def _join_kinds(kinds: Iterable[str]) -> str:
    """The types of a name as one, that of numbers behind: `work fax`."""
    return " ".join(sorted(dict.fromkeys(filter(None, kinds)), key=lambda kind: kind in _PHONE_KINDS))


def _kinds_of_name(name: str) -> list[str] | None:
    """The types in a name that consists of nothing else; None for others."""
    words = split_name(name)
    if not words or not all(word in KIND_OF or word.isdigit() for word in words):
        return None
    return [KIND_OF.get(word, "") for word in words]


def _target_by_values(values: Iterable[str]) -> ColumnTarget:
    filled = [value for value in values if value]
    for field, matches in (("email", is_email), ("url", _URL.fullmatch), ("phone", PHONE_PATTERN.fullmatch)):
        if filled and sum(bool(matches(value)) for value in filled) * 2 > len(filled):
            return ColumnTarget(field)
    return ColumnTarget()


def outlook_target(name: str) -> ColumnTarget:
    """The target of a column of Outlook by its English name, empty if there is none."""
    if field := _OUTLOOK_FIELDS.get(name):
        return parse_target(field)
    if _IGNORED_COLUMN.fullmatch(name):
        return ColumnTarget(IGNORE)
    if _EMAIL_COLUMN.fullmatch(name):
        return ColumnTarget("email")
    return _address_target(name) or _phone_target(name) or ColumnTarget()


def _address_target(name: str) -> ColumnTarget | None:
    if match := _ADDRESS_COLUMN.fullmatch(name):
        return ColumnTarget(f"address.{_ADDRESS_PARTS.get(match[2], 'street')}", _type_name(match[1]))
    if WHOLE_ADDRESS_COLUMN.fullmatch(name):
        return ColumnTarget("address.street", _type_name(name.removesuffix(" Address")))
    return None


def _phone_target(name: str) -> ColumnTarget | None:
    if name in _OTHER_PHONE_COLUMNS:
        return ColumnTarget("phone", name.lower())
    if match := _PHONE_COLUMN.fullmatch(name):
        kind = _type_name(match[1])
        return ColumnTarget("phone", f"{kind} fax".strip() if match[2] == "Fax" else kind)
    return None


def _type_name(text: str) -> str:
    return _TYPE_NAMES.get(text.lower(), text.lower())
