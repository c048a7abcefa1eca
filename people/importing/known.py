"""The cards of an import batch and the people that they may mean."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from contacts_project.kernel.texts import Text
from people.duplicates.keys import email_key
from people.duplicates.phones import phone_keys
from people.importing.receipts import Outcome
from people.models import ImportantDate, LookupKey, Person
from people.models.person import uid_of
from people.names import NameParts, sort_key
from people.vcard import Card, CardDate, CardResult
from people.vcard.merge import merge_cards

#: The kind and the key of a LookupKey.
ContactKey = tuple[int, str]


_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo that was converted outside the lock: the JPEG to store, and the hashes that identify it."""

    jpeg: bytes
    hashes: frozenset[str]


@dataclass(slots=True)
class Item:
    """A parsed card with its photo. `remarks` become those of its outcome."""

    result: CardResult
    card: Card
    picture: Picture | None = None
    remarks: list[Text] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)
    reminders: Mapping[CardDate, Mapping[str, Any]] = field(default_factory=dict)
    """The columns of the reminder of each important date that has one."""
    # The keys of the look-up, computed once and outside the lock.
    name_key: bytes = b""
    contact_keys: list[ContactKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name_key = self.name_key or name_key(self.card)
        self.contact_keys = self.contact_keys or contact_keys(self.card)

    def outcome(self, status: str, person_id: UUID | None) -> Outcome:
        return Outcome(self.result.index, self.result.name, status, person_id, tuple(self.remarks))


@dataclass(slots=True, eq=False)
class KnownPerson:
    """A person during an import: `card_before` is its card when it was read, `card` includes what the file adds."""

    person: Person
    card_before: Card
    card: Card
    rows: list[ImportantDate] = field(default_factory=list)
    picture: Picture | None = None
    is_new: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns of a new person that no card has."""
    reminders: dict[CardDate, Mapping[str, Any]] = field(default_factory=dict)
    """The columns of the reminders of important dates that the file adds."""

    def merged_with(self, card: Card, *, overwrite: bool = False) -> Card | None:
        """Like merge_cards, but the UID of the card is no conflict where it is another spelling of the known one, which
        stays, or where it replaces one that this service generated.
        """
        known = self.card
        if card == known:
            return known
        if card.uid and known.uid and uid_key(card.uid) == uid_key(known.uid):
            card = replace(card, uid=known.uid)
        elif card.uid and known.uid == uid_of(self.person.pk):
            known = replace(known, uid=None)
        return merge_cards(known, card, overwrite=overwrite)

    @property
    def reminding_dates(self) -> int:
        """How many important dates are added whose reminder is on."""
        added = set(self.card.important_dates).difference(self.card_before.important_dates)
        return sum(self.reminders[day]["reminder_enabled"] for day in added & self.reminders.keys())

    @property
    def is_changed(self) -> bool:
        return self.is_new or self.card != self.card_before or self.picture is not None


def name_key(card: Card) -> bytes:
    """The key of a card's name. It is the sort key of people, because that column has an index."""
    return sort_key(NameParts(card.name, card.surname))


def person_sort_key(card: Card) -> bytes:
    """The sort key that a person with the names of this card has, phonetic names included."""
    return sort_key(NameParts(card.name, card.surname), (card.phonetic_name, card.phonetic_surname))


def contact_keys(card: Card) -> list[ContactKey]:
    """The e-mail and phone keys of a card, as people.lookup stores them."""
    keys = {(LookupKey.EMAIL, email_key(str(entry["email"]))) for entry in card.emails}
    keys |= {(LookupKey.PHONE, key) for entry in card.phone_numbers for key in phone_keys(str(entry["number"]))}
    return sorted((kind, key) for kind, key in keys if key)


def uid_key(uid: str) -> str:
    """The form in which UIDs are compared: without `urn:uuid:`, which some programs add or drop, and a UUID in lower
    case with hyphens (RFC 9562, 4). Any other UID is compared with its letter case.
    """
    text = _without_scheme(uid.strip())
    return str(UUID(hex=text)) if _UUID.fullmatch(text) else text


def uid_spellings(uid: str) -> tuple[str, ...]:
    """The spellings of a UID that a row may have: with and without `urn:uuid:`, a UUID in upper and lower case."""
    text, key = _without_scheme(uid.strip()), uid_key(uid)
    texts = [text]
    if _UUID.fullmatch(text):
        texts += [spelling for form in (key, key.replace("-", "")) for spelling in (form, form.upper())]
    return tuple(dict.fromkeys((uid, *(prefix + t for t in texts for prefix in ("", "urn:uuid:", "URN:UUID:")))))


def _without_scheme(uid: str) -> str:
    return uid[9:] if uid[:9].lower() == "urn:uuid:" else uid
