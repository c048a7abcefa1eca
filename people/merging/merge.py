"""Merging two people into one, and undoing it.

A merge is remembered by what it changed (MergeRecord.image), not by a copy of both people: undoing puts that back and
keeps whatever was edited elsewhere since.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.json import format_timestamp
from contacts_project.kernel.errors import UNKNOWN_ID, DomainError, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import retention_cutoff
from people.extensions import EXTENSIONS, PersonExtension
from people.merging import card_lines, entries, interactions, related_rows, scalars
from people.merging.related_rows import UndoConflictError
from people.models import MergeRecord, Person, RelationshipType
from people.services.people import mark_related_changed
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan, reminders_in_plan
from people.signals import announce_deletion

__all__ = [
    "AlreadyUndoneError",
    "UndoConflictError",
    "merge_people",
    "owners_of_old_merges",
    "remove_old_merges",
    "undo_merge",
]


class AlreadyUndoneError(DomainError):
    """A merge is undone once."""

    message = "This merge has already been undone."


def merge_people(
    *, owner: User, primary: Person, secondary: Person, overrides: Mapping[str, Any], now: dt.datetime
) -> MergeRecord:
    """Merge the secondary into the primary and move it to the trash. `overrides`: values by column.

    Both, and what the overrides name, are active rows that were read after `owner`: they are read again only where
    somebody has written since. Raises FieldError (the same person, one that is gone, too many entries), PlanLimitError.
    """
    if primary.pk == secondary.pk:
        raise FieldError("secondaryId", "A person cannot be merged with itself.")
    with account_write(owner) as write:
        if not write.is_fresh:
            primary = _active(owner, primary.pk, "primaryId")
            secondary = _active(owner, secondary.pk, "secondaryId")
            _check_type(overrides.get("relationship_to_user"))
        # Compared with the count afterwards: an account beyond its plan may merge as long as it gets no more reminders.
        reminders = reminders_in_plan(owner)
        writer = PersonWriter(owner, write, now)
        writer.edit(primary, secondary)
        image: dict[str, Any] = {
            "scalars": scalars.to_json(scalars.merge_scalars(primary, secondary, overrides)),
            "documents": entries.merge_documents(primary, secondary),
            "groups": related_rows.move_groups(primary, secondary),
            "dates": related_rows.move_dates(primary, secondary),
            "values": related_rows.move_values(primary, secondary),
            "interactions": interactions.move_interactions(writer, primary, secondary),
            "dismissals": related_rows.copy_dismissals(primary, secondary),
            "extensions": {_app_of(extension): extension.merging(primary, secondary, now) for extension in EXTENSIONS},
            "deletedAt": format_timestamp(now),
        }
        # After the rest: which lines go over depends on the fields and dates that did.
        image["cardLines"] = card_lines.merge_lines(primary, secondary, image["dates"])
        secondary.deleted_at = now
        writer.flush()
        mark_related_changed(owner.pk, [secondary.pk])
        announce_deletion(owner.pk, [secondary.pk])
        if reminders_in_plan(owner) > reminders:
            check_plan(owner, "reminders", 0)
        return MergeRecord.objects.create(
            owner=owner, primary=primary, secondary=secondary, image=image, created_at=now
        )


def undo_merge(*, owner: User, merge_id: UUID, now: dt.datetime) -> MergeRecord:
    """Put both people back as they were before the merge.

    Raises MissingError (no such merge, or beyond the retention period), AlreadyUndoneError, UndoConflictError,
    PlanLimitError.
    """
    with account_write(owner) as write:
        rows = MergeRecord.objects.owned_by(owner).filter(created_at__gte=retention_cutoff(now))
        record = rows.find(merge_id)
        if record.undone_at is not None:
            raise AlreadyUndoneError
        primary, secondary = _merged(record)
        check_plan(owner, "people")
        reminders = reminders_in_plan(owner)
        _put_back(PersonWriter(owner, write, now), primary, secondary, record.image)
        if reminders_in_plan(owner) > reminders:
            check_plan(owner, "reminders", 0)
        record.undone_at = now
        record.save()
    return record


def owners_of_old_merges(now: dt.datetime) -> list[UUID]:
    """The accounts with merges that are beyond undoing."""
    old = MergeRecord.unscoped.rows().filter(created_at__lt=retention_cutoff(now))
    return list(old.order_by("owner_id").values_list("owner_id", flat=True).distinct())


def remove_old_merges(owner_id: UUID, now: dt.datetime) -> int:
    """Forget those of one account, inside the caller's transaction; returns how many."""
    count: int = MergeRecord.objects.owned_by(owner_id).filter(created_at__lt=retention_cutoff(now)).delete()[0]
    return count


def _active(owner: User, person_id: UUID, field: str) -> Person:
    person: Person | None = Person.objects.active_rows.instance(owner_id=owner.pk, row_ids=[person_id])
    if person is None:
        raise FieldError(field, UNKNOWN_ID)
    return person


def _check_type(chosen: Any) -> None:
    """Raise where the type was deleted since the body was read."""
    if chosen and not RelationshipType.objects.owned_by(chosen.owner_id).active().filter(pk=chosen.pk).exists():
        raise FieldError("fieldOverrides.relationshipToUserId", UNKNOWN_ID)


def _check_former_type(person: Person) -> None:
    """Raise where what the person was to the user has been removed for good since."""
    key = person.relationship_to_user_id
    if key and not RelationshipType.objects.owned_by(person.owner_id).filter(pk=key).exists():
        raise UndoConflictError("This merge cannot be undone any more: a relationship type was removed since.")


def _merged(record: MergeRecord) -> tuple[Person, Person]:
    """Both people, provided that they still are where the merge left them."""
    primary, secondary = record.primary, record.secondary
    if primary is None or secondary is None or primary.deleted_at is not None:
        raise UndoConflictError("This merge cannot be undone any more: one of the two people was deleted.")
    if format_timestamp(secondary.deleted_at) != record.image["deletedAt"]:
        raise UndoConflictError("This merge cannot be undone any more: the merged person was restored since.")
    return primary, secondary


def _put_back(writer: PersonWriter, primary: Person, secondary: Person, image: dict[str, Any]) -> None:
    writer.edit(primary, secondary)
    changes = scalars.from_json(image["scalars"])
    if changed := scalars.conflicts(primary, changes):
        raise UndoConflictError(f"This merge cannot be undone any more: {', '.join(changed)} was changed since.")
    scalars.take_back(primary, changes)
    _check_former_type(primary)
    entries.take_back(primary, image["documents"])
    card_lines.take_back(primary, image.get("cardLines", ()))
    related_rows.return_groups(primary, secondary, image["groups"])
    related_rows.return_dates(primary, secondary, image["dates"])
    related_rows.return_values(primary, secondary, image["values"])
    interactions.return_interactions(writer, primary, secondary, image.get("interactions", ()))
    related_rows.remove_dismissals(primary.owner_id, image["dismissals"])
    secondary.deleted_at = None
    writer.flush()
    # What the primary was to the user may be in the trash by now, and comes out of it like the secondary's.
    returning = [secondary, primary] if "relationship_to_user_id" in changes else [secondary]
    # Images of older versions say "aspects", by the path of a class, whose first word is the app.
    stored = image["extensions"] if "extensions" in image else image["aspects"]
    parts = {name.partition(".")[0]: part for name, part in stored.items()}
    for extension in EXTENSIONS:
        for person in returning:
            extension.restored(person, writer.now)
        if _app_of(extension) in parts:
            extension.unmerging(primary, secondary, parts[_app_of(extension)])
    mark_related_changed(primary.owner_id, [secondary.pk])


def _app_of(extension: PersonExtension) -> str:
    """The key of its part in an image: unlike the path of its class, the app's name stays."""
    return type(extension).__module__.partition(".")[0]
