"""The data of one vCard: its values in the shape of a person and its content lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from contacts_project.kernel.texts import Text, TextError
from people import field_table
from people.scripts import is_surname_first

Entry = Mapping[str, str | float | None]

_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE | re.ASCII)

#: The year of a date of which only month and day are known, as Apple writes it. A leap year, so 29 February is valid.
UNKNOWN_YEAR = 1604

#: The formats of a person's name in FN; a CardDAV connection has one of them as a setting.
NAME_FORMATS = ("FULL", "FIRST_LAST", "NICKNAME_PREFERRED", "SHORT")

#: The multi-value fields, in the order in which their lines are written.
LIST_FIELDS = tuple(field.card for field in field_table.LISTS)

#: The multi-value fields of which each entry has a content line of its own.
ENTRY_FIELDS = (*LIST_FIELDS, "important_dates")

#: The text fields with a property of their own. The excluded properties need special treatment, such as several
#: components (N, ORG) or several values (NOTE).
PLAIN_TEXT_FIELDS = tuple(
    field.card
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.FieldKind.TEXT
    and field.card_property not in {"N", "X-SECOND-LAST-NAME", "X-DISPLAY-NAME", "ORG", "NOTE", "UID"}
)
#: The single-valued date fields.
DATE_FIELDS = tuple(field.card for field in field_table.CARD_SCALARS if field.kind is field_table.FieldKind.DATE)
#: The single-valued flags.
FLAG_FIELDS = tuple(field.card for field in field_table.CARD_SCALARS if field.kind is field_table.FieldKind.FLAG)


class VCardError(TextError):
    """The card cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDate:
    """An important date. `type` is a predefined type in upper case, or None, in which case `title` describes the date.

    The year of `date` is UNKNOWN_YEAR where `year_unknown` is set.
    """

    date: date
    type: str | None = None
    title: str | None = None
    year_unknown: bool = False


@dataclass(frozen=True, slots=True)
class CardLine:
    """One content line of a card as it was read, unfolded.

    `fields` are the fields of the card whose value comes from this line; empty if no field holds what it contains.
    `entry` is the current entry (of one of ENTRY_FIELDS) that was read from the line. After an edit it differs from
    `text`; it is None when the entry was removed.
    """

    text: str
    fields: tuple[str, ...] = ()
    entry: Entry | CardDate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One vCard. Entries of multi-value fields are plain dicts with the keys of the person's JSON columns.

    `lines` are its content lines in their order, so that writing the card changes only the lines that were edited.
    """

    name: str = ""
    surname: str | None = None
    middle_name: str | None = None
    second_last_name: str | None = None
    nickname: str | None = None
    phonetic_name: str | None = None
    phonetic_surname: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    display_name: str | None = None
    organization: str | None = None
    job_title: str | None = None
    gender: str | None = None
    anniversary: date | None = None
    deathday: date | None = None
    last_contact: date | None = None
    favourite: bool = False
    notes: str | None = None
    uid: str | None = None
    phone_numbers: tuple[Entry, ...] = ()
    emails: tuple[Entry, ...] = ()
    addresses: tuple[Entry, ...] = ()
    urls: tuple[Entry, ...] = ()
    im_handles: tuple[Entry, ...] = ()
    locations: tuple[Entry, ...] = ()
    custom_fields: tuple[Entry, ...] = ()
    important_dates: tuple[CardDate, ...] = ()
    categories: tuple[str, ...] = ()
    photo: bytes | None = None
    photo_url: str | None = None
    kind: str = "individual"
    members: tuple[str, ...] = ()
    lines: tuple[CardLine, ...] = ()

    @property
    def is_group(self) -> bool:
        return self.kind == "group"

    @property
    def full_name(self) -> str:
        """The default value of FN."""
        return self.display_name or self.format_name("FULL")

    def format_name(self, form: str) -> str:
        """The parts of the name, formatted as `form`, one of NAME_FORMATS."""
        if form == "SHORT":
            return self.nickname or self.name
        parts: tuple[str | None, ...]
        called = self.nickname or self.name if form == "NICKNAME_PREFERRED" else self.name
        if form != "FULL":
            is_short_first = is_surname_first((called, self.surname))
            parts = ((self.surname or "") + called,) if is_short_first else (called, self.surname)
        elif is_surname_first((self.name, self.middle_name, self.surname, self.second_last_name)):
            whole = "".join(filter(None, (self.surname, self.second_last_name, self.name, self.middle_name)))
            parts = (self.prefix, whole, self.suffix)
        else:
            parts = (self.prefix, self.name, self.middle_name, self.surname, self.second_last_name, self.suffix)
        return " ".join(filter(None, parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardResult:
    """The result for one card of a file: either `card`, perhaps with `warnings`, or `error`. `index` counts from 0.

    `text` is the decoded text of the card.
    """

    index: int
    name: str
    card: Card | None = None
    error: Text | None = None
    warnings: tuple[Text, ...] = ()
    text: str = ""


def uid_key(uid: str) -> str:
    """The form in which UIDs are compared: `bare_uid`, and a UUID in lower case with hyphens (RFC 9562, 4).

    Any other UID is compared with its letter case.
    """
    text = bare_uid(uid.strip())
    return str(UUID(hex=text)) if _UUID.fullmatch(text) else text


def uid_spellings(uid: str) -> tuple[str, ...]:
    """The spellings of a UID that a row may have: with and without `urn:uuid:`, a UUID in upper and lower case."""
    text, key = bare_uid(uid.strip()), uid_key(uid)
    texts = [text]
    if _UUID.fullmatch(text):
        texts += [spelling for form in (key, key.replace("-", "")) for spelling in (form, form.upper())]
    return tuple(dict.fromkeys((uid, *(prefix + t for t in texts for prefix in ("", "urn:uuid:", "URN:UUID:")))))


def bare_uid(uid: str) -> str:
    """The UID without `urn:uuid:`, which some programs add or drop."""
    return uid[9:] if uid[:9].lower() == "urn:uuid:" else uid
