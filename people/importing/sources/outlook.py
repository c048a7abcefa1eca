"""Outlook's CSV, of the desktop program and of Outlook on the web, which has more columns."""

import datetime as dt
import re
from collections.abc import Callable
from typing import BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.importing.sources.columns import filled_cells
from people.importing.sources.drafts import Draft
from people.importing.sources.google import set_phonetic_name
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import Row, Table, open_table
from people.importing.sources.targets import Target

_TEXT_COLUMNS = {
    "First Name": "name",
    "Middle Name": "middle_name",
    "Last Name": "surname",
    "Title": "prefix",
    "Suffix": "suffix",
    "Nickname": "nickname",
    "Company": "organization",
    "Job Title": "job_title",
    "Notes": "notes",
}
_PHONETIC_COLUMNS = {"Given Yomi": "phoneticName", "Surname Yomi": "phoneticSurname"}
_EMAIL_COLUMN = re.compile(r"E-mail (?:([23]) )?Address")
_PHONE_COLUMN = re.compile(r"(.*?) ?(Phone|Fax)(?: [0-9])?")
_ADDRESS_PART_COLUMN = re.compile(
    r"(Home|Business|Other) (?:Address )?"
    r"(Street|Street 2|Street 3|City|State|Postal Code|Country|Country/Region|PO Box)"
)
_WHOLE_ADDRESS_COLUMN = re.compile(r"(Home|Business|Other) Address")
_ADDRESS_PARTS = {
    "City": "locality",
    "State": "region",
    "Postal Code": "postalCode",
    "Country": "country",
    "Country/Region": "country",
}
_TYPE_NAMES = {"business": "work", "primary": "main", "company main": "company", "assistant's": "assistant"}
_OTHER_PHONE_COLUMNS = frozenset({"Callback", "ISDN", "Pager", "Telex", "TTY/TDD Phone"})
_RELATION_COLUMNS = {
    "Spouse": "spouse",
    "Children": "child",
    "Manager's Name": "manager",
    "Assistant's Name": "assistant",
    "Referred By": "referred by",
}
# Columns that Outlook fills in for every contact: their default values contain no information.
_DEFAULT_VALUES = {"Priority": "normal", "Sensitivity": "normal", "Private": "false"}
_IGNORED_COLUMN = re.compile(r"E-mail (?:[23] )?(?:Type|Display Name)|Initials|Internet Free Busy|Directory Server")


class OutlookSheet(Sheet):
    def __init__(self, owner: User, table: Table, now: dt.datetime) -> None:
        days = {"Birthday": Target("birthday"), "Anniversary": Target("anniversary")}
        super().__init__(owner, table, [days.get(name, Target()) for name in table.names], now)

    def fill(self, draft: Draft, row: Row) -> None:
        addresses: dict[str, dict[str, str]] = {}
        whole_addresses: dict[str, str] = {}
        for index, cell in filled_cells(draft, row, len(self.table.names)):
            name = self.table.names[index]
            if match := _WHOLE_ADDRESS_COLUMN.fullmatch(name):
                whole_addresses[match[1].lower()] = cell
            elif match := _ADDRESS_PART_COLUMN.fullmatch(name):
                parts = addresses.setdefault(match[1].lower(), {})
                key = _ADDRESS_PARTS.get(match[2], "streetLine1" if match[2] == "Street" else "streetLine2")
                parts[key] = f"{parts[key]}, {cell.strip()}" if key in parts else cell
            else:
                _set_column(draft, name, cell)
        # The address in one cell is only used if its parts are missing.
        for kind, parts in {
            **{kind: {"streetLine1": text} for kind, text in whole_addresses.items()},
            **addresses,
        }.items():
            draft.add_address(_TYPE_NAMES.get(kind, kind), parts)


def _set_column(draft: Draft, name: str, cell: str) -> None:
    if name in _TEXT_COLUMNS:
        draft.set_text(_TEXT_COLUMNS[name], cell)
    elif name in _PHONETIC_COLUMNS:
        set_phonetic_name(draft, _PHONETIC_COLUMNS[name], name, cell)
    elif name in _SETTERS:
        _SETTERS[name](draft, cell)
    elif _EMAIL_COLUMN.fullmatch(name):
        draft.add_entry("emails", "", email=cell)
    elif name in _OTHER_PHONE_COLUMNS or _PHONE_COLUMN.fullmatch(name):
        draft.add_entry("phone_numbers", _phone_kind(name), number=cell)
    elif name in _RELATION_COLUMNS:
        for person in cell.split(";") if name == "Children" else [cell]:
            draft.add_related_person(_RELATION_COLUMNS[name], person)
    elif _DEFAULT_VALUES.get(name) != cell.strip().casefold() and not _IGNORED_COLUMN.fullmatch(name):
        draft.add_custom(name, cell)


def _add_groups(draft: Draft, cell: str) -> None:
    for group in cell.split(";"):
        draft.add_group(group)


def _set_gender(draft: Draft, cell: str) -> None:
    if cell.strip().casefold() != "unspecified":
        draft.set_text("gender", cell)


def _url_setter(kind: str) -> Callable[[Draft, str], None]:
    return lambda draft, cell: draft.add_entry("urls", kind, url=cell)


_SETTERS: dict[str, Callable[[Draft, str], None]] = {
    "Birthday": lambda draft, cell: draft.add_date(cell, kind="BIRTHDAY"),
    "Anniversary": lambda draft, cell: draft.set_day("anniversary", cell),
    "Categories": _add_groups,
    "Gender": _set_gender,
    "Web Page": _url_setter(""),
    "Personal Web Page": _url_setter("home"),
    "Business Web Page": _url_setter("work"),
}


def _phone_kind(name: str) -> str:
    """The type of a phone column: Mobile Phone is mobile, Business Fax work fax, Pager pager."""
    match = _PHONE_COLUMN.fullmatch(name)
    if match is None:
        return name.lower()
    kind = match[1].lower()
    kind = _TYPE_NAMES.get(kind, kind)
    return f"{kind} fax".strip() if match[2] == "Fax" else kind


def open_outlook(owner: User, file: BinaryIO, now: dt.datetime) -> OutlookSheet:
    """Raises FieldError if the columns are not Outlook's."""
    table = open_table(file)
    if not {"First Name", "Last Name", "E-mail Address", "Company"}.issubset(table.names):
        raise FieldError("file", "The columns of this file are not those of Outlook, in English.")
    return OutlookSheet(owner, table, now)
