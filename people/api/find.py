"""GET /api/find: the people that people.find ranks, with the fields that matched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from accounts.models import User
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonObject
from people.api.person_query import read_search
from people.duplicates.keys import email_key
from people.field_table import FIELDS, Find, PersonField
from people.find import MAX_QUERY_LENGTH, Corrections, Hit, Term, find_hits, parse_query
from people.lookup import words_of, words_of_email
from people.models import Person
from people.names import COLUMNS
from people.phone_numbers import searched_numbers

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
_QUERY = OpenApiParameter(
    "q",
    {"type": "string", "pattern": r"\S"},
    required=True,
    description="Words, an e-mail address, or digits of a number.",
)
_LIMIT = integer_parameter("limit", low=1, description=f"Default {DEFAULT_LIMIT}; above {MAX_LIMIT} counts as that.")


class FoundPersonSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    displayName = serializers.CharField()
    photo = serializers.CharField(allow_null=True)
    organization = serializers.CharField(allow_null=True)


class FoundSerializer(serializers.Serializer[Any]):
    """Somebody who may be meant."""

    person = FoundPersonSerializer()
    score = serializers.FloatField(help_text="1: each word is a whole word of the name.")
    matched = serializers.ListField(child=serializers.CharField(), help_text="The fields that matched.")


_FIELDS: Final = tuple(field for field in FIELDS if field.find)
_COLUMNS: Final = {"owner_id", "photo", "organization", *COLUMNS, *(field.column for field in _FIELDS if field.column)}
MAX_TERM_SCORE: Final = 100


def find_people(owner: User, query: str, limit: int) -> list[JsonObject]:
    """The best `limit` people for `query`, as GET /api/find returns them."""
    terms = parse_query(query)
    if not terms:
        return []
    hits, corrections = find_hits(owner, terms, limit)
    people = Person.objects.owned_by(owner).active().only(*sorted(_COLUMNS)).in_bulk([hit.person_id for hit in hits])
    # A person may have been deleted between the two statements.
    return [
        _serialize(owner, people[hit.person_id], hit, terms, corrections) for hit in hits if hit.person_id in people
    ]


def _serialize(owner: User, person: Person, hit: Hit, terms: Sequence[Term], corrections: Corrections) -> JsonObject:
    summary = {
        "id": str(person.pk),
        "displayName": person.display_name_for(owner),
        "photo": person.photo,
        "organization": person.organization,
    }
    score = round(hit.score / (MAX_TERM_SCORE * len(terms)), 3)
    return {"person": summary, "score": score, "matched": list(_matched_fields(person, hit, terms, corrections))}


def _matched_fields(person: Person, hit: Hit, terms: Sequence[Term], corrections: Corrections) -> Iterator[str]:
    corrected = {word for by_distance in corrections.values() for found in by_distance.values() for word in found}
    query = _Query(
        terms=terms,
        words=[term.word for term in terms if term.word],
        digits=[digits for term in terms for digits in term.digits],
        corrected=corrected,
    )
    for field in _FIELDS:
        # Values and interactions are other tables: the statement reports whether a row of theirs matched.
        if hit.by_value if field.find is Find.VALUE else _is_match(field, getattr(person, field.column), query):
            yield field.name
    if hit.by_interaction:
        yield "interactions"


@dataclass(frozen=True, slots=True)
class _Query:
    terms: Sequence[Term]
    words: Sequence[str]
    digits: Sequence[str]
    corrected: set[str]


def _is_match(field: PersonField, value: Any, query: _Query) -> bool:
    """Whether the query finds this value of the field."""
    match field.find:
        case Find.NAME:
            tokens = words_of(value)
            return _has_prefix(tokens, query.words) or not query.corrected.isdisjoint(tokens)
        case Find.TEXT | Find.NOTES:
            return _has_prefix(words_of(value), query.words)
    entries = [[entry[key] for key in field.indexed_keys] for entry in value]
    match field.find:
        case Find.EMAIL:
            return any(_is_found_email(address, query) for [address] in entries)
        case Find.PHONE:
            # Parsing a phone number is the slow part: most queries have no digits.
            numbers = (key for [number] in entries for key in searched_numbers(number)) if query.digits else ()
            return any(key.startswith(digits) or key.endswith(digits) for key in numbers for digits in query.digits)
    return any(_has_prefix(words_of(*texts), query.words) for texts in entries)


def _has_prefix(tokens: Sequence[str], prefixes: Sequence[str]) -> bool:
    return any(token.startswith(prefix) for token in tokens for prefix in prefixes)


def _is_found_email(address: str, query: _Query) -> bool:
    key = email_key(address) or ""
    return any(key.startswith(term.email) for term in query.terms if term.email) or _has_prefix(
        words_of_email(address), query.words
    )


class FindViewSet(ApiViewSet[Any]):
    """Finding people."""

    @extend_schema(
        operation_id="findPeople",
        parameters=[_QUERY, _LIMIT],
        responses={200: envelope("FindAnswer", results=FoundSerializer(many=True))},
    )
    @raises(FieldError)
    def list(self, request: Request) -> Response:
        """People by name, also mistyped, e-mail, phone digits, notes, own fields and interactions."""
        query = request.query_params
        limit = min(read_integer(query, "limit", default=DEFAULT_LIMIT, low=1), MAX_LIMIT)
        text = read_search(query, max_length=MAX_QUERY_LENGTH)
        return Response({"results": find_people(self.owner, text, limit)})
