"""Who may be meant: the index is asked for each term, and the database adds the answers up, in one statement."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.models import User
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
)
from people.find.terms import Term
from people.find.typing_errors import meant_words
from people.models import LookupKey
from people.words import reversed_word

NAME, EMAIL_WORD, WORK = LookupKey.NAME_WORD, LookupKey.EMAIL_WORD, LookupKey.WORK_WORD
CUSTOM, NOTE = LookupKey.CUSTOM_WORD, LookupKey.NOTE_WORD

#: What a word is worth where it is the whole one, and where it is the beginning of one. docs/find.md says them.
WORTH: Final = {NAME: (100, 80), WORK: (60, 50), EMAIL_WORD: (55, 45), CUSTOM: (45, 40), NOTE: (40, 30)}
VALUE_WORTH, INTERACTION_WORTH = (45, 40), (35, 25)
MISTYPED: Final = {1: 60, 2: 50}
EMAIL_WORTH, PHONE_WORTH = (100, 80), (95, 75)

# What so short a word begins are names alone.
_SHORT = 1
# Rows that are looked at of one way to match. Of one word any so many will do; of several each has to meet the others,
# which share the rows.
_MOST_ROWS_OF_ONE: Final = 2_000
_MOST_ROWS: Final = 50_000


class Candidate(NamedTuple):
    """Somebody who has something of `terms` parts of the query; `worth` added up over these."""

    person_id: UUID
    terms: int
    worth: int
    by_value: bool
    by_interaction: bool


def find_candidates(
    owner: User, terms: Sequence[Term], limit: int
) -> tuple[list[Candidate], dict[str, dict[int, list[str]]]]:
    """The best `limit` active people, and what the words may mean that were mistyped. Two statements."""
    meant = meant_words(owner, [term.word for term in terms if term.word])
    single = len(terms) == 1
    most_rows = _MOST_ROWS_OF_ONE if single else _MOST_ROWS // len(terms)
    statement = Statement(owner, most_rows=most_rows, active_alone=single)
    for place, term in enumerate(terms):
        if term.word:
            _add_word(statement, place, term.word, meant.get(term.word, {}))
        if term.email:
            _add_keys(statement, place, LookupKey.EMAIL, term.email, EMAIL_WORTH)
        for digits in term.digits:
            _add_keys(statement, place, LookupKey.PHONE, digits, PHONE_WORTH)
            _add_keys(statement, place, LookupKey.PHONE_TAIL, reversed_word(digits), PHONE_WORTH)
    union, parameters = statement.union()
    # Who is in the trash goes before anything is cut off: the index has all. Joined in this order, by id.
    sql = (
        "SELECT q.id, count(*) AS terms, sum(of_terms.worth) AS worth, max(of_terms.by_value), "  # noqa: S608
        "max(of_terms.by_interaction) FROM ("
        "SELECT person_id, place, max(worth) AS worth, max(by_value) AS by_value, "
        f"max(by_interaction) AS by_interaction FROM ({union}) AS rows_found GROUP BY person_id, place"
        f") AS of_terms CROSS JOIN {PEOPLE} q "
        "WHERE q.id = of_terms.person_id AND q.owner_id = %s AND q.deleted_at IS NULL "
        "GROUP BY q.id ORDER BY 2 DESC, 3 DESC, q.sort_key, q.id LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, statement.owner_id, limit])
        found = [_candidate(*row) for row in cursor.fetchall()]
    most = max((candidate.terms for candidate in found), default=0)
    return [candidate for candidate in found if candidate.terms == most], meant


def _candidate(person_id: UUID | str, terms: int, worth: int, by_value: int, by_interaction: int) -> Candidate:
    key = person_id if isinstance(person_id, UUID) else UUID(person_id)
    return Candidate(key, int(terms), int(worth), bool(by_value), bool(by_interaction))


def _add_word(statement: Statement, place: int, word: str, meant: dict[int, list[str]]) -> None:
    kinds = (NAME,) if len(word) <= _SHORT else tuple(WORTH)
    for kind in kinds:
        _add_keys(statement, place, kind, word, WORTH[kind])
    for distance, words in meant.items():
        marks = ", ".join(["%s"] * len(words))
        _add_rows(statement, place, NAME, f"k.key IN ({marks})", words, MISTYPED[distance])
    if len(word) > _SHORT:
        _add_beside(statement, place, word)


def _add_keys(statement: Statement, place: int, kind: int, key: str, worth: tuple[int, int]) -> None:
    """The whole key, and what begins with it: apart, so that a common beginning pushes no whole one out."""
    for condition, parameters, each in (
        ("k.key = %s", (key,), worth[0]),
        (statement.begins_with("k.key"), statement.range_of(key), worth[1]),
    ):
        _add_rows(statement, place, kind, condition, parameters, each)


def _add_rows(
    statement: Statement, place: int, kind: int, condition: str, parameters: Iterable[str], worth: int
) -> None:
    where = statement.active("k", f"k.owner_id = %s AND k.kind = {kind} AND {condition}")
    rows = f"{KEYS} k {where} LIMIT {statement.most_rows}"
    _add(statement, place, rows, [statement.owner_id, *parameters], str(worth), person="k.person_id")


def _add_beside(statement: Statement, place: int, word: str) -> None:
    """Values of active templates, and interactions that are not in the trash."""
    condition = f"w.owner_id = %s AND {statement.begins_with('w.key')}"
    of_value, of_interaction = (
        statement.active("v", f"{condition} AND {beside}.deleted_at IS NULL") for beside in ("t", "i")
    )
    values = (
        f"{VALUE_WORDS} w JOIN {VALUES} v ON v.id = w.value_id JOIN {TEMPLATES} t ON t.id = v.template_id "
        f"{of_value} LIMIT {statement.most_rows}"
    )
    interactions = (
        f"{INTERACTION_WORDS} w JOIN {INTERACTIONS} i ON i.id = w.interaction_id "
        f"JOIN {PARTICIPATIONS} v ON v.interaction_id = i.id {of_interaction} LIMIT {statement.most_rows}"
    )
    for rows, worth, flags in ((values, VALUE_WORTH, (1, 0)), (interactions, INTERACTION_WORTH, (0, 1))):
        said = f"CASE WHEN w.key = %s THEN {worth[0]} ELSE {worth[1]} END"
        parameters = [word, statement.owner_id, *statement.range_of(word)]
        _add(statement, place, rows, parameters, said, person="v.person_id", flags=flags)


def _add(
    statement: Statement,
    place: int,
    rows: str,
    parameters: Iterable[object],
    worth: str,
    *,
    person: str,
    flags: tuple[int, int] = (0, 0),
) -> None:
    columns = f"{person} AS person_id, {place} AS place, {worth} AS worth, {flags[0]} AS by_value"
    branch = f"SELECT {columns}, {flags[1]} AS by_interaction FROM {rows}"  # noqa: S608 - names of our own
    statement.add(f"SELECT * FROM ({branch}) AS branch_{len(statement)}", list(parameters))  # noqa: S608
