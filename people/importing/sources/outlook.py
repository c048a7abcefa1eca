"""Outlook's CSV, of the desktop program and of Outlook on the web, which has more columns."""

import datetime as dt
import re
from collections.abc import Callable
from typing import BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.importing.sources.drafts import Draft
from people.importing.sources.google import set_phonetic_name
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import Row, Table, open_table
from people.importing.sources.targets import Target

_TEXTS = {
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
_PHONETIC = {"Given Yomi": "phoneticName", "Surname Yomi": "phoneticSurname"}
_EMAIL = re.compile(r"E-mail (?:([23]) )?Address")
_PHONE = re.compile(r"(.*?) ?(Phone|Fax)(?: [0-9])?")
_ADDRESS_KEYS = re.compile(
    r"(Home|Business|Other) (?:Address )?"
    r"(Street|Street 2|Street 3|City|State|Postal Code|Country|Country/Region|PO Box)"
)
_WHOLE = re.compile(r"(Home|Business|Other) Address")
_KEYS = {
    "City": "locality",
    "State": "region",
    "Postal Code": "postalCode",
    "Country": "country",
    "Country/Region": "country",
}
_KINDS = {"business": "work", "primary": "main", "company main": "company", "assistant's": "assistant"}
_PHONES = frozenset({"Callback", "ISDN", "Pager", "Telex", "TTY/TDD Phone"})
_RELATED = {
    "Spouse": "spouse",
    "Children": "child",
    "Manager's Name": "manager",
    "Assistant's Name": "assistant",
    "Referred By": "referred by",
}
# Columns that Outlook fills in for every contact: their default values contain no information.
_DEFAULTS = {"Priority": "normal", "Sensitivity": "normal", "Private": "false"}
_BESIDE = re.compile(r"E-mail (?:[23] )?(?:Type|Display Name)|Initials|Internet Free Busy|Directory Server")


class OutlookSheet(Sheet):
    def __init__(self, owner: User, table: Table, now: dt.datetime) -> None:
        days = {"Birthday": Target("birthday"), "Anniversary": Target("anniversary")}
        super().__init__(owner, table, [days.get(name, Target()) for name in table.names], now)

    def fill(self, draft: Draft, row: Row) -> None:
        places: dict[str, dict[str, str]] = {}
        whole: dict[str, str] = {}
        for place, cell in enumerate(row.cells):
            if not cell.strip():
                continue
            if place >= len(self.table.names):
                draft.warn(f"“{cell.strip()[:60]}” stands beyond the last column and was left out")
                continue
            name = self.table.names[place]
            if match := _WHOLE.fullmatch(name):
                whole[match[1].lower()] = cell
            elif match := _ADDRESS_KEYS.fullmatch(name):
                parts = places.setdefault(match[1].lower(), {})
                key = _KEYS.get(match[2], "streetLine1" if match[2] == "Street" else "streetLine2")
                parts[key] = f"{parts[key]}, {cell.strip()}" if key in parts else cell
            else:
                _put(draft, name, cell)
        # The address in one cell is only used if its parts are missing.
        for kind, parts in {**{kind: {"streetLine1": text} for kind, text in whole.items()}, **places}.items():
            draft.add_address(_KINDS.get(kind, kind), parts)


def _put(draft: Draft, name: str, cell: str) -> None:
    if name in _TEXTS:
        draft.set_text(_TEXTS[name], cell)
    elif name in _PHONETIC:
        set_phonetic_name(draft, _PHONETIC[name], name, cell)
    elif name in _SETTERS:
        _SETTERS[name](draft, cell)
    elif _EMAIL.fullmatch(name):
        draft.add_entry("emails", "", email=cell)
    elif name in _PHONES or _PHONE.fullmatch(name):
        draft.add_entry("phone_numbers", _phone_kind(name), number=cell)
    elif name in _RELATED:
        for person in cell.split(";") if name == "Children" else [cell]:
            draft.add_related_person(_RELATED[name], person)
    elif _DEFAULTS.get(name) != cell.strip().casefold() and not _BESIDE.fullmatch(name):
        draft.add_custom(name, cell)


def _groups(draft: Draft, cell: str) -> None:
    for group in cell.split(";"):
        draft.add_group(group)


def _gender(draft: Draft, cell: str) -> None:
    if cell.strip().casefold() != "unspecified":
        draft.set_text("gender", cell)


def _page(kind: str) -> Callable[[Draft, str], None]:
    return lambda draft, cell: draft.add_entry("urls", kind, url=cell)


_SETTERS: dict[str, Callable[[Draft, str], None]] = {
    "Birthday": lambda draft, cell: draft.add_date(cell, kind="BIRTHDAY"),
    "Anniversary": lambda draft, cell: draft.set_day("anniversary", cell),
    "Categories": _groups,
    "Gender": _gender,
    "Web Page": _page(""),
    "Personal Web Page": _page("home"),
    "Business Web Page": _page("work"),
}


def _phone_kind(name: str) -> str:
    """The type of a phone column: Mobile Phone is mobile, Business Fax work fax, Pager pager."""
    match = _PHONE.fullmatch(name)
    if match is None:
        return name.lower()
    kind = match[1].lower()
    kind = _KINDS.get(kind, kind)
    return f"{kind} fax".strip() if match[2] == "Fax" else kind


def open_outlook(owner: User, file: BinaryIO, now: dt.datetime) -> OutlookSheet:
    """Raises FieldError if the columns are not Outlook's."""
    table = open_table(file)
    if not {"First Name", "Last Name", "E-mail Address", "Company"}.issubset(table.names):
        raise FieldError("file", "The columns of this file are not those of Outlook, in English.")
    return OutlookSheet(owner, table, now)
