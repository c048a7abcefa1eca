"""Google Contacts' CSV: the old columns (`Given Name`, `Group Membership`) and the new (`First Name`, `Labels`)."""

import datetime as dt
import re
from typing import BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.importing.sources.columns import split_cell
from people.importing.sources.drafts import TEXT_FIELDS, Draft
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import Row, Table, open_table
from people.importing.sources.targets import Target

_SEPARATOR = ":::"
_NUMBERED = re.compile(
    r"(E-mail|Phone|Address|Website|IM|Event|Relation|Custom Field|Organization) ([0-9]{1,3}) - (.+)"
)
_TEXTS = {
    "Given Name": "name",
    "First Name": "name",
    "Additional Name": "middle_name",
    "Middle Name": "middle_name",
    "Family Name": "surname",
    "Last Name": "surname",
    "Name Prefix": "prefix",
    "Name Suffix": "suffix",
    "Nickname": "nickname",
    "Gender": "gender",
    "Notes": "notes",
    "Organization Name": "organization",
    "Organization Title": "job_title",
}
_PHONETIC = {
    "Given Name Yomi": "phoneticName",
    "Phonetic First Name": "phoneticName",
    "Family Name Yomi": "phoneticSurname",
    "Phonetic Last Name": "phoneticSurname",
}
_GROUPS = frozenset({"Group Membership", "Labels"})
_FULL = frozenset({"Name", "File As"})
_ADDRESS_KEYS = {
    "Street": "streetLine1",
    "Extended Address": "streetLine2",
    "City": "locality",
    "Region": "region",
    "Postal Code": "postalCode",
    "Country": "country",
}
_KINDS = {"cell": "mobile", "workfax": "work fax", "homefax": "home fax"}
_BIRTHDAY, _ANNIVERSARY = "birthday", "anniversary"


class GoogleSheet(Sheet):
    """`numbered` contains the kind, number and part of each numbered column (`E-mail 1 - Value`), by its index."""

    def __init__(self, owner: User, table: Table, now: dt.datetime) -> None:
        super().__init__(owner, table, [Target("birthday" if name == "Birthday" else "") for name in table.names], now)
        self.numbered = {
            place: (match[1], match[2], match[3])
            for place, name in enumerate(table.names)
            if (match := _NUMBERED.fullmatch(name))
        }

    def fill(self, draft: Draft, row: Row) -> None:
        sets: dict[tuple[str, str], dict[str, str]] = {}
        for place, cell in enumerate(row.cells):
            if not cell.strip():
                continue
            if place >= len(self.table.names):
                draft.warn(f"“{cell.strip()[:60]}” stands beyond the last column and was left out")
            elif found := self.numbered.get(place):
                kind, number, part = found
                sets.setdefault((kind, number), {})[part] = cell
            else:
                _put(draft, self.table.names[place], cell)
        for (kind, _), parts in sets.items():
            _SETS[kind](draft, _label(parts), parts)


def _put(draft: Draft, name: str, cell: str) -> None:
    if name in _TEXTS:
        draft.set_text(_TEXTS[name], cell)
    elif name in _PHONETIC:
        set_phonetic_name(draft, _PHONETIC[name], name, cell)
    elif name in _GROUPS:
        for label in cell.split(_SEPARATOR):
            # Labels with a star are Google's own, such as My Contacts.
            if not label.strip().startswith("*"):
                draft.add_group(label)
    elif name == "Birthday":
        draft.add_date(cell, kind="BIRTHDAY")
    elif name == "Name":
        draft.full_name = cell
    elif name == "Photo":
        draft.warn("its photo is an address on the net, which is not fetched")
    elif name not in _FULL:
        draft.add_custom("Department" if name == "Organization Department" else name, cell)


def set_phonetic_name(draft: Draft, field: str, name: str, cell: str) -> None:
    """Set a phonetic name, or a custom field if people have no such field."""
    if field in TEXT_FIELDS:
        draft.set_text(TEXT_FIELDS[field], cell)
    else:
        draft.add_custom(name, cell)


def _label(parts: dict[str, str]) -> str:
    """Remove the type from the parts and return it. A star before it marks the preferred entry."""
    label = (parts.pop("Type", "") or parts.pop("Label", "")).strip().removeprefix("*").strip()
    return _KINDS.get(label.casefold(), label.lower() if label.isascii() else label)


def _values(parts: dict[str, str], field: str) -> list[str]:
    return split_cell(field, parts.get("Value", ""))


def _emails(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "email"):
        draft.add_entry("emails", kind, email=value)


def _phones(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "phone"):
        draft.add_entry("phone_numbers", kind, number=value)


def _websites(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "url"):
        draft.add_entry("urls", kind, url=value)


def _messengers(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    service = parts.get("Service", "").strip()
    for value in _values(parts, "im"):
        draft.add_entry("im_handles", kind, protocol=service or kind or "other", handle=value)


def _addresses(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    """Add the addresses. The n-th values of all parts form one address; the formatted text is only a fallback."""
    split = {name: text.split(_SEPARATOR) for name, text in parts.items()}
    for number in range(max((len(values) for values in split.values()), default=0)):
        one = {name: values[number].strip() for name, values in split.items() if len(values) > number}
        address = {key: one[name] for name, key in _ADDRESS_KEYS.items() if one.get(name)}
        if box := one.get("PO Box"):
            address["streetLine2"] = ", ".join(filter(None, (address.get("streetLine2"), box)))
        draft.add_address(kind, address or {"streetLine1": one.get("Formatted", "")})


def _events(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "event"):
        found = draft.days.read(value) if kind == _ANNIVERSARY else None
        if found and not found[1]:
            draft.set_day("anniversary", value)
        elif kind in {_ANNIVERSARY, _BIRTHDAY}:
            draft.add_date(value, kind=kind.upper())
        else:
            draft.add_date(value, title=kind.capitalize() or "Date")


def _relations(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "relation"):
        draft.add_related_person(kind, value)


def _custom(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    for value in _values(parts, "custom"):
        draft.add_custom(kind, value)


def _organizations(draft: Draft, kind: str, parts: dict[str, str]) -> None:
    draft.set_text("organization", parts.pop("Name", ""))
    draft.set_text("job_title", parts.pop("Title", ""))
    draft.add_custom("Department", parts.pop("Department", ""))
    for name, text in parts.items():
        draft.add_custom(f"Organization {name.lower()}", text)


_SETS = {
    "E-mail": _emails,
    "Phone": _phones,
    "Website": _websites,
    "IM": _messengers,
    "Address": _addresses,
    "Event": _events,
    "Relation": _relations,
    "Custom Field": _custom,
    "Organization": _organizations,
}


def open_google(owner: User, file: BinaryIO, now: dt.datetime) -> GoogleSheet:
    """Raises FieldError if the columns are not Google's."""
    table = open_table(file)
    if not {"Given Name", "First Name", "Family Name", "Last Name"}.intersection(table.names):
        raise FieldError("file", "The columns of this file are not those of Google Contacts.")
    return GoogleSheet(owner, table, now)
