"""Who was found, as answers show them, with the fields that matched."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from accounts.models import User
from people.dates.upcoming import name_of
from people.duplicates.keys import email_key
from people.duplicates.phones import phone_key
from people.find.candidates import Candidate, find_candidates
from people.find.terms import Term, terms_of
from people.models import Person
from people.words import words_of, words_of_email

_NAMES: Final = {
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
_TEXTS: Final = {"organization": "organization", "jobTitle": "job_title", "notes": "notes"}
_READ: Final = (
    *("owner_id", "photo", "emails", "phone_numbers", "custom_fields"),
    *_NAMES.values(),
    *_TEXTS.values(),
)
WHOLE: Final = 100


def find_people(owner: User, query: str, limit: int) -> list[dict[str, Any]]:
    """The best `limit` people for `query`, as GET /api/find lists them: three statements."""
    terms = terms_of(query)
    if not terms:
        return []
    candidates, meant = find_candidates(owner, terms, limit)
    people = Person.objects.owned_by(owner).active().only(*_READ).in_bulk([one.person_id for one in candidates])
    return [
        _answer(owner, people[candidate.person_id], candidate, terms, meant)
        for candidate in candidates
        if candidate.person_id in people
    ]


def _answer(owner: User, person: Person, candidate: Candidate, terms: Sequence[Term], meant: Any) -> dict[str, Any]:
    shown = {
        "id": str(person.pk),
        "displayName": name_of(person, owner),
        "photo": person.photo,
        "organization": person.organization,
    }
    score = round(candidate.worth / (WHOLE * len(terms)), 3)
    return {"person": shown, "score": score, "matched": list(_matched(person, candidate, terms, meant))}


def _matched(person: Person, candidate: Candidate, terms: Sequence[Term], meant: Any) -> Iterator[str]:
    words = [term.word for term in terms if term.word]
    mistyped = {word for near in meant.values() for those in near.values() for word in those}
    for field, column in _NAMES.items():
        found = words_of(getattr(person, column))
        if _begins(found, words) or mistyped.intersection(found):
            yield field
    for field, column in _TEXTS.items():
        if _begins(words_of(getattr(person, column)), words):
            yield field
    if _has_email(person, terms, words):
        yield "emails"
    if any(_has_digits(person, digits) for term in terms for digits in term.digits):
        yield "phoneNumbers"
    if any(_begins(words_of(entry["key"], entry["value"]), words) for entry in person.custom_fields):
        yield "customFields"
    if candidate.by_value:
        yield "customFieldValues"
    if candidate.by_interaction:
        yield "interactions"


def _begins(found: Sequence[str], words: Sequence[str]) -> bool:
    return any(one.startswith(word) for one in found for word in words)


def _has_email(person: Person, terms: Sequence[Term], words: Sequence[str]) -> bool:
    addresses = [entry["email"] for entry in person.emails]
    asked = [term.email for term in terms if term.email]
    return any((email_key(address) or "").startswith(begin) for address in addresses for begin in asked) or any(
        _begins(words_of_email(address), words) for address in addresses
    )


def _has_digits(person: Person, digits: str) -> bool:
    keys = [phone_key(entry["number"]) or "" for entry in person.phone_numbers]
    return any(key.startswith(digits) or key.endswith(digits) for key in keys)
