"""The index by which people are found: normalised e-mail addresses, phone numbers and names, words for GET /api/find.

Equal keys make candidates, not verdicts: duplicates, vCard import and sync look closer at what they find. People in the
trash keep their keys, so readers ask for `person__deleted_at=None`. What the keys are: people.duplicates.keys.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from contacts_project.kernel.ownership.columns import delete_rows, insert_rows
from people.duplicates.keys import address_keys, email_key, name_blocks, name_key, phone_key
from people.duplicates.word_similarity import clear_word_caches
from people.models import LookupKey
from people.names import COLUMNS, KEYED_COLUMNS, PHONETIC_COLUMNS, NameParts
from people.words import reversed_word, words_of, words_of_email

__all__ = ["KEY_COLUMNS", "email_key", "keys_of", "name_key", "phone_key", "replace_keys"]


# An import, whose words are not asked for again.
_MANY = 50

# One letter shorter than what is looked at for typing errors.
_SHORTEST_TAIL = 3

KEY_COLUMNS = frozenset(
    {"emails", "phone_numbers", "addresses", "organization", "job_title", "notes", "custom_fields", *KEYED_COLUMNS}
)
"""The columns of a person that its keys are made of."""

Keys = set[tuple[int, str]]
"""Kind and key as LookupKey has them."""


def keys_of(columns: Mapping[str, Any]) -> Keys:
    """All keys of a person with these columns."""
    return {*_identifying_keys(columns), *_words(columns)}


def _identifying_keys(columns: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    for entry in columns["emails"]:
        if key := email_key(entry["email"]):
            yield LookupKey.EMAIL, key
    for entry in columns["phone_numbers"]:
        if key := phone_key(entry["number"]):
            yield LookupKey.PHONE, key
            yield LookupKey.PHONE_TAIL, reversed_word(key)
    for entry in columns.get("addresses", ()):  # an older migration knows none
        for key in address_keys(entry):
            yield LookupKey.ADDRESS, key
    parts = NameParts(*(columns[column] for column in COLUMNS))
    if key := name_key(parts):
        yield LookupKey.NAME, key
    for key in name_blocks(parts):
        yield LookupKey.BLOCK, key


def _words(columns: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    spoken = (columns.get(column) for column in PHONETIC_COLUMNS)  # a migration knows none yet
    for word in words_of(*(columns[column] for column in COLUMNS), *spoken):
        yield LookupKey.NAME_WORD, word
        if len(word) >= _SHORTEST_TAIL:
            yield LookupKey.NAME_TAIL, reversed_word(word)
    own = columns["custom_fields"]
    for kind, words in (
        (LookupKey.EMAIL_WORD, (word for entry in columns["emails"] for word in words_of_email(entry["email"]))),
        (LookupKey.WORK_WORD, words_of(columns["organization"], columns["job_title"])),
        (LookupKey.NOTE_WORD, words_of(columns["notes"])),
        (LookupKey.CUSTOM_WORD, (word for entry in own for word in words_of(entry["key"], entry["value"]))),
    ):
        for word in words:
            yield kind, word


def replace_keys(owner_id: UUID, people: Iterable[tuple[UUID, Keys, Keys]]) -> None:
    """Write the look-up keys of people by their ids: those that they had, and those that they have now. Two
    statements at most, in the caller's transaction.
    """
    changed = [(person_id, before - now, now - before) for person_id, before, now in people]
    columns = ("owner", "person", "kind", "key")
    gone = [(owner_id, person_id, *key) for person_id, keys, _ in changed for key in sorted(keys)]
    new = [(owner_id, person_id, *key) for person_id, _, keys in changed for key in sorted(keys)]
    delete_rows(LookupKey, columns, gone)
    insert_rows(LookupKey, columns, new)
    if len(changed) > _MANY:
        clear_word_caches()
