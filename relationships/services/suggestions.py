"""Lists suggestions of relationships, and accepts or dismisses them. No relationship is created without an answer."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import Text, define_text
from people.duplicates.keys import name_key
from people.models import Person, RelationshipType
from people.names import NameParts
from people.services.person_writer import create_person
from relationships.models import AnsweredSuggestion
from relationships.services.relationships import create_relationship
from relationships.services.types import create_type, default_type, ensure_types, restore_deleted_types
from relationships.suggestions.cards import find_card_suggestions, list_card_suggestions
from relationships.suggestions.derived import find_derived_suggestions, list_derived_suggestions
from relationships.suggestions.suggestion import (
    Exclusions,
    Suggestion,
    load_answers,
    load_names,
    load_relationships,
    load_silent,
    types_by_name,
)

Errors = list[dict[str, Any]]
ALREADY_ANSWERED = define_text("suggestion_answered", "This suggestion has been answered already.")
DELETED = define_text("suggestion_person_gone", "One of the two people is not there any more.")
ALREADY_RELATED = define_text("already_related", "These two are something to each other by now.")


def list_suggestions(owner: User) -> list[JsonObject]:
    """The items of GET /api/relationship-suggestions: suggestions from cards, then derived ones."""
    types, exclusions = types_by_name(owner), Exclusions()
    load_answers(exclusions, owner)
    load_silent(exclusions, owner)
    # Cards first: a derived suggestion of the same type and pair is then excluded.
    suggestions = [*list_card_suggestions(owner, exclusions), *list_derived_suggestions(owner, exclusions)]
    return [suggestion.serialize(types) for suggestion in suggestions]


def accept_suggestions(
    *, owner: User, ids: Sequence[UUID], related_person_id: UUID | None, now: dt.datetime
) -> tuple[int, Errors]:
    """Create the relationships; returns their number, and an error for each suggestion that failed.

    A name that matches nobody creates a person, one for all suggestions of the request with this name.
    `related_person_id` replaces the person whom the suggestion matched. A type that the account does not have is
    restored from the trash, or created. Raises FieldError where an id is unknown.
    """
    derived = _find_derived(owner, ids)
    with account_write(owner):
        errors = {} if related_person_id else _deleted_errors(owner, derived) | _related_errors(owner, derived)
        acceptance = _Acceptance(owner, related_person_id, now)
        return _answer_each(owner, ids, derived, errors, acceptance.accept)


def dismiss_suggestions(*, owner: User, ids: Sequence[UUID]) -> tuple[int, Errors]:
    """Exclude the suggestions from now on; returns their number, and an error for each that failed.

    Raises FieldError where an id is unknown.
    """
    derived = _find_derived(owner, ids)
    with account_write(owner):
        return _answer_each(
            owner,
            ids,
            derived,
            _deleted_errors(owner, derived),
            lambda suggestion: _record_answer(owner, suggestion, suggestion.related_person_id, accepted=False),
        )


def _answer_each(
    owner: User,
    ids: Sequence[UUID],
    derived: dict[UUID, Suggestion],
    error_messages: dict[UUID, Text],
    answer: Callable[[Suggestion], None],
) -> tuple[int, Errors]:
    """Call `answer` with each suggestion that has no error yet. Must be called inside `account_write`."""
    answered = _find_answered(owner, ids)
    # Names are matched inside the lock: the request before this one may have created the person.
    unanswered = [key for key in ids if key not in answered]
    found = derived | {suggestion.id: suggestion for suggestion in find_card_suggestions(owner, unanswered)}
    for position, key in enumerate(ids):
        if key not in answered and key not in found:
            raise FieldError(f"ids.{position}", NO_SUCH_RECORD)
    error_messages = error_messages | dict.fromkeys(answered, ALREADY_ANSWERED)
    errors: Errors = [_describe_error(key, error_messages[key]) for key in ids if key in error_messages]
    for key in dict.fromkeys(ids):
        if key in error_messages:
            continue
        try:
            # A savepoint, so that one failure does not roll back the others.
            with transaction.atomic():
                answer(found[key])
        except DomainError as error:
            errors.append(_describe_error(key, error.message))
    return len(ids) - len(errors), errors


def _describe_error(key: UUID, text: Text) -> JsonObject:
    described = {"id": key, "error": text, "code": text.code}
    return described | {"params": text.described_params()} if text.params else described


def _find_answered(owner: User, ids: Sequence[UUID]) -> set[UUID]:
    return set(AnsweredSuggestion.objects.owned_by(owner).filter(pk__in=ids).values_list("pk", flat=True))


def _find_derived(owner: User, ids: Sequence[UUID]) -> dict[UUID, Suggestion]:
    """The derived suggestions with these ids that are not answered.

    Called before the account is locked, because it reads all relationships. The checks below are then repeated inside
    the lock.
    """
    known = _find_answered(owner, ids) | {suggestion.id for suggestion in find_card_suggestions(owner, ids)}
    derived_ids = [key for key in ids if key not in known]
    if not derived_ids:
        return {}
    exclusions = Exclusions()
    load_answers(exclusions, owner)
    return {suggestion.id: suggestion for suggestion in find_derived_suggestions(owner, exclusions, derived_ids)}


def _deleted_errors(owner: User, derived: dict[UUID, Suggestion]) -> dict[UUID, Text]:
    """Errors, by id, of suggestions with a person who was deleted meanwhile."""
    active = load_names(
        owner,
        {key for suggestion in derived.values() for key in (suggestion.person_id, suggestion.related_person_id) if key},
    )
    return {
        key: DELETED
        for key, suggestion in derived.items()
        if not {suggestion.person_id, suggestion.related_person_id} <= active.keys()
    }


def _related_errors(owner: User, derived: dict[UUID, Suggestion]) -> dict[UUID, Text]:
    """Errors, by id, of suggestions whose people have a relationship by now."""
    exclusions = Exclusions()
    load_relationships(exclusions, owner, {suggestion.person_id for suggestion in derived.values()})
    pairs = exclusions.related.keys()
    return {
        key: ALREADY_RELATED
        for key, suggestion in derived.items()
        if (suggestion.person_id, suggestion.related_person_id) in pairs
    }


def _record_answer(owner: User, suggestion: Suggestion, related_person_id: UUID | None, *, accepted: bool) -> None:
    AnsweredSuggestion.objects.create(
        id=suggestion.id,
        owner=owner,
        person_id=suggestion.person_id,
        related_person_id=related_person_id,
        name_on_card=suggestion.name_on_card,
        type_name=suggestion.type_name,
        accepted=accepted,
    )


class _Acceptance:
    """The state of one accept request: the account's types, and the people created so far, by name key."""

    def __init__(self, owner: User, related_person_id: UUID | None, now: dt.datetime) -> None:
        self.owner, self.related_person_id, self.now = owner, related_person_id, now
        self.types = {row.name: row for row in RelationshipType.objects.owned_by(owner).active()}
        self.created: dict[str, UUID] = {}

    def accept(self, suggestion: Suggestion) -> None:
        """Raises FieldError, PlanLimitError."""
        related_id = self.related_person_id or self._find_or_create_related(suggestion)
        create_relationship(
            owner=self.owner,
            person_id=self._check_active(suggestion.person_id, "personId"),
            related_person_id=related_id,
            type_id=self._load_or_create_type(suggestion.type_name).pk,
            now=self.now,
        )
        _record_answer(self.owner, suggestion, related_id, accepted=True)
        # Last: an error above rolls back the savepoint, and with it the new person.
        if not suggestion.related_person_id:
            self.created[_related_name_key(suggestion)] = related_id

    def _find_or_create_related(self, suggestion: Suggestion) -> UUID:
        if suggestion.related_person_id:
            return self._check_active(suggestion.related_person_id, "relatedPersonId")
        if created := self.created.get(_related_name_key(suggestion)):
            return created
        name, surname = _split_name(suggestion.related_name)
        return create_person(owner=self.owner, data={"name": name, "surname": surname}, now=self.now).pk

    def _load_or_create_type(self, name: str) -> RelationshipType:
        """The type with this name: active, restored from the trash, or created with the defaults. Raises FieldError."""
        if name in self.types:
            return self.types[name]
        # Not cached in `types`: an error later rolls back the savepoint, and with it the type.
        types = RelationshipType.objects.owned_by(self.owner)
        if row := types.active().filter(name=name).first():
            return row
        if row := types.deleted().filter(name=name).order_by("deleted_at").last():
            restore_deleted_types(self.owner.pk, [row.pk], self.now)
            return row
        kind = default_type(name, self.owner.language)
        if inverse := types.active().filter(name=kind.inverse).first():
            data = {"name": kind.name, "label": kind.label, "inverse": inverse}
            return create_type(owner=self.owner, data=data, now=self.now)
        created: RelationshipType = types.get(pk=ensure_types(self.owner.pk, [kind])[name])
        return created

    def _check_active(self, person_id: UUID, field: str) -> UUID:
        if not Person.objects.active_ids(self.owner, [person_id]):
            raise FieldError(field, NO_SUCH_RECORD)
        return person_id


def _related_name_key(suggestion: Suggestion) -> str:
    """A key that ignores case, accents and the order of words; the name itself if it has no letters."""
    return name_key(NameParts(*_split_name(suggestion.related_name))) or suggestion.related_name


def _split_name(name: str) -> tuple[str, str | None]:
    """Split into given name and surname, for a new person: the surname precedes a comma, or is the last word."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and given and family:
        return given[:100], family[:100]
    *before, last = name.split()
    return (" ".join(before)[:100], last[:100]) if before else (last[:100], None)
