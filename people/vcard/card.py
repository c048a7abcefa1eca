"""What a card says, in the shapes of a person (open points, section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

Entry = Mapping[str, str | float | None]

#: The year that stands for "only month and day are known"; a leap year, so 29 February fits.
UNKNOWN_YEAR = 1604


class VCardError(ValueError):
    """A card that cannot be read; the message is for the person who owns the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDate:
    """An important date; `type` is a predefined one in upper case, or None, and then `title` tells."""

    date: date
    type: str | None = None
    title: str | None = None
    year_unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One vCard. Multi-value entries are plain dicts with the keys of the person's JSON document.

    `extra` holds unknown properties, unfolded but otherwise as they stood: a later write-back loses nothing.
    """

    name: str = ""
    surname: str | None = None
    middle_name: str | None = None
    second_last_name: str | None = None
    nickname: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    display_name: str | None = None
    organization: str | None = None
    job_title: str | None = None
    gender: str | None = None
    anniversary: date | None = None
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
    extra: tuple[str, ...] = ()

    @property
    def is_group(self) -> bool:
        return self.kind == "group"

    @property
    def full_name(self) -> str:
        """FN when nothing else is asked for: display name, else prefix name middle surname second suffix."""
        if self.display_name:
            return self.display_name
        parts = (self.prefix, self.name, self.middle_name, self.surname, self.second_last_name, self.suffix)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardResult:
    """One card of a file: read (`card`), perhaps with `warnings`, or not (`error`). `index` counts from 0."""

    index: int
    name: str
    card: Card | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    text: str = ""
