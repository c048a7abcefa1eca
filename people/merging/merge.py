"""Merging two people into one, and undoing it.

MergeRecord.image stores the changes of the merge, not a copy of both people: undoing reverts these changes and keeps
later edits of everything else.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.texts import define_text
from people.extensions import EXTENSIONS, PersonExtension
from people.merging import fields, related_rows
from people.merging.related_rows import UndoConflictError
from people.models import MergeRecord, Person, RelationshipType
from people.services.group_rules import take_back_lead_days, write_rules
from people.services.people import mark_related_changed
from people.services.person_rows import check_active
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan, reminders_in_plan
from people.signals import announce_deletion

_SAME_PERSON = define_text("merged_with_itself", "A person cannot be merged with itself.")
_ONE_DELETED = define_text(
    "merge_undo_deleted", "This merge cannot be undone any more: one of the two people was deleted."
)
_RESTORED = define_text(
    "merge_undo_restored", "This merge cannot be undone any more: the merged person was restored since."
)
_CHANGED = define_text("merge_undo_changed", "This merge cannot be undone any more: %(fields)s was changed since.")
_TYPE_REMOVED = define_text(
    "merge_undo_type_removed", "This merge cannot be undone any more: a relationship type was removed since."
)

__all__ = [
    "MergeUndoneError",
    "UndoConflictError",
    "merge_people",
    "undo_merge",
]


class MergeUndoneError(DomainError):
    """The merge was undone before; a merge can be undone once."""

    message = define_text("merge_already_undone", "This merge has already been undone.")


def merge_people(
    *, owner: User, primary_id: UUID, secondary_id: UUID, overrides: JsonMapping, now: dt.datetime
) -> MergeRecord:
    """Merge the secondary into the primary and move it to the trash. `overrides`: values by column.

    Both people are read here, under the lock; the rows in `overrides` must be active and loaded after `owner`. Raises
    FieldError (an unknown or deleted person, the same person twice, too many entries) and PlanLimitError.
    """
    with account_write(owner) as write:
        primary, secondary = _load_active_people(owner, primary_id, secondary_id)
        relationship_type = overrides.get("relationship_to_user")
        if relationship_type:
            check_active(write, RelationshipType, {relationship_type.pk}, "fieldOverrides.relationshipToUserId")
        # Compared with the count afterwards: an account beyond its plan may merge as long as it gets no more reminders.
        reminders = reminders_in_plan(owner)
        writer = PersonWriter(owner, write, now)
        writer.edit(primary, secondary)
        merged = fields.merge_entries(primary, secondary)
        reminder = fields.reminder_values(primary)
        changes = fields.merge_scalars(primary, secondary, overrides)
        rows = related_rows.load_related_rows(primary, secondary)
        joined = related_rows.new_memberships(primary, rows)
        alone = [row.other_id for row in rows[related_rows.INTERACTION] if not row.text]
        image: dict[str, Any] = {
            "documents": merged.added,
            "groups": [str(row.other_id) for row in joined],
            "dates": related_rows.move_dates(primary, rows),
            "values": related_rows.move_values(primary, rows),
            "interactions": related_rows.move_interactions(writer, primary, secondary, alone),
            "dismissals": related_rows.copy_dismissals(primary, rows),
            "extensions": {_app_of(extension): extension.merge(primary, secondary, now) for extension in EXTENSIONS},
            "deletedAt": format_timestamp(now),
        }
        # After the rest: a line is taken over only if the primary took over its fields, or its date moved.
        moved_dates = {key: key for key in image["dates"]}
        image["cardLines"] = fields.merge_lines(primary, secondary, merged.ids | moved_dates)
        secondary.deleted_at = now
        writer.flush()
        related_rows.move_memberships(primary, joined)
        image |= _join_groups(writer, primary, [row.other_id for row in joined if row.text])
        image["scalars"] = fields.changes_to_json(changes | fields.changes_since(primary, reminder))
        related_rows.mark_kept_rows(primary, rows, image["dates"])
        announce_deletion(owner.pk, [secondary.pk])
        if reminders_in_plan(owner) > reminders:
            check_plan(owner, "reminders", 0)
        record = MergeRecord(owner=owner, primary=primary, secondary=secondary, image=image, created_at=now)
        MergeRecord.objects.bulk_create([record])
        return record


def _join_groups(writer: PersonWriter, primary: Person, group_ids: Iterable[UUID]) -> JsonObject:
    """Write the rules of groups that are new to the primary; returns what undoing needs besides its columns."""
    written = write_rules(writer, [(primary, key) for key in group_ids])
    if written.people:
        writer.flush()
    return {"leadDays": {str(key): days for key, days in written.dates.get(primary.pk, {}).items()}}


def undo_merge(*, owner: User, merge_id: UUID, now: dt.datetime) -> MergeRecord:
    """Revert the changes of a merge and take the secondary out of the trash.

    Raises MissingError (no such merge, or older than the retention period), MergeUndoneError, UndoConflictError and
    PlanLimitError.
    """
    with account_write(owner) as write:
        rows = MergeRecord.objects.owned_by(owner).filter(created_at__gte=retention_cutoff(now))
        record = rows.find(merge_id)
        if record.undone_at is not None:
            raise MergeUndoneError
        primary, secondary = _load_merged_people(record)
        # The secondary counts as a person again.
        check_plan(owner, "people")
        reminders = reminders_in_plan(owner)
        _revert_merge(PersonWriter(owner, write, now), primary, secondary, record.image)
        if reminders_in_plan(owner) > reminders:
            check_plan(owner, "reminders", 0)
        record.undone_at = now
        record.save()
    return record


def list_merges(*, owner: User, now: dt.datetime) -> list[JsonObject]:
    """The account's merges within the retention period as GET /api/people/merges shows them, newest first."""
    rows = MergeRecord.objects.owned_by(owner).filter(created_at__gte=retention_cutoff(now))
    return [
        {
            "mergeId": record.pk,
            "primary": _name_person(owner, record.primary),
            "secondary": _name_person(owner, record.secondary),
            "mergedAt": format_timestamp(record.created_at),
            "undoneAt": format_timestamp(record.undone_at),
            "undoable": is_undoable(record),
        }
        for record in rows.select_related("primary", "secondary").order_by("-created_at", "-pk")
    ]


def _name_person(owner: User, person: Person | None) -> JsonObject | None:
    return None if person is None else {"id": person.pk, "name": person.display_name_for(owner)}


def is_undoable(record: MergeRecord) -> bool:
    """Whether the two people are still as the merge left them, in what undoing it would revert.

    Of what undo checks, the plan and the rows in other tables are left out: they would take several queries each.
    """
    try:
        primary, _ = _load_merged_people(record)
    except UndoConflictError:
        return False
    return record.undone_at is None and not fields.conflicting_columns(
        primary, fields.changes_from_json(record.image["scalars"])
    )


def merges_of_deleted(owner: User, people: Mapping[UUID, object]) -> dict[UUID, UUID]:
    """The id of the merge that moved each of these people to the trash, for those of whom it was one.

    `people`: the time of deletion as in responses, by id.
    """
    rows = MergeRecord.objects.owned_by(owner).filter(secondary__in=people, undone_at=None)
    found = rows.values_list("secondary_id", "pk", "image__deletedAt")
    return {key: merge_id for key, merge_id, deleted_at in found if key and people[key] == deleted_at}


def find_merged(owner: User, person: Person) -> Person | None:
    """The active person into whom a deleted one was merged, in several steps if need be; None if there is none."""
    seen: set[UUID] = set()
    current: Person | None = person
    while current is not None and current.deleted_at is not None and current.pk not in seen:
        seen.add(current.pk)
        merges = merges_of_deleted(owner, {current.pk: format_timestamp(current.deleted_at)})
        records = MergeRecord.objects.owned_by(owner).filter(pk__in=merges.values()).select_related("primary")
        current = next((record.primary for record in records), None)
    return current if current is not None and current.deleted_at is None else None


def _load_active_people(owner: User, primary_id: UUID, secondary_id: UUID) -> tuple[Person, Person]:
    rows = Person.objects.active_rows.instances(owner_id=owner.pk, row_ids=[primary_id, secondary_id])
    found: dict[UUID, Person] = {row.pk: row for row in rows}
    for field, key in (("primaryId", primary_id), ("secondaryId", secondary_id)):
        if key not in found:
            raise FieldError(field, NO_SUCH_RECORD)
    if primary_id == secondary_id:
        raise FieldError("secondaryId", _SAME_PERSON)
    return found[primary_id], found[secondary_id]


def _load_merged_people(record: MergeRecord) -> tuple[Person, Person]:
    """The primary and the secondary. Raises UndoConflictError where one was deleted or restored since the merge."""
    primary, secondary = record.primary, record.secondary
    if primary is None or secondary is None or primary.deleted_at is not None:
        raise UndoConflictError(_ONE_DELETED)
    # Any other timestamp: the secondary was restored, and perhaps moved to the trash again.
    if format_timestamp(secondary.deleted_at) != record.image["deletedAt"]:
        raise UndoConflictError(_RESTORED)
    return primary, secondary


def _revert_merge(writer: PersonWriter, primary: Person, secondary: Person, image: JsonObject) -> None:
    writer.edit(primary, secondary)
    changes = fields.changes_from_json(image["scalars"])
    if changed := fields.conflicting_columns(primary, changes):
        raise UndoConflictError(_CHANGED.format(fields=list(changed)))
    fields.revert_scalars(primary, changes)
    # The old value is a foreign key from the stored image; its row may have been removed from the trash since.
    type_id = primary.relationship_to_user_id
    if type_id and not RelationshipType.objects.owned_by(primary.owner_id).filter(pk=type_id).exists():
        raise UndoConflictError(_TYPE_REMOVED)
    fields.revert_entries(primary, image["documents"])
    # `get`: images of older versions have no card lines and no interactions.
    fields.revert_lines(primary, image.get("cardLines", ()))
    related_rows.restore_groups(primary, secondary, image["groups"])
    take_back_lead_days(writer, primary, image.get("leadDays", {}))
    related_rows.restore_dates(primary, secondary, image["dates"])
    related_rows.restore_values(primary, secondary, image["values"])
    related_rows.restore_interactions(writer, primary, secondary, image.get("interactions", ()))
    related_rows.delete_dismissals(primary.owner_id, image["dismissals"])
    secondary.deleted_at = None
    writer.flush()
    # The primary's former relationship type may be in the trash by now; it is restored like the secondary's.
    restored = [secondary, primary] if "relationship_to_user_id" in changes else [secondary]
    # Images of older versions have "aspects", with class paths as keys; the first word of a path is the app.
    stored = image["extensions"] if "extensions" in image else image["aspects"]
    parts = {name.partition(".")[0]: part for name, part in stored.items()}
    for extension in EXTENSIONS:
        for person in restored:
            extension.after_restore(person, writer.now)
        if _app_of(extension) in parts:
            extension.undo_merge(primary, secondary, parts[_app_of(extension)])
    mark_related_changed(primary.owner_id, [secondary.pk])


def _app_of(extension: PersonExtension) -> str:
    """The app's name: the key of the extension's part in an image. Class paths may change between versions."""
    return type(extension).__module__.partition(".")[0]
