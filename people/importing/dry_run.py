"""Remembers what the batches of a dry run would have written, so that later batches find it.

The people are kept compressed, about 1 KB each: a dry run of a long file takes little more memory than the import.
"""

import pickle
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from people.importing.known import ContactKey, Item, KnownPerson, Picture, contact_keys, name_key, uid_key
from people.models import Person
from people.models.person import uid_of

# How many people with the same name and contact key are compared with a card.
_MAX_PER_KEY = 100


class DryRun:
    """`people` contains compressed people by id. `added` is how many are new, `reminders` how many
    reminders would be set, and `group_keys` contains the keys of the groups that would be created.
    """

    def __init__(self) -> None:
        self.people: dict[UUID, bytes] = {}
        self.added = self.reminders = 0
        self.group_keys: set[str] = set()
        # Ids by the hash of a UID, or of a name and key. Hashes may collide: the batch compares the cards themselves.
        self._ids_by_hash: dict[int, tuple[UUID, ...]] = defaultdict(tuple)

    def remember(self, changed: Iterable[KnownPerson]) -> None:
        """Remember people as a batch would have left them."""
        for known in changed:
            key, name = known.person.pk, name_key(known.card)
            if known.is_new and key not in self.people:
                self.added += 1
                self.reminders += bool(known.columns.get("contact_reminder_enabled"))
            self.reminders += known.reminding_dates
            hashes = known.picture and known.picture.hashes
            self.people[key] = zlib.compress(pickle.dumps((known.card, hashes, known.is_new)), 1)
            uids = {uid_key(uid) for uid in (known.card.uid, None if known.is_new else uid_of(key)) if uid}
            for lookup_key in (*uids, (name, None), *((name, shared) for shared in contact_keys(known.card))):
                ids = self._ids_by_hash[hash(lookup_key)]
                if key not in ids and len(ids) < _MAX_PER_KEY:
                    self._ids_by_hash[hash(lookup_key)] = (*ids, key)

    def find(self, items: Collection[Item]) -> dict[UUID, KnownPerson]:
        """Return the people that these cards may mean, by id. Of those that are not new, `person` has only an id."""
        lookup_keys: set[Any] = set()
        for item in items:
            lookup_keys.update((uid_key(item.card.uid),) if item.card.uid else ())
            keys: list[ContactKey | None] = [*item.contact_keys]
            lookup_keys.update((item.name_key, shared) for shared in keys or [None])
        ids = {key for lookup_key in lookup_keys for key in self._ids_by_hash.get(hash(lookup_key), ())}
        return {key: self._decompress(key) for key in sorted(ids)}

    def _decompress(self, key: UUID) -> KnownPerson:
        card, hashes, is_new = pickle.loads(zlib.decompress(self.people[key]))  # noqa: S301 - compressed by `remember`
        picture = Picture(b"", hashes) if hashes else None
        return KnownPerson(Person(pk=key), card, card, picture=picture, is_new=is_new)
