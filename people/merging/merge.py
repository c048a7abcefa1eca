"""Merging two people into one, and what was merged.

MergeRecord.image stores the changes of the merge, not a copy of both people: undoing reverts these changes and keeps
later edits of everything else.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.texts import define_text
from people.extensions import EXTENSIONS
from people.merging import fields, related_rows
from people.merging.undo import app_of, is_undoable
from people.models import MergeRecord, Person, RelationshipType
from people.services.group_rules import write_rules
from people.services.me_person import mark_me
from people.services.person_rows import check_active
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan, reminders_in_plan
from people.signals import announce_deletion

_SAME_PERSON = define_text("merged_with_itself", "A person cannot be merged with itself.")


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
            "extensions": {app_of(extension): extension.merge(primary, secondary, now) for extension in EXTENSIONS},
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
        image["me"] = secondary.is_me
        if secondary.is_me:
            mark_me(owner.pk, primary.pk)
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
