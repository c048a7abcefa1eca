"""What a card says, in the shapes of a person (open points, section 3), and the lines that say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from people import field_table

Entry = Mapping[str, str | float | None]

#: The year that stands for "only month and day are known"; a leap year, so 29 February fits.
UNKNOWN_YEAR = 1604

#: Names that a card may be shown by, as CardDAV calls their formats (open points, section 10).
NAME_FORMATS = ("FULL", "FIRST_LAST", "NICKNAME_PREFERRED", "SHORT")

#: The multi-value fields, in the order in which they are written.
LISTS = tuple(field.card for field in field_table.LISTS)

#: The single-valued fields that have a property of their own: texts beside the name, and days.
PLAIN_TEXTS = tuple(
    field.card
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.Kind.TEXT
    and field.card_property not in {"N", "X-SECOND-LAST-NAME", "X-DISPLAY-NAME", "ORG", "NOTE", "UID"}
)
DATES = tuple(field.card for field in field_table.CARD_SCALARS if field.kind is field_table.Kind.DATE)


class VCardError(ValueError):
    """A card that cannot be read; the message is for the person who owns the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDate:
    """An important date; `type` is a predefined one in upper case, or None, and then `title` tells."""

    date: date
    type: str | None = None
    title: str | None = None
    year_unknown: bool = False


@dataclass(frozen=True, slots=True)
class KeptLine:
    """One property as it stood, unfolded.

    `fields` are the fields of the card that it says, none for what no field holds. `entry` is what it holds of a
    multi-value field or of the dates as that is now, which an edit makes differ from what the text says; None when
    it was removed.
    """

    text: str
    fields: tuple[str, ...] = ()
    entry: Entry | CardDate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One vCard. Multi-value entries are plain dicts with the keys of the person's JSON document.

    `lines` are its properties in their order, so that writing it again changes nothing but what was edited.
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
    lines: tuple[KeptLine, ...] = ()

    @property
    def is_group(self) -> bool:
        return self.kind == "group"

    @property
    def full_name(self) -> str:
        """FN when nothing else is asked for."""
        return self.display_name or self.shown_as("FULL")

    def shown_as(self, form: str) -> str:
        """What the parts of the name give in one of NAME_FORMATS."""
        if form == "SHORT":
            return self.nickname or self.name
        parts: tuple[str | None, ...] = (self.prefix, self.name, self.middle_name, self.surname)
        if form == "FULL":
            parts = (*parts, self.second_last_name, self.suffix)
        else:
            parts = (self.name if form == "FIRST_LAST" else self.nickname or self.name, self.surname)
        return " ".join(filter(None, parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardResult:
    """One card of a file: read (`card`), perhaps with `warnings`, or not (`error`). `index` counts from 0."""

    index: int
    name: str
    card: Card | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    text: str = ""
