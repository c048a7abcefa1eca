"""Undoing a merge: both people are again as they were, unless what it would revert was changed since."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.texts import define_text
from people.extensions import EXTENSIONS, PersonExtension
from people.merging import fields, related_rows
from people.merging.related_rows import UndoConflictError
from people.models import MergeRecord, Person, RelationshipType
from people.services.group_rules import take_back_lead_days
from people.services.me_person import mark_me
from people.services.people import mark_related_changed
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan, reminders_in_plan

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


class MergeUndoneError(DomainError):
    """The merge was undone before; a merge can be undone once."""

    message = define_text("merge_already_undone", "This merge has already been undone.")


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
    # Whoever was named since the merge stays. `get`: images of older versions do not say it.
    if image.get("me") and primary.is_me:
        mark_me(primary.owner_id, secondary.pk)
    # The primary's former relationship type may be in the trash by now; it is restored like the secondary's.
    restored = [secondary, primary] if "relationship_to_user_id" in changes else [secondary]
    # Images of older versions have "aspects", with class paths as keys; the first word of a path is the app.
    stored = image["extensions"] if "extensions" in image else image["aspects"]
    parts = {name.partition(".")[0]: part for name, part in stored.items()}
    for extension in EXTENSIONS:
        for person in restored:
            extension.after_restore(person, writer.now)
        if app_of(extension) in parts:
            extension.undo_merge(primary, secondary, parts[app_of(extension)])
    mark_related_changed(primary.owner_id, [secondary.pk])


def app_of(extension: PersonExtension) -> str:
    """The app's name: the key of the extension's part in an image. Class paths may change between versions."""
    return type(extension).__module__.partition(".")[0]
