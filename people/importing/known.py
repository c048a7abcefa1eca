"""The cards of an import batch and the people that they may mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from people.duplicates.keys import email_key, phone_key
from people.importing.receipts import Outcome
from people.models import ImportantDate, LookupKey, Person
from people.models.person import uid_of
from people.names import NameParts, sort_key
from people.vcard import Card, CardResult
from people.vcard.merge import merge_cards

#: The kind and the key of a LookupKey.
ContactKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo that was converted outside the lock: the JPEG to store, and the hashes that identify it."""

    jpeg: bytes
    hashes: frozenset[str]


@dataclass(slots=True)
class Item:
    """A parsed card with its photo. `reasons` become the reason of its outcome."""

    result: CardResult
    card: Card
    picture: Picture | None = None
    reasons: list[str] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)
    # The keys of the look-up, computed once and outside the lock.
    name_key: bytes = b""
    contact_keys: list[ContactKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name_key = self.name_key or name_key(self.card)
        self.contact_keys = self.contact_keys or contact_keys(self.card)

    def outcome(self, status: str, person_id: UUID | None) -> Outcome:
        return Outcome(self.result.index, self.result.name, status, person_id, "; ".join(self.reasons) or None)


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

    def merged_with(self, card: Card, *, overwrite: bool = False) -> Card | None:
        """Like merge_cards, but the card's UID replaces a UID that this service generated, without a conflict."""
        known = self.card
        if card == known:
            return known
        if card.uid and known.uid == uid_of(self.person.pk):
            known = replace(known, uid=None)
        return merge_cards(known, card, overwrite=overwrite)

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
    keys |= {(LookupKey.PHONE, phone_key(str(entry["number"]))) for entry in card.phone_numbers}
    return sorted((kind, key) for kind, key in keys if key)


def uid_spellings(uid: str) -> tuple[str, str]:
    """The UID itself, and its other spelling with or without `urn:uuid:`, which some programs add or drop."""
    uuid_text = uid.removeprefix("urn:uuid:")
    return uid, uuid_text if uuid_text != uid else f"urn:uuid:{uid}"
