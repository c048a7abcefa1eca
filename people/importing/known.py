"""What a batch of an import compares: the cards that were read, and the people whom they may mean."""

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

#: Kind and key as LookupKey has them.
ContactKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo made ready outside the lock: what is stored, and the hashes by which it is known again."""

    jpeg: bytes
    hashes: frozenset[str]


@dataclass(slots=True)
class Item:
    """A card that was read, with its photo; `reasons` is what its outcome has to tell."""

    result: CardResult
    card: Card
    picture: Picture | None = None
    reasons: list[str] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)
    # By which it is looked for, computed once and outside the lock.
    name: bytes = b""
    keys: list[ContactKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or name_key(self.card)
        self.keys = self.keys or contact_keys(self.card)

    def outcome(self, status: str, person_id: UUID | None) -> Outcome:
        return Outcome(self.result.index, self.result.name, status, person_id, "; ".join(self.reasons) or None)


@dataclass(slots=True, eq=False)
class KnownPerson:
    """A person as the cards of a file meet it: `was` when it was read, `card` with what they add."""

    person: Person
    was: Card
    card: Card
    rows: list[ImportantDate] = field(default_factory=list)
    picture: Picture | None = None
    is_new: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Of a new person: what no card says."""

    def merged_with(self, card: Card, *, overwrite: bool = False) -> Card | None:
        """As merge_cards; a UID that was made here gives way to the card's, and contradicts none."""
        known = self.card
        if card == known:
            return known
        if card.uid and known.uid == uid_of(self.person.pk):
            known = replace(known, uid=None)
        return merge_cards(known, card, overwrite=overwrite)

    @property
    def is_changed(self) -> bool:
        return self.is_new or self.card != self.was or self.picture is not None


def name_key(card: Card) -> bytes:
    """Cards of one name have one key; the order of people goes by it, so there is an index."""
    return sort_key(NameParts(card.name, card.surname))


def person_sort_key(card: Card) -> bytes:
    """The sort key of a person who says what the card does."""
    return sort_key(NameParts(card.name, card.surname), (card.phonetic_name, card.phonetic_surname))


def contact_keys(card: Card) -> list[ContactKey]:
    """The e-mail and phone keys by which people.lookup finds a person with one of the card's entries."""
    keys = {(LookupKey.EMAIL, email_key(str(entry["email"]))) for entry in card.emails}
    keys |= {(LookupKey.PHONE, phone_key(str(entry["number"]))) for entry in card.phone_numbers}
    return sorted((kind, key) for kind, key in keys if key)


def uid_spellings(uid: str) -> tuple[str, str]:
    """A UID as it stands, and with or without the `urn:uuid:` that programs add and drop."""
    bare = uid.removeprefix("urn:uuid:")
    return uid, bare if bare != uid else f"urn:uuid:{uid}"
