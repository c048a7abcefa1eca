"""The index by which people are found: normalised e-mail addresses, phone numbers and names.

Equal keys make candidates, not verdicts: duplicates, vCard import and sync look closer at what they find. People in the
trash keep their keys, so readers ask for `person__deleted_at=None`. What the keys are: people.duplicates.keys.
"""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db.models import Q

from people.duplicates.keys import email_key, name_blocks, name_key, phone_key
from people.models import LookupKey, Person
from people.names import COLUMNS, NameParts

__all__ = ["email_key", "keys_of", "name_key", "phone_key", "refresh_lookup"]


def keys_of(person: Person) -> set[tuple[int, str]]:
    """All (kind, key) of a person, from its columns."""
    return set(_keys(person))


def _keys(person: Person) -> Iterator[tuple[int, str]]:
    for entry in person.emails:
        if key := email_key(entry["email"]):
            yield LookupKey.EMAIL, key
    for entry in person.phone_numbers:
        if key := phone_key(entry["number"]):
            yield LookupKey.PHONE, key
    parts = NameParts(*(getattr(person, column) for column in COLUMNS))
    if key := name_key(parts):
        yield LookupKey.NAME, key
    for key in name_blocks(parts):
        yield LookupKey.BLOCK, key


def refresh_lookup(owner_id: UUID, people: Iterable[Person]) -> None:
    """Make the look-up rows of `people` what their columns say, in the caller's transaction; three queries at most."""
    wanted = {person.pk: keys_of(person) for person in people}
    stale: list[int] = []
    rows = LookupKey.objects.filter(owner_id=owner_id, person__in=wanted)
    for row_id, person_id, kind, key in rows.values_list("pk", "person_id", "kind", "key"):
        keys = wanted[person_id]
        if (kind, key) in keys:
            keys.remove((kind, key))
        else:
            stale.append(row_id)
    if stale:
        LookupKey.objects.filter(pk__in=stale).delete()
    LookupKey.objects.bulk_create(
        LookupKey(owner_id=owner_id, person_id=person_id, kind=kind, key=key)
        for person_id, keys in wanted.items()
        for kind, key in sorted(keys)
    )


def replace_keys(person: Person, before: set[tuple[int, str]]) -> None:
    """The same for one person whose keys were `before`, without reading them; nothing where they are the same."""
    keys = keys_of(person)
    if stale := before - keys:
        gone = Q()
        for kind, key in stale:
            gone |= Q(kind=kind, key=key)
        LookupKey.objects.filter(gone, owner_id=person.owner_id, person=person).delete()
    if new := keys - before:
        LookupKey.objects.bulk_create(
            LookupKey(owner_id=person.owner_id, person=person, kind=kind, key=key) for kind, key in sorted(new)
        )
