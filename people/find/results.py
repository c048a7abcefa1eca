"""Loads and serializes the people found by a search, with the fields that matched."""

from collections.abc import Iterator, Sequence
from typing import Final

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from people.duplicates.keys import email_key
from people.duplicates.phones import searched_numbers
from people.find.candidates import Candidate, find_candidates
from people.find.terms import Term, parse_query
from people.find.typing_errors import Corrections
from people.models import Person
from people.words import words_of, words_of_email

_NAME_FIELDS: Final = {
    "name": "name",
    "surname": "surname",
    "middleName": "middle_name",
    "secondLastName": "second_last_name",
    "nickname": "nickname",
    "prefix": "prefix",
    "suffix": "suffix",
    "displayNameOverride": "display_name_override",
    "phoneticName": "phonetic_name",
    "phoneticSurname": "phonetic_surname",
}
_TEXT_FIELDS: Final = {"organization": "organization", "jobTitle": "job_title", "notes": "notes"}
_COLUMNS: Final = (
    *("owner_id", "photo", "emails", "phone_numbers", "custom_fields"),
    *_NAME_FIELDS.values(),
    *_TEXT_FIELDS.values(),
)
MAX_TERM_SCORE: Final = 100


def find_people(owner: User, query: str, limit: int) -> list[JsonObject]:
    """The best `limit` people for `query`, as GET /api/find returns them: three statements."""
    terms = parse_query(query)
    if not terms:
        return []
    candidates, corrections = find_candidates(owner, terms, limit)
    people = (
        Person.objects.owned_by(owner)
        .active()
        .only(*_COLUMNS)
        .in_bulk([candidate.person_id for candidate in candidates])
    )
    # A candidate may have been deleted between the two statements.
    return [
        _serialize(owner, people[candidate.person_id], candidate, terms, corrections)
        for candidate in candidates
        if candidate.person_id in people
    ]


def _serialize(
    owner: User, person: Person, candidate: Candidate, terms: Sequence[Term], corrections: Corrections
) -> JsonObject:
    summary = {
        "id": str(person.pk),
        "displayName": person.display_name_for(owner),
        "photo": person.photo,
        "organization": person.organization,
    }
    score = round(candidate.score / (MAX_TERM_SCORE * len(terms)), 3)
    return {"person": summary, "score": score, "matched": list(_matched_fields(person, candidate, terms, corrections))}


def _matched_fields(
    person: Person, candidate: Candidate, terms: Sequence[Term], corrections: Corrections
) -> Iterator[str]:
    words = [term.word for term in terms if term.word]
    corrected = {word for by_distance in corrections.values() for found in by_distance.values() for word in found}
    for field, column in _NAME_FIELDS.items():
        tokens = words_of(getattr(person, column))
        if _has_prefix(tokens, words) or corrected.intersection(tokens):
            yield field
    for field, column in _TEXT_FIELDS.items():
        if _has_prefix(words_of(getattr(person, column)), words):
            yield field
    if _has_email(person, terms, words):
        yield "emails"
    numbers = [digits for term in terms for digits in term.digits]
    # Parsing a phone number is the slow part: most queries have no digits.
    stored = [key for entry in person.phone_numbers for key in searched_numbers(entry["number"])] if numbers else []
    if any(key.startswith(digits) or key.endswith(digits) for key in stored for digits in numbers):
        yield "phoneNumbers"
    if any(_has_prefix(words_of(entry["key"], entry["value"]), words) for entry in person.custom_fields):
        yield "customFields"
    # Values and interactions are other tables: the statement reports whether a row of theirs matched.
    if candidate.by_value:
        yield "customFieldValues"
    if candidate.by_interaction:
        yield "interactions"


def _has_prefix(tokens: Sequence[str], prefixes: Sequence[str]) -> bool:
    return any(token.startswith(prefix) for token in tokens for prefix in prefixes)


def _has_email(person: Person, terms: Sequence[Term], words: Sequence[str]) -> bool:
    addresses = [entry["email"] for entry in person.emails]
    prefixes = [term.email for term in terms if term.email]
    return any((email_key(address) or "").startswith(prefix) for address in addresses for prefix in prefixes) or any(
        _has_prefix(words_of_email(address), words) for address in addresses
    )
