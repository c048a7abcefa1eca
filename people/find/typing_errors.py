"""Spelling correction: finds words of the account's names within a small edit distance of a query's word.

The maximum is one edit (insertion, deletion, replacement, or transposition) for a word of four to seven letters, and
two for a longer one. Candidates are all words that begin with the same letter or end with the same two letters; only
two errors, one in each of these places, escape that. The distance is computed in the process, not in the database.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection
from rapidfuzz.distance import OSA

from accounts.models import User
from people.find.statements import KEYS, Statement
from people.models import LookupKey
from people.words import reversed_word

_MIN_LENGTH, _MIN_LENGTH_FOR_TWO_ERRORS = 4, 8
_SUFFIX_LENGTH: Final = 2
# Each correction is a parameter of the statement that looks for people.
_MAX_CORRECTIONS: Final = 500

Corrections = dict[str, dict[int, list[str]]]
"""By the query's word, then by edit distance (1 or 2): words of names."""


def find_corrections(owner: User, words: Sequence[str]) -> Corrections:
    """The 500 nearest corrections of each word, without the word itself. One statement for all words."""
    correctable = [word for word in dict.fromkeys(words) if len(word) >= _MIN_LENGTH and word.isalpha()]
    if not correctable:
        return {}
    corrections: Corrections = {}
    candidates = _load_candidates(owner, correctable)
    for position, word in enumerate(correctable):
        limit = _max_distance(word)
        distances = ((OSA.distance(word, other, score_cutoff=limit), other) for other in candidates[position])
        by_distance: dict[int, list[str]] = {}
        for distance, other in sorted(pair for pair in distances if 0 < pair[0] <= limit)[:_MAX_CORRECTIONS]:
            by_distance.setdefault(distance, []).append(other)
        if by_distance:
            corrections[word] = by_distance
    return corrections


def _max_distance(word: str) -> int:
    return 2 if len(word) >= _MIN_LENGTH_FOR_TWO_ERRORS else 1


def _load_candidates(owner: User, words: Sequence[str]) -> list[set[str]]:
    statement = Statement(owner)
    for position, word in enumerate(words):
        # The edit distance is at least the difference of the lengths.
        lengths = (len(word) - _max_distance(word), len(word) + _max_distance(word))
        # Tails are stored reversed, so that a suffix is a prefix, for which the index can be used.
        for kind, prefix in (
            (LookupKey.NAME_WORD, word[0]),
            (LookupKey.NAME_TAIL, reversed_word(word)[:_SUFFIX_LENGTH]),
        ):
            where = f"kind = {kind} AND {statement.has_prefix()} AND length(key) BETWEEN %s AND %s"
            distinct = _select_distinct_keys(where)
            statement.add(
                f"SELECT {position} AS word_index, {kind} AS kind, key FROM ({distinct}) AS words_{len(statement)}",  # noqa: S608
                [statement.owner_id, *statement.prefix_range(prefix), *lengths],
            )
    candidates: list[set[str]] = [set() for _ in words]
    with connection.cursor() as cursor:
        cursor.execute(*statement.union())
        rows: list[Any] = cursor.fetchall()
    for position, kind, key in rows:
        candidates[position].add(reversed_word(key) if kind == LookupKey.NAME_TAIL else key)
    return candidates


def _select_distinct_keys(where: str) -> str:
    rows = f"key FROM {KEYS} WHERE owner_id = %s AND {where}"
    # For a plain DISTINCT PostgreSQL sorts the rows again; this order is the index's own.
    if connection.vendor == "postgresql":
        return f"SELECT DISTINCT ON (key) {rows} {Statement.order_by()}"
    return f"SELECT DISTINCT {rows}"
