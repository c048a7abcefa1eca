"""Who of an account the shared people of documents may be: by UID, and as the duplicate finder compares two people."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from accounts.models import User
from people.contents.fields import LISTS, SCALARS
from people.duplicates.finder import BIRTHDAY
from people.duplicates.name_words import clear_word_caches
from people.duplicates.similarity import Birthday, Identity, build_identity, similarity
from people.lookup import identifying_keys
from people.models import ImportantDate, LookupKey, Person
from people.names import COLUMNS, NameParts
from people.vcard.card import uid_spellings
from sharing.decisions import UNSURE_FROM, Match, judge, without_rivals
from sharing.models import CopyState, SharedCopy, SharedPerson

_KINDS = (LookupKey.EMAIL, LookupKey.PHONE, LookupKey.NAME, LookupKey.BLOCK)
_CONTACTS = (LookupKey.EMAIL, LookupKey.PHONE)
_MAX_PER_KEY = 50
"""People who share a key that more have are many: such a key says little."""
_MAX_CANDIDATES = 50
"""Of one document."""
_CHUNK_SIZE = 400
"""Documents whose keys fit into one query."""

Keys = set[tuple[int, str]]


def find_matches(owner: User, documents: Sequence[SharedPerson]) -> dict[UUID, Match]:
    """Whom each of these documents of one share may be in the account, by the id of the document.

    Whoever is a shared person of this share already is nobody else, and nobody in the trash is anybody. The number of
    queries is constant.
    """
    if not documents:
        return {}
    linked = SharedCopy.objects.owned_by(owner).filter(
        membership__share=documents[0].share_id, membership__deleted_at=None, state=CopyState.LINKED
    )
    taken = set(linked.values_list("person_id", flat=True))
    matches: dict[UUID, Match] = {}
    for start in range(0, len(documents), _CHUNK_SIZE):
        chunk = documents[start : start + _CHUNK_SIZE]
        by_uid = _people_by_uid(owner, chunk, taken)
        scores = _Scores(owner, [row for row in chunk if len(by_uid.get(row.pk, ())) != 1], taken)
        matches |= {row.pk: judge(by_uid.get(row.pk, ()), scores.of(row.pk)) for row in chunk}
    clear_word_caches()
    return without_rivals(matches)


def _people_by_uid(owner: User, documents: Iterable[SharedPerson], taken: Collection[UUID]) -> dict[UUID, list[UUID]]:
    spellings: dict[str, list[UUID]] = defaultdict(list)
    for row in documents:
        for spelling in uid_spellings(row.uid):
            spellings[spelling].append(row.pk)
    people = Person.objects.owned_by(owner).active().filter(uid__in=spellings).values_list("pk", "uid")
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for person_id, uid in people:
        for key in spellings[uid] if person_id not in taken else ():
            found[key].append(person_id)
    return found


class _Scores:
    """The similarities of documents with the people who share a key or the birthday with them."""

    def __init__(self, owner: User, documents: Sequence[SharedPerson], taken: Collection[UUID]) -> None:
        self.owner, self.taken = owner, taken
        self.keys: dict[UUID, Keys] = {row.pk: set(identifying_keys(_columns_of(row))) for row in documents}
        self.birthdays = {row.pk: _birthday_of(row.fields.get("importantDates", ())) for row in documents}
        self.names = {row.pk: _name_of(row) for row in documents}
        self.people: dict[tuple[int, str], list[UUID]] = defaultdict(list)
        self.contacts: dict[UUID, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.born: dict[tuple[int, int], list[UUID]] = defaultdict(list)
        self._load_keys()
        self._load_birthdays()
        found = {key for row in documents for key in self._candidates(row.pk)}
        self.identities = self._load_identities(found)

    def of(self, document_id: UUID) -> dict[UUID, float]:
        """The similarity of each person who may be this one."""
        if document_id not in self.keys:
            return {}
        own = _identity(self.names[document_id], self.keys[document_id], self.birthdays[document_id])
        people = [key for key in self._candidates(document_id) if key in self.identities]
        scores = {key: similarity(own, self.identities[key]) for key in people}
        return {key: score for key, score in scores.items() if score >= UNSURE_FROM}

    def _candidates(self, document_id: UUID) -> list[UUID]:
        found: dict[UUID, None] = {}
        # E-mails and phones first: they are the stronger evidence.
        for key in sorted(self.keys[document_id]):
            found |= dict.fromkeys(self.people.get(key, ()))
        if born := self.birthdays[document_id]:
            found |= dict.fromkeys(self.born.get((born.date.month, born.date.day), ()))
        return list(found)[:_MAX_CANDIDATES]

    def _load_keys(self) -> None:
        wanted = {key for keys in self.keys.values() for kind, key in keys if kind in _KINDS}
        rows = LookupKey.objects.filter(owner=self.owner, kind__in=_KINDS, key__in=wanted, person__deleted_at=None)
        for kind, key, person_id in rows.order_by("person").values_list("kind", "key", "person_id").iterator():
            people = self.people[kind, key]
            if person_id not in self.taken and len(people) < _MAX_PER_KEY:
                people.append(person_id)

    def _load_birthdays(self) -> None:
        days = {(born.date.month, born.date.day) for born in self.birthdays.values() if born}
        rows = ImportantDate.objects.owned_by(self.owner).active().filter(type=BIRTHDAY, person__deleted_at=None)
        rows = rows.filter(month_day__in=[month * 100 + day for month, day in days])
        for person_id, date in rows.order_by("person").values_list("person_id", "date"):
            people = self.born[date.month, date.day]
            if person_id not in self.taken and len(people) < _MAX_PER_KEY:
                people.append(person_id)

    def _load_identities(self, person_ids: Collection[UUID]) -> dict[UUID, Identity]:
        people = Person.objects.owned_by(self.owner).active().filter(pk__in=person_ids).values_list("pk", *COLUMNS)
        names = {key: NameParts(*parts) for key, *parts in people}
        keys = LookupKey.objects.filter(owner=self.owner, kind__in=_CONTACTS, person__in=person_ids)
        for person_id, kind, key in keys.values_list("person_id", "kind", "key").iterator():
            self.contacts[person_id][kind].add(key)
        dates = ImportantDate.objects.owned_by(self.owner).active().filter(type=BIRTHDAY, person__in=person_ids)
        born = {
            key: Birthday(date, is_year_unknown)
            for key, date, is_year_unknown in dates.values_list("person_id", "date", "year_unknown")
        }
        return {
            key: build_identity(
                parts,
                emails=frozenset(self.contacts[key][LookupKey.EMAIL]),
                phones=frozenset(self.contacts[key][LookupKey.PHONE]),
                birthday=born.get(key),
            )
            for key, parts in names.items()
        }


def _identity(parts: NameParts, keys: Keys, birthday: Birthday | None) -> Identity:
    return build_identity(
        parts,
        emails=frozenset(key for kind, key in keys if kind == LookupKey.EMAIL),
        phones=frozenset(key for kind, key in keys if kind == LookupKey.PHONE),
        birthday=birthday,
    )


def _columns_of(document: SharedPerson) -> dict[str, Any]:
    """The document's values as columns of a person."""
    fields = document.fields
    columns: dict[str, Any] = dict.fromkeys(COLUMNS)
    columns |= {field.column: fields.get(name) for name, field in SCALARS.items()}
    columns |= {field.column: fields.get(name) or [] for name, field in LISTS.items()}
    return {**columns, "name": columns["name"] or ""}


def _name_of(document: SharedPerson) -> NameParts:
    columns = _columns_of(document)
    return NameParts(*(columns[column] for column in COLUMNS))


def _birthday_of(dates: Iterable[Mapping[str, Any]]) -> Birthday | None:
    day = next((entry for entry in dates if entry["type"] == BIRTHDAY), None)
    return Birthday(dt.date.fromisoformat(day["date"]), bool(day["yearUnknown"])) if day else None
