"""Suggestions of relationships: listing them, and the user's answers, without which nothing is made."""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from contacts_project.kernel.errors import UNKNOWN_ID, DomainError, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from people.duplicates.keys import name_key
from people.models import Person, RelationshipType
from people.names import NameParts
from people.services.person_writer import create_person
from relationships.defaults import default_type
from relationships.models import AnsweredSuggestion
from relationships.services.imported import ensure_types
from relationships.services.relationships import create_relationship
from relationships.services.types import create_type, restore_deleted_types
from relationships.suggestions.cards import card_suggestions, suggestions_with_ids
from relationships.suggestions.derived import derived_suggestions, derived_with_ids
from relationships.suggestions.names import names_of, split_name
from relationships.suggestions.suggestion import (
    Settled,
    Suggestion,
    add_answers,
    add_relationships,
    types_by_name,
)

Errors = list[dict[str, Any]]
ANSWERED = "This suggestion has been answered already."
GONE = "One of the two people is not there any more."
RELATED = "These two are something to each other by now."


def list_suggestions(owner: User) -> list[dict[str, Any]]:
    """As GET /api/relationship-suggestions answers: those of cards, then what follows from what is known."""
    types, settled = types_by_name(owner), Settled()
    add_answers(settled, owner)
    found = [*card_suggestions(owner, settled), *derived_suggestions(owner, settled)]
    return [one.answer(types) for one in found]


def accept_suggestions(
    *, owner: User, ids: Sequence[UUID], related_person: Person | None, now: dt.datetime
) -> tuple[int, Errors]:
    """Make the relationships; returns how many, and by id why others were not made. Raises FieldError: no own id.

    A name that nobody has makes a person, the same one for all that bear it here. `related_person` takes the place of
    whom the suggestion means. A type that the account has not is taken out of the trash, or made anew.
    """
    derived = _derived(owner, ids)
    with account_write(owner):
        refused = {} if related_person else _gone(owner, derived) | _related(owner, derived)
        acceptance = _Acceptance(owner, related_person, now)
        return _answer(owner, ids, derived, refused, acceptance.accept)


def dismiss_suggestions(*, owner: User, ids: Sequence[UUID]) -> tuple[int, Errors]:
    """They are never made again; returns how many, and by id what was wrong. Raises FieldError: no own id."""
    derived = _derived(owner, ids)
    with account_write(owner):
        note = partial(_note, owner, accepted=False)
        return _answer(owner, ids, derived, _gone(owner, derived), lambda one: note(one, one.related_person_id))


def _answer(
    owner: User,
    ids: Sequence[UUID],
    derived: dict[UUID, Suggestion],
    refused: dict[UUID, str],
    answer: Callable[[Suggestion], None],
) -> tuple[int, Errors]:
    """Under the caller's lock. One that is refused takes nothing of the others back."""
    answered = _answered(owner, ids)
    # Whom a name means is looked up under the lock: a request before this one may have made the person.
    found = derived | {one.id: one for one in suggestions_with_ids(owner, [key for key in ids if key not in answered])}
    for place, key in enumerate(ids):
        if key not in answered and key not in found:
            raise FieldError(f"ids.{place}", UNKNOWN_ID)
    refused = refused | dict.fromkeys(answered, ANSWERED)
    errors: Errors = [{"id": key, "error": refused[key]} for key in ids if key in refused]
    for key in dict.fromkeys(ids):
        if key in refused:
            continue
        try:
            with transaction.atomic():
                answer(found[key])
        except DomainError as error:
            errors.append({"id": key, "error": error.message})
    return len(ids) - len(errors), errors


def _answered(owner: User, ids: Sequence[UUID]) -> set[UUID]:
    return set(AnsweredSuggestion.objects.owned_by(owner).filter(pk__in=ids).values_list("pk", flat=True))


def _derived(owner: User, ids: Sequence[UUID]) -> dict[UUID, Suggestion]:
    """Those of no card that nobody has answered. It takes its time, so it comes before the account is locked."""
    known = _answered(owner, ids) | {one.id for one in suggestions_with_ids(owner, ids)}
    rest = [key for key in ids if key not in known]
    if not rest:
        return {}
    settled = Settled()
    add_answers(settled, owner)
    return {one.id: one for one in derived_with_ids(owner, settled, rest)}


# They were looked for before the account was locked: what has come between is looked at under the lock.
def _gone(owner: User, derived: dict[UUID, Suggestion]) -> dict[UUID, str]:
    """By id those of whom one is in the trash, or removed. One statement."""
    there = names_of(owner, {key for one in derived.values() for key in (one.person_id, one.related_person_id) if key})
    return {key: GONE for key, one in derived.items() if not {one.person_id, one.related_person_id} <= there.keys()}


def _related(owner: User, derived: dict[UUID, Suggestion]) -> dict[UUID, str]:
    """By id those whose two people have a relationship. One statement."""
    settled = Settled()
    add_relationships(settled, owner, {one.person_id for one in derived.values()})
    pairs = settled.related.keys()
    return {key: RELATED for key, one in derived.items() if (one.person_id, one.related_person_id) in pairs}


def _note(owner: User, one: Suggestion, related_person_id: UUID | None, *, accepted: bool) -> None:
    AnsweredSuggestion.objects.create(
        id=one.id,
        owner=owner,
        person_id=one.person_id,
        related_person_id=related_person_id,
        named=one.named,
        type_name=one.type_name,
        accepted=accepted,
    )


class _Acceptance:
    """One request: whom it has made of names by now, and the account's types."""

    def __init__(self, owner: User, related_person: Person | None, now: dt.datetime) -> None:
        self.owner, self.related_person, self.now = owner, related_person, now
        self.types = {row.name: row for row in RelationshipType.objects.owned_by(owner).active()}
        self.made: dict[str, Person] = {}

    def accept(self, one: Suggestion) -> None:
        """Raises FieldError, PlanLimitError."""
        related = self.related_person or self._related(one)
        create_relationship(
            owner=self.owner,
            person=self._person(one.person_id, "personId"),
            related_person=related,
            relationship_type=self._type(one.type_name),
            notes=None,
            now=self.now,
        )
        _note(self.owner, one, related.pk, accepted=True)
        if not one.related_person_id:
            self.made[_key_of(one)] = related  # only now: a refusal takes the person back, too

    def _related(self, one: Suggestion) -> Person:
        if one.related_person_id:
            return self._person(one.related_person_id, "relatedPersonId")
        if made := self.made.get(_key_of(one)):
            return made
        name, surname = split_name(one.related_name)
        return create_person(owner=self.owner, data={"name": name, "surname": surname}, now=self.now)

    def _type(self, name: str) -> RelationshipType:
        """The type by this name: as it is, out of the trash, or made as a new account has it. Raises FieldError."""
        if name in self.types:
            return self.types[name]
        # Not kept in `types`: a refusal takes back what is done here, too.
        types = RelationshipType.objects.owned_by(self.owner)
        if row := types.active().filter(name=name).first():
            return row
        if row := types.deleted().filter(name=name).order_by("deleted_at").last():
            restore_deleted_types(self.owner.pk, [row.pk], self.now)
            return row
        kind = default_type(name, self.owner.language)
        if back := types.active().filter(name=kind.inverse).first():
            data = {"name": kind.name, "label": kind.label, "inverse": back}
            return create_type(owner=self.owner, data=data, now=self.now)
        made: RelationshipType = types.get(pk=ensure_types(self.owner.pk, [kind])[name])
        return made

    def _person(self, person_id: UUID, field: str) -> Person:
        person: Person | None = Person.objects.active_rows.instance(owner_id=self.owner.pk, row_ids=[person_id])
        if person is None:
            raise FieldError(field, UNKNOWN_ID)
        return person


def _key_of(one: Suggestion) -> str:
    """What is the same for two spellings of a name."""
    return name_key(NameParts(*split_name(one.related_name))) or one.related_name
