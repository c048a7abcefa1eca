"""What the batches of a dry run would have written, for the later ones to find.

Kept packed, about a kilobyte a person: a dry run of a long file takes little more memory than the import.
"""

import pickle
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from people.importing.known import ContactKey, Item, KnownPerson, Picture, contact_keys, name_key, uid_spellings
from people.models import Person
from people.models.person import uid_of

# As many people who share a name and a key are compared with a card.
_MAX_AT_A_PLACE = 100


class DryRun:
    """`people` are packed, by id; `added` of them are new, and `reminders` of these have a contact reminder.

    `group_keys` are those of groups that would be made.
    """

    def __init__(self) -> None:
        self.people: dict[UUID, bytes] = {}
        self.added = self.reminders = 0
        self.group_keys: set[str] = set()
        # By the hash of a UID, or of a name and key: whoever shares one by chance is told apart by the batch.
        self._places: dict[int, tuple[UUID, ...]] = defaultdict(tuple)

    def note(self, changed: Iterable[KnownPerson]) -> None:
        """People as a batch would have left them."""
        for known in changed:
            key, name = known.person.pk, name_key(known.card)
            if known.is_new and key not in self.people:
                self.added += 1
                self.reminders += bool(known.columns.get("contact_reminder_enabled"))
            hashes = known.picture and known.picture.hashes
            self.people[key] = zlib.compress(pickle.dumps((known.card, hashes, known.is_new)), 1)
            uids = {known.card.uid, None if known.is_new else uid_of(key)} - {None}
            for place in (*uids, (name, None), *((name, shared) for shared in contact_keys(known.card))):
                there = self._places[hash(place)]
                if key not in there and len(there) < _MAX_AT_A_PLACE:
                    self._places[hash(place)] = (*there, key)

    def find(self, items: Collection[Item]) -> dict[UUID, KnownPerson]:
        """Whom these cards may mean, by id; of those who are not new, `person` is only an id."""
        places: set[Any] = set()
        for item in items:
            places.update(uid_spellings(item.card.uid) if item.card.uid else ())
            keys: list[ContactKey | None] = [*item.keys]
            places.update((item.name, shared) for shared in keys or [None])
        there = {key for place in places for key in self._places.get(hash(place), ())}
        return {key: self._unpacked(key) for key in sorted(there)}

    def _unpacked(self, key: UUID) -> KnownPerson:
        card, hashes, is_new = pickle.loads(zlib.decompress(self.people[key]))  # noqa: S301 - packed by `note`
        picture = Picture(b"", hashes) if hashes else None
        return KnownPerson(Person(pk=key), card, card, picture=picture, is_new=is_new)
