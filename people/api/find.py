"""GET /api/find: the people that people.find ranks, with the fields that matched and an excerpt of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Self
from uuid import UUID

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
from people.excerpts import find_excerpt
from people.field_table import FIELDS, Find, PersonField
from people.find import MAX_QUERY_LENGTH, Corrections, Hit, Term, find_hits, has_number, parse_query
from people.lookup import is_letter, words_of, words_of_email
from people.models import CustomFieldValue, Interaction, Person
from people.names import COLUMNS

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
_QUERY = OpenApiParameter(
    "q",
    {"type": "string", "pattern": r"\S"},
    required=True,
    description="Words, an e-mail address, or a phone number in any spelling, or digits of one.",
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
    excerpt = serializers.CharField(
        allow_null=True,
        help_text="The place in the text that matched; null where a name or number alone matched.",
    )


_VALUES: Final = "customFieldValues"
_FIELDS: Final = tuple(field for field in FIELDS if field.find)
_COLUMNS: Final = {"owner_id", "photo", "organization", *COLUMNS, *(field.column for field in _FIELDS if field.column)}
MAX_TERM_SCORE: Final = 100


def find_people(owner: User, query: str, limit: int) -> list[JsonObject]:
    """The best `limit` people for `query`, as GET /api/find returns them."""
    terms: list[Term] = []
    hits: list[Hit] = []
    corrections: Corrections = {}
    for is_second, terms in enumerate(filter(None, parse_query(query))):
        hits, corrections = find_hits(owner, terms, limit)
        hits = [hit for hit in hits if not is_second or hit.terms == len(terms)]
        if hits:
            break
    if not hits:
        return []
    corrected = {word for by_distance in corrections.values() for found in by_distance.values() for word in found}
    people = Person.objects.owned_by(owner).active().only(*sorted(_COLUMNS)).in_bulk([hit.person_id for hit in hits])
    results = _Results(owner, _Query.of(terms, corrected), *_load_rows(owner, hits))
    # A person may have been deleted between the statements.
    return [results.serialize(people[hit.person_id], hit) for hit in hits if hit.person_id in people]


def _load_rows(owner: User, hits: Sequence[Hit]) -> tuple[dict[UUID, str], dict[UUID, list[str]]]:
    """The texts of the custom values and of the interactions that matched; no statement where none did."""
    value_ids, interaction_ids = {hit.value_id for hit in hits}, {hit.interaction_id for hit in hits}
    values = CustomFieldValue.objects.owned_by(owner).filter(pk__in=value_ids - {None})
    interactions = Interaction.objects.owned_by(owner).active().filter(pk__in=interaction_ids - {None})
    return (
        {key: str(value) for key, value in values.values_list("pk", "value")},
        {key: [title or "", notes or ""] for key, title, notes in interactions.values_list("pk", "title", "notes")},
    )


@dataclass(frozen=True, slots=True)
class _Results:
    """What is read once for all people of an answer."""

    owner: User
    query: "_Query"
    values: dict[UUID, str]
    interactions: dict[UUID, list[str]]

    def serialize(self, person: Person, hit: Hit) -> JsonObject:
        summary = {
            "id": str(person.pk),
            "displayName": person.display_name_for(self.owner),
            "photo": person.photo,
            "organization": person.organization,
        }
        matched = {field.name: _texts_of(field, person) for field in _FIELDS if self._is_match(field, person)}
        # Values and interactions are other tables: the statement reports which row of theirs matched.
        if hit.value_id:
            matched[_VALUES] = [self.values.get(hit.value_id, "")]
        if hit.interaction_id:
            matched["interactions"] = self.interactions.get(hit.interaction_id, [])
        return {
            "person": summary,
            "score": round(hit.score / (MAX_TERM_SCORE * len(self.query.terms)), 3),
            "matched": list(matched),
            "excerpt": self._excerpt(chain.from_iterable(matched.values())),
        }

    def _is_match(self, field: PersonField, person: Person) -> bool:
        return field.find is not Find.VALUE and _is_match(field, getattr(person, field.column), self.query)

    def _excerpt(self, texts: Iterable[str]) -> str | None:
        """The excerpt of the text that has the most terms, the first of several."""
        excerpts = [find_excerpt(text, self.query.terms) for text in texts if text.strip()]
        return max(excerpts, key=attrgetter("terms")).text if excerpts else None


def _texts_of(field: PersonField, person: Person) -> list[str]:
    """The texts of a field that matched which an excerpt may show: not those of names and numbers."""
    value = getattr(person, field.column)
    match field.find:
        case Find.TEXT | Find.NOTES:
            return [value]
        case Find.EMAIL | Find.CUSTOM:
            # The value alone, where the name of the field says nothing of what was asked for.
            entries = [[entry[key] for key in field.indexed_keys] for entry in value]
            return [text for texts in entries for text in dict.fromkeys((texts[-1], ": ".join(texts)))]
    return []


@dataclass(frozen=True, slots=True)
class _Query:
    terms: Sequence[Term]
    words: Sequence[str]
    long_words: Sequence[str]
    """Those that are searched in more than names."""
    digits: Sequence[str]
    corrected: set[str]

    @classmethod
    def of(cls, terms: Sequence[Term], corrected: set[str]) -> Self:
        words = [term.word for term in terms if term.word]
        long_words = [word for word in words if not is_letter(word)]
        return cls(terms, words, long_words, [digits for term in terms for digits in term.digits], corrected)


def _is_match(field: PersonField, value: Any, query: _Query) -> bool:
    """Whether the query finds this value of the field."""
    match field.find:
        case Find.NAME:
            tokens = words_of(value)
            return _has_prefix(tokens, query.words) or not query.corrected.isdisjoint(tokens)
        case Find.TEXT | Find.NOTES:
            return _has_prefix(words_of(value), query.long_words)
    entries = [[entry[key] for key in field.indexed_keys] for entry in value]
    match field.find:
        case Find.EMAIL:
            return any(_is_found_email(address, query) for [address] in entries)
        case Find.PHONE:
            # Parsing a phone number is the slow part: most queries have no digits.
            return bool(query.digits) and any(has_number(number, query.digits) for [number] in entries)
    return any(_has_prefix(words_of(*texts), query.long_words) for texts in entries)


def _has_prefix(tokens: Sequence[str], prefixes: Sequence[str]) -> bool:
    return any(token.startswith(prefix) for token in tokens for prefix in prefixes)


def _is_found_email(address: str, query: _Query) -> bool:
    key = email_key(address) or ""
    return any(key.startswith(term.email) for term in query.terms if term.email) or _has_prefix(
        words_of_email(address), query.long_words
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
