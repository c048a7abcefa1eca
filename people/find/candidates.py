"""Ranks people for a query. One statement looks up every term in the index and sums the scores by person."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.models import User
from people.duplicates.phones import MAX_SHORT_DIGITS
from people.find.statements import (
    INTERACTION_WORDS,
    INTERACTIONS,
    KEYS,
    PARTICIPATIONS,
    PEOPLE,
    TEMPLATES,
    VALUE_WORDS,
    VALUES,
    Statement,
    is_active_sql,
)
from people.find.terms import Term
from people.find.typing_errors import Corrections, find_corrections
from people.models import LookupKey
from people.words import is_letter, reversed_word

NAME, EMAIL_WORD, WORK = LookupKey.NAME_WORD, LookupKey.EMAIL_WORD, LookupKey.WORK_WORD
CUSTOM, NOTE = LookupKey.CUSTOM_WORD, LookupKey.NOTE_WORD

#: Scores by kind of key: for a match of the whole word, and for a match of its prefix. The table is in docs/find.md.
SCORES: Final = {NAME: (100, 80), WORK: (60, 50), EMAIL_WORD: (55, 45), CUSTOM: (45, 40), NOTE: (40, 30)}
VALUE_SCORES, INTERACTION_SCORES = (45, 40), (35, 25)
#: Scores of a corrected word, by edit distance.
CORRECTION_SCORES: Final = {1: 60, 2: 50}
EMAIL_SCORES, PHONE_SCORES = (100, 80), (95, 75)

# Maximum rows of one branch. For a single term any rows will do. For several terms the branches must be long enough
# to contain the people who match the other terms too, so the limit is higher and divided among the terms.
_MAX_ROWS_SINGLE_TERM: Final = 2_000
_MAX_ROWS: Final = 50_000


class Candidate(NamedTuple):
    """A person who matches `terms` terms of the query; `score` is the sum of their scores."""

    person_id: UUID
    terms: int
    score: int
    by_value: bool
    by_interaction: bool


def find_candidates(owner: User, terms: Sequence[Term], limit: int) -> tuple[list[Candidate], Corrections]:
    """The best `limit` active people, and the corrections of mistyped words. Two statements."""
    corrections = find_corrections(owner, [term.word for term in terms if term.word])
    single = len(terms) == 1
    max_rows = _MAX_ROWS_SINGLE_TERM if single else _MAX_ROWS // len(terms)
    statement = Statement(owner, max_rows=max_rows, only_active=single)
    for position, term in enumerate(terms):
        if term.word:
            _add_word(statement, position, term.word, corrections.get(term.word, {}))
        if term.email:
            _add_keys(statement, position, LookupKey.EMAIL, term.email, EMAIL_SCORES)
        for digits in term.digits:
            _add_keys(statement, position, LookupKey.PHONE, digits, PHONE_SCORES)
            _add_keys(statement, position, LookupKey.PHONE_TAIL, reversed_word(digits), PHONE_SCORES)
            if len(digits) <= MAX_SHORT_DIGITS:
                _add_keys(statement, position, LookupKey.SHORT_PHONE, digits, PHONE_SCORES)
    return _execute(statement, limit), corrections


def _execute(statement: Statement, limit: int) -> list[Candidate]:
    """Sum the scores by person and return the best.

    The window function ranks people before the join, so that the table of people is read for the best and those tied
    with the last of them alone.
    """
    union, parameters = statement.union()
    active_condition = "" if statement.only_active else f"WHERE {is_active_sql('of_people.person_id')} "
    sql = (
        "SELECT q.id, best.terms, best.score, best.by_value, best.by_interaction FROM ("  # noqa: S608
        "SELECT of_people.*, rank() OVER (ORDER BY terms DESC, score DESC) AS ranking, "
        "max(terms) OVER () AS max_terms FROM ("
        "SELECT person_id, count(*) AS terms, sum(score) AS score, max(by_value) AS by_value, "
        "max(by_interaction) AS by_interaction FROM ("
        "SELECT person_id, term_index, max(score) AS score, max(by_value) AS by_value, "
        f"max(by_interaction) AS by_interaction FROM ({union}) AS rows_found GROUP BY person_id, term_index"
        f") AS of_terms GROUP BY person_id) AS of_people {active_condition}) AS best CROSS JOIN {PEOPLE} q "
        "WHERE best.terms = best.max_terms AND best.ranking <= %s AND q.id = best.person_id AND q.owner_id = %s "
        "ORDER BY best.terms DESC, best.score DESC, q.sort_key, q.id LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, limit, statement.owner_id, limit])
        # SQLite returns ids as text.
        return [
            Candidate(
                person_id if isinstance(person_id, UUID) else UUID(person_id),
                int(terms),
                int(score),
                bool(by_value),
                bool(by_interaction),
            )
            for person_id, terms, score, by_value, by_interaction in cursor.fetchall()
        ]


def _add_word(statement: Statement, position: int, word: str, corrections: dict[int, list[str]]) -> None:
    is_single_letter = is_letter(word)
    # A single letter is searched in names only: as a prefix it would match words of nearly every text.
    kinds = (NAME,) if is_single_letter else tuple(SCORES)
    for kind in kinds:
        _add_keys(statement, position, kind, word, SCORES[kind])
    for distance, words in corrections.items():
        placeholders = ", ".join(["%s"] * len(words))
        condition = f"k.owner_id = %s AND k.kind = {NAME} AND k.key IN ({placeholders})"
        rows = f"{KEYS} k WHERE {statement.restrict(condition, 'k.person_id')}"
        score = str(CORRECTION_SCORES[distance])
        _add_branch(statement, position, rows, [statement.owner_id, *words], score, person="k.person_id")
    if not is_single_letter:
        _add_values_and_interactions(statement, position, word)


def _add_keys(statement: Statement, position: int, kind: int, key: str, scores: tuple[int, int]) -> None:
    """Match lookup keys with the prefix `key`. Ordered, so that the row limit never cuts off an exact match."""
    condition = f"k.owner_id = %s AND k.kind = {kind} AND {statement.has_prefix('k.key')}"
    rows = f"{KEYS} k WHERE {statement.restrict(condition, 'k.person_id')} {statement.order_by('k.key')}"
    score = f"CASE WHEN k.key = %s THEN {scores[0]} ELSE {scores[1]} END"
    parameters = [key, statement.owner_id, *statement.prefix_range(key)]
    _add_branch(statement, position, rows, parameters, score, person="k.person_id")


def _add_values_and_interactions(statement: Statement, position: int, word: str) -> None:
    """Match values of active templates, and interactions that are not in the trash."""
    of_value = statement.restrict("t.deleted_at IS NULL", "v.person_id")
    of_interaction = statement.restrict("i.deleted_at IS NULL", "v.person_id")
    values = f"JOIN {VALUES} v ON v.id = w.value_id JOIN {TEMPLATES} t ON t.id = v.template_id WHERE {of_value}"
    interactions = (
        f"JOIN {INTERACTIONS} i ON i.id = w.interaction_id "
        f"JOIN {PARTICIPATIONS} v ON v.interaction_id = i.id WHERE {of_interaction}"
    )
    for table, joins, scores, flags in (
        (VALUE_WORDS, values, VALUE_SCORES, (1, 0)),
        (INTERACTION_WORDS, interactions, INTERACTION_SCORES, (0, 1)),
    ):
        # The ORDER BY makes PostgreSQL start the join with the matching words and not with all values.
        words = f"SELECT * FROM {table} WHERE owner_id = %s AND {statement.has_prefix()} {statement.order_by()}"  # noqa: S608
        score = f"CASE WHEN w.key = %s THEN {scores[0]} ELSE {scores[1]} END"
        parameters = [word, statement.owner_id, *statement.prefix_range(word)]
        _add_branch(statement, position, f"({words}) w {joins}", parameters, score, person="v.person_id", flags=flags)


def _add_branch(
    statement: Statement,
    position: int,
    rows: str,
    parameters: Iterable[object],
    score: str,
    *,
    person: str,
    flags: tuple[int, int] = (0, 0),
) -> None:
    columns = f"{person} AS person_id, {position} AS term_index, {score} AS score, {flags[0]} AS by_value"
    branch = f"SELECT {columns}, {flags[1]} AS by_interaction FROM {rows} LIMIT {statement.max_rows}"  # noqa: S608 - names of our own
    # SQLite allows a LIMIT in a branch of a UNION only inside a subquery.
    statement.add(f"SELECT * FROM ({branch}) AS branch_{len(statement)}", list(parameters))  # noqa: S608
