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
    active,
)
from people.find.terms import Term
from people.find.typing_errors import meant_words
from people.models import LookupKey
from people.words import is_letter, reversed_word

NAME, EMAIL_WORD, WORK = LookupKey.NAME_WORD, LookupKey.EMAIL_WORD, LookupKey.WORK_WORD
CUSTOM, NOTE = LookupKey.CUSTOM_WORD, LookupKey.NOTE_WORD

#: What a word is worth where it is the whole one, and where it is the beginning of one. docs/find.md says them.
WORTH: Final = {NAME: (100, 80), WORK: (60, 50), EMAIL_WORD: (55, 45), CUSTOM: (45, 40), NOTE: (40, 30)}
VALUE_WORTH, INTERACTION_WORTH = (45, 40), (35, 25)
MISTYPED: Final = {1: 60, 2: 50}
EMAIL_WORTH, PHONE_WORTH = (100, 80), (95, 75)

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
    statement = Statement(owner, most_rows=most_rows, only_active=single)
    for place, term in enumerate(terms):
        if term.word:
            _add_word(statement, place, term.word, meant.get(term.word, {}))
        if term.email:
            _add_keys(statement, place, LookupKey.EMAIL, term.email, EMAIL_WORTH)
        for digits in term.digits:
            _add_keys(statement, place, LookupKey.PHONE, digits, PHONE_WORTH)
            _add_keys(statement, place, LookupKey.PHONE_TAIL, reversed_word(digits), PHONE_WORTH)
    return _best(statement, limit), meant


def _best(statement: Statement, limit: int) -> list[Candidate]:
    """The rows added up by person; people are read of the best alone, and of those who share the last place."""
    union, parameters = statement.union()
    kept = "" if statement.only_active else f"WHERE {active('of_people.person_id')} "
    sql = (
        "SELECT q.id, best.terms, best.worth, best.by_value, best.by_interaction FROM ("  # noqa: S608
        "SELECT of_people.*, rank() OVER (ORDER BY terms DESC, worth DESC) AS standing, "
        "max(terms) OVER () AS most FROM ("
        "SELECT person_id, count(*) AS terms, sum(worth) AS worth, max(by_value) AS by_value, "
        "max(by_interaction) AS by_interaction FROM ("
        "SELECT person_id, place, max(worth) AS worth, max(by_value) AS by_value, "
        f"max(by_interaction) AS by_interaction FROM ({union}) AS rows_found GROUP BY person_id, place"
        f") AS of_terms GROUP BY person_id) AS of_people {kept}) AS best CROSS JOIN {PEOPLE} q "
        "WHERE best.terms = best.most AND best.standing <= %s AND q.id = best.person_id AND q.owner_id = %s "
        "ORDER BY best.terms DESC, best.worth DESC, q.sort_key, q.id LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, limit, statement.owner_id, limit])
        return [_candidate(*row) for row in cursor.fetchall()]


def _candidate(person_id: UUID | str, terms: int, worth: int, by_value: int, by_interaction: int) -> Candidate:
    key = person_id if isinstance(person_id, UUID) else UUID(person_id)
    return Candidate(key, int(terms), int(worth), bool(by_value), bool(by_interaction))


def _add_word(statement: Statement, place: int, word: str, meant: dict[int, list[str]]) -> None:
    is_short = is_letter(word)
    kinds = (NAME,) if is_short else tuple(WORTH)  # what a letter begins are names alone
    for kind in kinds:
        _add_keys(statement, place, kind, word, WORTH[kind])
    for distance, words in meant.items():
        _add_meant(statement, place, words, MISTYPED[distance])
    if not is_short:
        _add_beside(statement, place, word)


def _add_keys(statement: Statement, place: int, kind: int, key: str, worth: tuple[int, int]) -> None:
    """The whole key, and then what begins with it, so that a common beginning pushes no whole one out."""
    condition = f"k.owner_id = %s AND k.kind = {kind} AND {statement.begins_with('k.key')}"
    rows = f"{KEYS} k WHERE {statement.found(condition, 'k.person_id')} {statement.in_order('k.key')}"
    said = f"CASE WHEN k.key = %s THEN {worth[0]} ELSE {worth[1]} END"
    _add(statement, place, rows, [key, statement.owner_id, *statement.range_of(key)], said, person="k.person_id")


def _add_meant(statement: Statement, place: int, words: Sequence[str], worth: int) -> None:
    marks = ", ".join(["%s"] * len(words))
    condition = f"k.owner_id = %s AND k.kind = {NAME} AND k.key IN ({marks})"
    rows = f"{KEYS} k WHERE {statement.found(condition, 'k.person_id')}"
    _add(statement, place, rows, [statement.owner_id, *words], str(worth), person="k.person_id")


def _add_beside(statement: Statement, place: int, word: str) -> None:
    """Values of active templates, and interactions that are not in the trash."""
    of_value = statement.found("t.deleted_at IS NULL", "v.person_id")
    of_interaction = statement.found("i.deleted_at IS NULL", "v.person_id")
    values = f"JOIN {VALUES} v ON v.id = w.value_id JOIN {TEMPLATES} t ON t.id = v.template_id WHERE {of_value}"
    interactions = (
        f"JOIN {INTERACTIONS} i ON i.id = w.interaction_id "
        f"JOIN {PARTICIPATIONS} v ON v.interaction_id = i.id WHERE {of_interaction}"
    )
    for table, beside, worth, flags in (
        (VALUE_WORDS, values, VALUE_WORTH, (1, 0)),
        (INTERACTION_WORDS, interactions, INTERACTION_WORTH, (0, 1)),
    ):
        # In order, so that PostgreSQL begins with them and not with all values.
        words = f"SELECT * FROM {table} WHERE owner_id = %s AND {statement.begins_with()} {statement.in_order()}"  # noqa: S608
        said = f"CASE WHEN w.key = %s THEN {worth[0]} ELSE {worth[1]} END"
        parameters = [word, statement.owner_id, *statement.range_of(word)]
        _add(statement, place, f"({words}) w {beside}", parameters, said, person="v.person_id", flags=flags)


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
    branch = f"SELECT {columns}, {flags[1]} AS by_interaction FROM {rows} LIMIT {statement.most_rows}"  # noqa: S608 - names of our own
    statement.add(f"SELECT * FROM ({branch}) AS branch_{len(statement)}", list(parameters))  # noqa: S608
