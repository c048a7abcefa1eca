"""Merges rows that refer to a person: memberships, dates, custom values, interactions, dismissed duplicates.

An interaction of both people stays as it is: the primary already takes part, and the secondary is in the trash.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, TextField, When
from django.db.models.functions import Cast

from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, JsonText, text_value
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.texts import define_text
from people.entries import pair_entries
from people.field_table import CARD_DATE_KEYS
from people.lookup import index_values
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    DuplicateDismissal,
    Group,
    ImportantDate,
    Interaction,
    Membership,
    Participation,
    Person,
)
from people.projection.columns import JsonObject
from people.projection.people import date_members
from people.services.dismissals import add_dismissals
from people.services.group_rules import has_rule
from people.services.last_contact import annotate_latest, end_of_today, latest_day
from people.services.person_writer import PersonWriter


class UndoConflictError(DomainError):
    """Data that the merge changed was changed again since, so the merge cannot be reverted."""

    message = define_text("undo_conflict", "This merge cannot be undone any more: what it changed was changed again.")


GROUP, DATE, VALUE, INTERACTION, DISMISSAL = "group", "date", "value", "interaction", "dismissal"
# What pair_entries compares, and no more: psycopg keeps nothing of a statement of more than 4,096 characters.
_DATE_ENTRY = JsonObject(**date_members(CARD_DATE_KEYS))
_NO, _YES = text_value(""), text_value("yes")


class RelatedRow(NamedTuple):
    """A membership, date or custom value of one of the two; or of the secondary a participation or a dismissal."""

    id: UUID
    person_id: UUID
    other_id: UUID
    """The group, template or interaction; of a dismissal the other person."""
    text: str
    """The JSON of a date or value. Not empty if the group has a rule, or the primary is in the interaction as well."""


RelatedRows = Mapping[str, Sequence[RelatedRow]]
"""By kind."""


def load_related_rows(primary: Person, secondary: Person) -> RelatedRows:
    """What a merge compares and moves, by one statement. Dates are in the order of their creation."""
    found: dict[str, list[RelatedRow]] = {kind: [] for kind in (GROUP, DATE, VALUE, INTERACTION, DISMISSAL)}
    rows = _related_rows.rows(
        owner_id=primary.owner_id,
        person_ids=[primary.pk, secondary.pk],
        primary_id=primary.pk,
        secondary_id=secondary.pk,
    )
    for kind, _, key, person_key, other_key, text in sorted(rows):
        found[kind].append(RelatedRow(UUID(key), UUID(person_key), UUID(other_key), text))
    return found


@query_by_ids
def _related_rows(owner_id: UUID, person_ids: Collection[UUID], primary_id: UUID, secondary_id: UUID) -> Rows:
    memberships = Membership.objects.owned_by(owner_id).filter(person_id__in=person_ids)
    dates = ImportantDate.objects.owned_by(owner_id).active().filter(person_id__in=person_ids)
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person_id__in=person_ids)
    participations = Participation.objects.owned_by(owner_id)
    of_primary = Exists(participations.filter(interaction=OuterRef("interaction"), person_id=primary_id))
    dismissals = DuplicateDismissal.objects.owned_by(owner_id)
    key, person = IdHex("pk"), IdHex("person_id")
    return memberships.values_list(
        text_value(GROUP), _NO, key, person, IdHex("group_id"), Case(When(has_rule("group__"), then=_YES), default=_NO)
    ).union(
        dates.values_list(text_value(DATE), Cast("created_at", TextField()), key, person, key, _DATE_ENTRY),
        values.values_list(text_value(VALUE), _NO, key, person, IdHex("template_id"), JsonText("value")),
        participations.filter(person_id=secondary_id).values_list(
            text_value(INTERACTION),
            _NO,
            key,
            person,
            IdHex("interaction_id"),
            Case(When(of_primary, then=_YES), default=_NO),
        ),
        *(
            dismissals.filter(**{f"{one}_id": secondary_id}).values_list(
                text_value(DISMISSAL), _NO, key, IdHex(f"{one}_id"), IdHex(f"{other}_id"), _NO
            )
            for one, other in (("first", "second"), ("second", "first"))
        ),
        all=True,
    )


def new_memberships(primary: Person, rows: RelatedRows) -> list[RelatedRow]:
    """The secondary's memberships in groups that are new to the primary; the others stay."""
    return _new_rows(primary, rows[GROUP])


def move_memberships(primary: Person, rows: Iterable[RelatedRow]) -> None:
    row_ids = [row.id for row in rows]
    Membership.objects.active_rows.update({"person": primary.pk}, owner_id=primary.owner_id, row_ids=row_ids)


def _new_rows(primary: Person, rows: Iterable[RelatedRow]) -> list[RelatedRow]:
    """The secondary's rows with another `other_id` than those of the primary."""
    known = {row.other_id for row in rows if row.person_id == primary.pk}
    return [row for row in rows if row.person_id != primary.pk and row.other_id not in known]


def restore_groups(primary: Person, secondary: Person, group_ids: Iterable[str]) -> None:
    """Make the secondary the member of these groups again, in place of the primary. Removed groups are skipped."""
    rows = Membership.objects.owned_by(primary.owner_id)
    ids = [UUID(key) for key in group_ids]
    # Not an UPDATE: either person may have been added to or removed from a group since the merge.
    rows.filter(person=primary, group__in=ids).delete()
    present = set(rows.filter(person=secondary, group__in=ids).values_list("group_id", flat=True))
    groups = Group.objects.owned_by(primary.owner_id).filter(pk__in=ids).exclude(pk__in=present)
    Membership.objects.bulk_create(
        Membership(owner_id=primary.owner_id, person=secondary, group=group) for group in groups
    )


def move_dates(primary: Person, rows: RelatedRows) -> list[str]:
    """Move the dates that are new to the primary; returns their ids.

    A person has one date of a type, and one of a title on one day; a repeated date stays with the secondary. A moved
    date keeps its id and its next reminder, so that no reminder is sent twice.
    """
    current = [json.loads(row.text) for row in rows[DATE] if row.person_id == primary.pk]
    others = [row for row in rows[DATE] if row.person_id != primary.pk]
    pairs = pair_entries("important_dates", [json.loads(row.text) for row in others], current)
    moved = [row.id for row, index in zip(others, pairs, strict=True) if index is None]
    ImportantDate.objects.active_rows.update({"person": primary.pk}, owner_id=primary.owner_id, row_ids=moved)
    return [str(key) for key in moved]


def restore_dates(primary: Person, secondary: Person, date_ids: Iterable[str]) -> None:
    """Move them back as they are now.

    Raises UndoConflictError where one was removed, or the secondary has another date of its type by now.
    """
    ids = [UUID(key) for key in date_ids]
    rows = ImportantDate.objects.owned_by(primary.owner_id)
    moved = list(rows.filter(person=primary, pk__in=ids))
    # Dates in the trash do not count for the unique constraint on the type.
    types = {row.type for row in moved if row.type and row.deleted_at is None}
    if len(moved) < len(ids) or rows.active().filter(person=secondary, type__in=types).exists():
        raise UndoConflictError
    rows.filter(pk__in=ids).update(person=secondary)


def move_values(primary: Person, rows: RelatedRows) -> list[JsonMapping]:
    """Move the values of templates for which the primary has no value; returns the data that recreates them."""
    new = _new_rows(primary, rows[VALUE])
    CustomFieldValue.objects.active_rows.update(
        {"person": primary.pk}, owner_id=primary.owner_id, row_ids=[row.id for row in new]
    )
    return [{"id": str(row.id), "template": str(row.other_id), "value": json.loads(row.text)} for row in new]


def restore_values(primary: Person, secondary: Person, moved: Sequence[JsonMapping]) -> None:
    """Move them back; a value that was cleared since the merge is recreated, unless its template was removed."""
    rows = CustomFieldValue.objects.owned_by(primary.owner_id)
    present = set(rows.filter(person=primary, pk__in=[value["id"] for value in moved]).values_list("pk", flat=True))
    rows.filter(pk__in=present).update(person=secondary)
    templates = CustomFieldTemplate.objects.owned_by(primary.owner_id).in_bulk([UUID(v["template"]) for v in moved])
    recreated = [
        CustomFieldValue(
            id=UUID(value["id"]),
            owner_id=primary.owner_id,
            person=secondary,
            template_id=UUID(value["template"]),
            value=value["value"],
        )
        for value in moved
        if UUID(value["id"]) not in present and UUID(value["template"]) in templates
    ]
    CustomFieldValue.objects.bulk_create(recreated)
    # Search words hang on the value's row: the moved values have kept theirs.
    index_values(primary.owner_id, recreated)


def copy_dismissals(primary: Person, rows: RelatedRows) -> list[str]:
    """Copy the secondary's dismissed pairs to the primary; returns the ids of the new rows."""
    others = {row.other_id for row in rows[DISMISSAL]} - {primary.pk}
    return [str(key) for key in add_dismissals(primary.owner_id, [(primary.pk, other) for other in others])]


def mark_kept_rows(primary: Person, rows: RelatedRows, moved_dates: Collection[str]) -> None:
    """Mark the dates and interactions that stay with the secondary as changed in the change feed: to clients, what
    belongs to somebody in the trash disappears. `moved_dates` are those that do not stay."""
    moved = set(moved_dates)
    dates = [row.id for row in rows[DATE] if row.person_id != primary.pk and str(row.id) not in moved]
    ImportantDate.objects.active_rows.update({}, owner_id=primary.owner_id, row_ids=dates)
    shared = [row.other_id for row in rows[INTERACTION] if row.text]
    Interaction.objects.active_rows.update({}, owner_id=primary.owner_id, row_ids=shared)


def delete_dismissals(owner_id: UUID, ids: Iterable[str]) -> None:
    DuplicateDismissal.objects.owned_by(owner_id).filter(pk__in=[UUID(key) for key in ids]).delete()


BATCH_SIZE = 500


def move_interactions(
    writer: PersonWriter, primary: Person, secondary: Person, interaction_ids: Collection[UUID]
) -> list[str]:
    """Move these interactions to the primary; returns their ids. Both people must be under `writer.edit`."""
    moved = list(interaction_ids)
    _move_participations(writer, moved, secondary, primary)
    return [str(key) for key in moved]


def restore_interactions(
    writer: PersonWriter, primary: Person, secondary: Person, interaction_ids: Collection[str]
) -> None:
    """Move them back as they are now, except those that were removed for good or are no longer the primary's."""
    _move_participations(writer, [UUID(key) for key in interaction_ids], primary, secondary)


def _move_participations(writer: PersonWriter, ids: list[UUID], source: Person, target: Person) -> None:
    owner_id = source.owner_id
    for start in range(0, len(ids), BATCH_SIZE):
        batch = ids[start : start + BATCH_SIZE]
        # Before the move: the filter finds the interactions by the person who still takes part.
        Interaction.objects.owned_by(owner_id).filter(pk__in=batch, participations__person=source).update()
        Participation.objects.owned_by(owner_id).filter(person=source, interaction__in=batch).update(person=target)
    if ids:
        people = annotate_latest(
            Person.objects.owned_by(owner_id).filter(pk__in=[source.pk, target.pk]),
            end_of_today(writer.calendar, writer.now),
        )
        days = {person.pk: latest_day(person, writer.calendar) for person in people.only("owner_id")}
        for person in (source, target):
            person.interacted_on = days[person.pk]
