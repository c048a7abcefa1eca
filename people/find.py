"""Ranks people for a query: one statement looks up every term in the index and sums the scores by person.

A mistyped word is corrected first: by words of the account's names within a small edit distance. The maximum is one
edit (insertion, deletion, replacement, or transposition) for a word of four to seven letters, and two for a longer one.
Candidates are all words that begin with the same letter or end with the same two letters; only two errors, one in each
of these places, escape that. The distance is computed in the process, not in the database.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection
from rapidfuzz.distance import OSA

from accounts.models import User
from contacts_project.kernel.text_forms import ascii_digits, normal_form
from people.duplicates.keys import email_key
from people.lookup import is_letter, reversed_word, words_of
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Interaction,
    InteractionWord,
    LookupKey,
    Participation,
    Person,
    ValueWord,
)
from people.phone_numbers import (
    EXTENSION,
    MAX_SHORT_DIGITS,
    MIN_SEARCHED_DIGITS,
    ends_in_word,
    national_numbers,
    numbers_without_extension,
    phone_keys,
    searched_numbers,
)

MAX_QUERY_LENGTH: Final = 200
#: Digits of a number that a search by name looks for, too.
MIN_NUMBER_DIGITS: Final = 4
# Each term adds branches to the statement.
_MAX_TERMS: Final = 8
_PHONE = re.compile(r"[\d\s()+./\u2010-\u2013-]+")
# Any punctuation says nothing in a whole number. In few digits it does: 12:30 is a time. An @ makes an address.
_WHOLE_PHONE, _MIN_WHOLE_DIGITS = re.compile(r"(?:[^\w@]|[\d_])+"), 7
_WITH_EXTENSION = re.compile(rf"{_PHONE.pattern}(?:{EXTENSION.pattern})[a-z.:=\s]*\d+\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Term:
    """One part of the query. A person matches it by any of: a `word`, the prefix of an e-mail address, or `digits`.

    `digits` holds the variants in which the number may be stored.
    """

    word: str = ""
    email: str = ""
    digits: tuple[str, ...] = field(default=())


def parse_query(text: str) -> list[list[Term]]:
    """The readings of a query (people.api.person_query.read_search), the likeliest first: a number, then words.

    `030 123 45` is one number. Where nobody has it, people count whose texts have all its words, as for `2026-11-28`.
    """
    words, number = _parse_words(text), parse_number(text)
    if number is None:
        return [words]
    if len(words) == 1:
        return [[Term(words[0].word, digits=number.digits)]]
    return [[number], [Term(term.word) for term in words]]


def parse_number(text: str) -> Term | None:
    """The term of a text that is a phone number in any spelling, or a part of one; None for another text."""
    plain = normal_form("NFKC", text).strip().lower().removeprefix("tel:")
    # With its extension, or without if the number is stored so.
    if _WITH_EXTENSION.fullmatch(plain) and (bare := numbers_without_extension(plain)):
        return Term(digits=(*phone_keys(plain), *bare))
    digits: tuple[str, ...] = ()
    is_whole = sum(map(str.isdecimal, plain)) >= _MIN_WHOLE_DIGITS
    if (_WHOLE_PHONE if is_whole else _PHONE).fullmatch(plain):
        digits = _digit_variants(plain)
    elif ends_in_word(plain):
        digits = phone_keys(plain)
    return Term(digits=digits) if digits else None


def is_searchable_number(text: str) -> bool:
    """Whether the text has as many digits as a search for text asks for to look at numbers, too."""
    return len(text) <= MAX_QUERY_LENGTH and sum(map(str.isdecimal, text)) >= MIN_NUMBER_DIGITS


def has_number(number: str, digits: Sequence[str]) -> bool:
    """Whether a stored number is one of a term's `digits`, or begins or ends so."""
    keys = searched_numbers(number)
    return any(key.startswith(part) or key.endswith(part) for key in keys for part in digits)


def _parse_words(text: str) -> list[Term]:
    """The terms of a text, eight at most, each once."""
    terms: list[Term] = []
    for part in text.split():
        if "@" in part.strip("@"):
            terms.append(Term(email=email_key(part) or ""))
        else:
            terms += [Term(word, digits=_digit_variants(word) if word.isdecimal() else ()) for word in words_of(part)]
    return list(dict.fromkeys(terms))[:_MAX_TERMS]


def _digit_variants(text: str) -> tuple[str, ...]:
    """The digits as they are, without a trunk prefix, and without a country code in case the text begins with one."""
    digits = re.sub(r"\D", "", ascii_digits(text))
    if len(digits) < MIN_SEARCHED_DIGITS:
        return ()
    # Without a plus, only what is as long as a stored number is also read as one with a country code.
    variants = [*national_numbers(text, MIN_SEARCHED_DIGITS), digits.lstrip("0"), digits]
    # No country code begins with 0: 0170 1112233 is not 1112233 with the code 017, which would find 0171 1112233.
    variants += phone_keys(f"+{digits}") if digits[0] != "0" else ()
    return tuple(dict.fromkeys(key for key in variants if len(key) >= MIN_SEARCHED_DIGITS))


PEOPLE: Final = Person._meta.db_table
KEYS: Final = LookupKey._meta.db_table
VALUE_WORDS: Final = ValueWord._meta.db_table
VALUES: Final = CustomFieldValue._meta.db_table
TEMPLATES: Final = CustomFieldTemplate._meta.db_table
INTERACTION_WORDS: Final = InteractionWord._meta.db_table
INTERACTIONS: Final = Interaction._meta.db_table
PARTICIPATIONS: Final = Participation._meta.db_table
_LAST_CHARACTER: Final = "\U0010ffff"


class Statement:
    """The branches of a UNION ALL and their parameters.

    `max_rows`: limit of a branch. `only_active`: each branch excludes people in the trash.
    """

    def __init__(self, owner: User, *, max_rows: int = 0, only_active: bool = False) -> None:
        self.max_rows = max_rows
        self.only_active = only_active
        # SQLite stores an id as 32 hexadecimal digits.
        self.owner_id = owner.pk if connection.features.has_native_uuid_field else owner.pk.hex
        self._branches: list[str] = []
        self._parameters: list[Any] = []

    def __len__(self) -> int:
        return len(self._branches)

    def add(self, branch: str, parameters: list[Any]) -> None:
        self._branches.append(branch)
        self._parameters += parameters

    def union(self) -> tuple[str, list[Any]]:
        return " UNION ALL ".join(self._branches), self._parameters

    def restrict(self, condition: str, person: str) -> str:
        """Add to `condition` that `person` is active, if `only_active`."""
        # With several terms the people are filtered later, once each. With one term the row limit is low, and rows of
        # people in the trash could fill it.
        return f"{condition} AND {is_active_sql(person)}" if self.only_active else condition

    @staticmethod
    def has_prefix(column: str = "key") -> str:
        """A condition with the two parameters of `prefix_range`."""
        # The ~ operators compare characters and ignore the collation, like the text_pattern_ops index.
        at_least, less_than = ("~>=~", "~<~") if connection.vendor == "postgresql" else (">=", "<")
        return f"{column} {at_least} %s AND {column} {less_than} %s"

    @staticmethod
    def order_by(column: str = "key") -> str:
        """The order of the index, in which an exact match precedes longer words with the same prefix."""
        return f"ORDER BY {column} USING ~<~" if connection.vendor == "postgresql" else f"ORDER BY {column}"

    @staticmethod
    def prefix_range(prefix: str) -> tuple[str, str]:
        return prefix, prefix + _LAST_CHARACTER


def is_active_sql(person: str) -> str:
    """The condition that the person with this id is not in the trash."""
    # NOT EXISTS on the small partial index of deleted people: a join with the person of each row took PostgreSQL five
    # times as long. OFFSET 0 keeps it a look-up for each row, whatever PostgreSQL estimates the trash to contain.
    deleted = f"SELECT 1 FROM {PEOPLE} g WHERE g.id = {person} AND g.deleted_at IS NOT NULL LIMIT 1 OFFSET 0"  # noqa: S608
    return f"NOT EXISTS ({deleted})"


_MIN_CORRECTABLE, _MIN_LENGTH_FOR_TWO_ERRORS = 4, 8
_SUFFIX_LENGTH: Final = 2
# Each correction is a parameter of the statement that looks for people.
_MAX_CORRECTIONS: Final = 500

Corrections = dict[str, dict[int, list[str]]]
"""By the query's word, then by edit distance (1 or 2): words of names."""


def find_corrections(owner: User, words: Sequence[str]) -> Corrections:
    """The 500 nearest corrections of each word, without the word itself."""
    correctable = [word for word in dict.fromkeys(words) if len(word) >= _MIN_CORRECTABLE and word.isalpha()]
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


class Hit(NamedTuple):
    """A person who matches `terms` terms of the query; `score` is the sum of their scores.

    `value_id` and `interaction_id` are the latest custom value and interaction that match; None without one.
    """

    person_id: UUID
    terms: int
    score: int
    value_id: UUID | None
    interaction_id: UUID | None


def find_hits(owner: User, terms: Sequence[Term], limit: int) -> tuple[list[Hit], Corrections]:
    """The best `limit` active people, and the corrections of mistyped words."""
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


def people_with_number(owner: User, text: str, limit: int) -> list[UUID]:
    """The active people who have a number that the text is, or begins or ends; none for a text that is no number."""
    number = parse_number(text) if is_searchable_number(text) else None
    return [hit.person_id for hit in find_hits(owner, [number], limit)[0]] if number else []


def _execute(statement: Statement, limit: int) -> list[Hit]:
    """Sum the scores by person and return the best.

    The window function ranks people before the join, so that the table of people is read for the best and those tied
    with the last of them alone.
    """
    union, parameters = statement.union()
    active_condition = "" if statement.only_active else f"WHERE {is_active_sql('of_people.person_id')} "
    sql = (
        "SELECT q.id, best.terms, best.score, best.value_id, best.interaction_id FROM ("  # noqa: S608
        "SELECT of_people.*, rank() OVER (ORDER BY terms DESC, score DESC) AS ranking, "
        "max(terms) OVER () AS max_terms FROM ("
        "SELECT person_id, count(*) AS terms, sum(score) AS score, max(value_id) AS value_id, "
        "max(interaction_id) AS interaction_id FROM ("
        "SELECT person_id, term_index, max(score) AS score, max(value_id) AS value_id, "
        f"max(interaction_id) AS interaction_id FROM ({union}) AS rows_found GROUP BY person_id, term_index"
        f") AS of_terms GROUP BY person_id) AS of_people {active_condition}) AS best CROSS JOIN {PEOPLE} q "
        "WHERE best.terms = best.max_terms AND best.ranking <= %s AND q.id = best.person_id AND q.owner_id = %s "
        "ORDER BY best.terms DESC, best.score DESC, q.sort_key, q.id LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, limit, statement.owner_id, limit])
        return [
            Hit(_read_id(person_id), int(terms), int(score), value_id and UUID(value_id), row_id and UUID(row_id))
            for person_id, terms, score, value_id, row_id in cursor.fetchall()
        ]


def _read_id(value: UUID | str) -> UUID:
    """SQLite returns ids as text."""
    return value if isinstance(value, UUID) else UUID(value)


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
    for table, joins, scores, row_ids in (
        (VALUE_WORDS, values, VALUE_SCORES, ("w.value_id", "NULL")),
        (INTERACTION_WORDS, interactions, INTERACTION_SCORES, ("NULL", "w.interaction_id")),
    ):
        # The ORDER BY makes PostgreSQL start the join with the matching words and not with all values.
        words = f"SELECT * FROM {table} WHERE owner_id = %s AND {statement.has_prefix()} {statement.order_by()}"  # noqa: S608
        score = f"CASE WHEN w.key = %s THEN {scores[0]} ELSE {scores[1]} END"
        parameters = [word, statement.owner_id, *statement.prefix_range(word)]
        _add_branch(
            statement, position, f"({words}) w {joins}", parameters, score, person="v.person_id", row_ids=row_ids
        )


def _add_branch(
    statement: Statement,
    position: int,
    rows: str,
    parameters: Iterable[object],
    score: str,
    *,
    person: str,
    row_ids: tuple[str, str] = ("NULL", "NULL"),
) -> None:
    # As texts: PostgreSQL has no maximum of ids.
    ids = f"CAST({row_ids[0]} AS text) AS value_id, CAST({row_ids[1]} AS text) AS interaction_id"
    columns = f"{person} AS person_id, {position} AS term_index, {score} AS score, {ids}"
    branch = f"SELECT {columns} FROM {rows} LIMIT {statement.max_rows}"  # noqa: S608 - names of our own
    # SQLite allows a LIMIT in a branch of a UNION only inside a subquery.
    statement.add(f"SELECT * FROM ({branch}) AS branch_{len(statement)}", list(parameters))  # noqa: S608
