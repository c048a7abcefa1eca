"""The index by which people are found: normalised e-mail addresses, phone numbers and names; words for GET /api/find.

Lookup keys are made of a person's columns. Equal keys only make two people candidates; duplicates, vCard import and
sync compare them further. People in the trash keep their keys, so readers must filter by `person__deleted_at=None`. The
keys are defined in people.duplicates.keys; as what the words of a field are found, in people.field_table.

Words of custom values and interactions stay while their row is in the trash; searches filter by its state. Database
triggers delete the words when their row is deleted or its text changes, so that a write needs only one more statement,
which inserts the new words.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db import models

from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.text_forms import fold_letters
from people.duplicates.keys import address_keys, email_key, name_blocks, name_key, whole_address_key
from people.duplicates.name_words import clear_word_caches
from people.field_table import LISTS, SCALARS, Find
from people.models import CustomFieldValue, Interaction, InteractionWord, LookupKey, ValueWord
from people.models.index import MAX_WORD_LENGTH
from people.names import COLUMNS, KEYED_COLUMNS, NameParts
from people.phone_numbers import numbers_without_extension, phone_keys, short_number
from people.scripts import CJK_RANGES

# A write of more people than this is an import: its words fill the caches of name_words, and are not needed again.
_CACHE_CLEAR_THRESHOLD = 50

# One letter shorter than the shortest word that is searched with typing errors.
_MIN_TAIL_LENGTH = 3

_TEXTS: Final = {find: tuple(field.column for field in SCALARS if field.find is find) for find in Find}
_LISTS: Final = {find: tuple(field for field in LISTS if field.find is find) for find in Find}
_NAMES: Final = tuple(dict.fromkeys((*KEYED_COLUMNS, *_TEXTS[Find.NAME])))

# No kind of key has its keys from two of these.
_COLUMNS_OF_KINDS: tuple[Mapping[str, Sequence[object]], ...] = (
    dict.fromkeys(_NAMES, ""),
    {"addresses": ()},
    *(
        {**dict.fromkeys(_TEXTS[find], ""), **{field.column: () for field in _LISTS[find]}}
        for find in Find
        if find is not Find.NAME
    ),
)
KEY_COLUMNS = frozenset(chain.from_iterable(_COLUMNS_OF_KINDS))
"""The columns of a person from which its keys are computed."""

Keys = set[tuple[int, str]]
"""Pairs of LookupKey.kind and LookupKey.key."""


def keys_of(columns: Mapping[str, Any]) -> Keys:
    """All keys of a person with these columns."""
    return {*identifying_keys(columns), *_word_keys(columns)}


def keys_of_change(before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str]) -> tuple[Keys, Keys]:
    """The keys of a person before and after these columns have changed, without those of kinds that cannot differ."""
    empty: dict[str, object] = {}
    for columns in _COLUMNS_OF_KINDS:
        if columns.keys().isdisjoint(changed):
            empty |= columns
    return keys_of({**before, **empty}), keys_of({**after, **empty})


def identifying_keys(columns: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """The keys made of the names, addresses and numbers of a person."""
    for entry in columns["emails"]:
        if key := email_key(entry["email"]):
            yield LookupKey.EMAIL, key
    for entry in columns["phone_numbers"]:
        for key in (keys := phone_keys(entry["number"])):
            yield LookupKey.PHONE, key
            yield LookupKey.PHONE_TAIL, reversed_word(key)
        for key in numbers_without_extension(entry["number"]):
            yield LookupKey.PHONE_TAIL, reversed_word(key)
        if not keys and (short := short_number(entry["number"])):
            yield LookupKey.SHORT_PHONE, short
            yield LookupKey.PHONE_TAIL, reversed_word(short)
    yield from _address_keys(columns.get("addresses", ()))  # a migration calls this without addresses
    parts = NameParts(*(columns[column] for column in COLUMNS))
    if key := name_key(parts):
        yield LookupKey.NAME, key
    for key in name_blocks(parts):
        yield LookupKey.BLOCK, key


def _address_keys(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    for entry in entries:
        for key in address_keys(entry):
            yield LookupKey.ADDRESS, key
        if whole := whole_address_key(entry):
            yield LookupKey.WHOLE_ADDRESS, whole


def _word_keys(columns: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    for word in words_of(*(columns[column] for column in _TEXTS[Find.NAME])):
        yield LookupKey.NAME_WORD, word
        if len(word) >= _MIN_TAIL_LENGTH:
            yield LookupKey.NAME_TAIL, reversed_word(word)
    emails = (email for [email] in _found_values(columns, Find.EMAIL))
    for kind, words in (
        (LookupKey.WORK_WORD, words_of(*(columns[column] for column in _TEXTS[Find.TEXT]))),
        (LookupKey.NOTE_WORD, words_of(*(columns[column] for column in _TEXTS[Find.NOTES]))),
        (LookupKey.EMAIL_WORD, (word for email in emails for word in words_of_email(email))),
        (LookupKey.CUSTOM_WORD, (word for values in _found_values(columns, Find.CUSTOM) for word in words_of(*values))),
    ):
        for word in words:
            yield kind, word


def _found_values(columns: Mapping[str, Any], find: Find) -> Iterator[list[str]]:
    """Of each entry that is found as this, the values that are searched."""
    for field in _LISTS[find]:
        for entry in columns[field.column]:
            yield [entry[key] for key in field.indexed_keys]


def replace_keys(owner_id: UUID, people: Iterable[tuple[UUID, Keys, Keys]]) -> None:
    """Update the lookup keys of people, given as tuples of id, former keys and new keys.

    At most two statements. Must be called in a transaction.
    """
    changed = [(person_id, before - now, now - before) for person_id, before, now in people]
    # A person has some twenty keys. With an instance for each, an import of 1,500 rows took 11.8 million calls of
    # functions, and 7.7 million without.
    LookupKey.as_tuples.delete([(owner_id, key, *row) for key, gone, _ in changed for row in sorted(gone)])
    LookupKey.as_tuples.bulk_create([(owner_id, key, *row) for key, _, new in changed for row in sorted(new)])
    if len(changed) > _CACHE_CLEAR_THRESHOLD:
        clear_word_caches()


def words_of_interaction(row: Interaction) -> set[str]:
    """The distinct words of the title and notes."""
    return set(words_of(row.title, row.notes))


def index_values(owner_id: UUID, rows: Iterable[CustomFieldValue]) -> None:
    """Insert the words of values after they were inserted or updated. Must be called inside `account_write`."""
    words = [(owner_id, row.pk, word) for row in rows for word in sorted(set(words_of_value(row.value)))]
    ValueWord.as_tuples.bulk_create(words)


def index_interactions(owner_id: UUID, rows: Iterable[Interaction]) -> None:
    """Insert the words of interactions after they were inserted, or their title or notes updated."""
    words = [(owner_id, row.pk, word) for row in rows for word in sorted(words_of_interaction(row))]
    InteractionWord.as_tuples.bulk_create(words)


def _deletion_trigger(
    words: type[models.Model], column: str, table: str, name: str, event: str, changed: tuple[str, ...] = ()
) -> Trigger:
    body = f"DELETE FROM {words._meta.db_table} WHERE {column} = OLD.id"  # noqa: S608 - names of our own
    return Trigger(name, table, event, body, changed=changed, writes=words._meta.db_table)


_VALUES, _INTERACTIONS = CustomFieldValue._meta.db_table, Interaction._meta.db_table
TRIGGERS: Final = (
    _deletion_trigger(ValueWord, "value_id", _VALUES, "value_words_gone", "DELETE"),
    # On every UPDATE, changed or not: the databases differ in which JSON numbers are equal.
    _deletion_trigger(ValueWord, "value_id", _VALUES, "value_words_changed", "UPDATE OF value"),
    _deletion_trigger(InteractionWord, "interaction_id", _INTERACTIONS, "interaction_words_gone", "DELETE"),
    _deletion_trigger(
        InteractionWord,
        "interaction_id",
        _INTERACTIONS,
        "interaction_words_changed",
        "UPDATE OF title, notes",
        ("title", "notes"),
    ),
)


# Words of indexed texts and of queries are normalized alike. They have no case and accents (`fold`), Greek and Cyrillic
# are written in Latin letters, and both spellings of an umlaut become one: Müller, Mueller and Muller are `muller`,
# Sørensen and Soerensen `sorensen`, Иванов and Ivanov `ivanov`. Scripts without spaces are split into characters. Some
# different words become equal (Manuel, Manul), so a search may find too much, but never too little.

_SIGN = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(f"[{CJK_RANGES}]|[^\\W_{CJK_RANGES}]+")
_UMLAUT = re.compile("(?<=[aou])e|(?<=a)a")
_CYRILLIC = dict(zip("абвгдезийклмнопрстуфыэіїґ", "abvgdeziiklmnoprstufyeiig", strict=True)) | {
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ю": "yu",
    "я": "ya",
    "є": "ie",
    "ъ": "",
    "ь": "",
}
_GREEK = dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstyfo", strict=True)) | {"θ": "th", "χ": "ch", "ψ": "ps"}
_LATIN = str.maketrans(_CYRILLIC | _GREEK)


def words_of(*texts: str | None) -> list[str]:
    """The words of the texts in order, each cut to 40 characters."""
    return [
        found.group()[:MAX_WORD_LENGTH]
        for text in texts
        if text
        for found in _WORD.finditer(_UMLAUT.sub("", fold_letters(text).translate(_LATIN)))
    ]


def is_letter(word: str) -> bool:
    """Whether `word` is a single letter, which matches too much. A character of a script without spaces is a word."""
    return len(word) == 1 and not _SIGN.match(word)


def words_of_email(address: str) -> list[str]:
    """The words of an e-mail address, without its top-level domain, which is too common."""
    local, _, domain = address.rpartition("@")
    return words_of(local, *domain.split(".")[:-1])


def words_of_value(value: object) -> list[str]:
    """The words of a custom field's value; a boolean has none."""
    return [] if isinstance(value, bool) else words_of(str(value))


def reversed_word(word: str) -> str:
    """The word backwards, so that an index can find words by their last letters."""
    return word[::-1]
