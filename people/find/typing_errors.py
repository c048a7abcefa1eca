"""The words of names that a word may have been meant to be.

One typing error in a word of four to seven letters (a letter more, less, another, or two swapped), two in a longer one.
Candidates are all words of the account's names that begin with the same letter, or end with the same two: no error
spares both but one in each place. What they are is measured here, in the process.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection
from rapidfuzz.distance import OSA

from accounts.models import User
from people.find.statements import KEYS, Statement
from people.models import LookupKey
from people.words import reversed_word

_SHORTEST, _LONG = 4, 8
_ENDING: Final = 2
# Each is a parameter of the statement that looks for people.
_MOST_MEANT: Final = 500

Meant = dict[str, list[str]]
"""By word the names' words that it may mean, nearest first, by distance."""


def meant_words(owner: User, words: Sequence[str]) -> dict[str, dict[int, list[str]]]:
    """By word, by distance (1, 2), what it may mean beside itself, the nearest 500; one statement for all."""
    likely = [word for word in dict.fromkeys(words) if len(word) >= _SHORTEST and word.isalpha()]
    if not likely:
        return {}
    found: dict[str, dict[int, list[str]]] = {}
    candidates = _candidates(owner, likely)
    for place, word in enumerate(likely):
        most = _errors(word)
        measured = ((OSA.distance(word, other, score_cutoff=most), other) for other in candidates[place])
        near: dict[int, list[str]] = {}
        for distance, other in sorted(one for one in measured if 0 < one[0] <= most)[:_MOST_MEANT]:
            near.setdefault(distance, []).append(other)
        if near:
            found[word] = near
    return found


def _errors(word: str) -> int:
    return 2 if len(word) >= _LONG else 1


def _candidates(owner: User, words: Sequence[str]) -> list[set[str]]:
    statement = Statement(owner)
    for place, word in enumerate(words):
        lengths = (len(word) - _errors(word), len(word) + _errors(word))
        for kind, beginning in (
            (LookupKey.NAME_WORD, word[0]),
            (LookupKey.NAME_TAIL, reversed_word(word)[:_ENDING]),
        ):
            where = f"kind = {kind} AND {statement.begins_with()} AND length(key) BETWEEN %s AND %s"
            statement.add(
                f"SELECT {place} AS place, {kind} AS kind, key FROM ({_distinct(where)}) AS words_{len(statement)}",  # noqa: S608
                [statement.owner_id, *statement.range_of(beginning), *lengths],
            )
    found: list[set[str]] = [set() for _ in words]
    with connection.cursor() as cursor:
        cursor.execute(*statement.union())
        rows: list[Any] = cursor.fetchall()
    for place, kind, key in rows:
        found[place].add(reversed_word(key) if kind == LookupKey.NAME_TAIL else key)
    return found


def _distinct(where: str) -> str:
    """Each word once, as the index has them: PostgreSQL sorts what a plain DISTINCT is to leave out."""
    rows = f"key FROM {KEYS} WHERE owner_id = %s AND {where}"
    if connection.vendor == "postgresql":
        return f"SELECT DISTINCT ON (key) {rows} {Statement.in_order()}"
    return f"SELECT DISTINCT {rows}"
