"""What a device sends of a task: that it is done, or that this is taken back (open points, section 14)."""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from dav.authentication import UnauthorizedError
from dav.calendars.unread import note_unread
from dav.conditions import Conditions
from dav.errors import DavError, need_privileges
from dav.models import TaskSnooze, TaskTick
from dav.resources.calendars import id_of
from dav.resources.own_calendars import MAX_TASK_BYTES, KeepInTouchResource
from dav.services.deletions import note_deletion
from dav.xml import cal
from people.dates import schedule
from people.dates.snoozing import snooze_contact
from people.models import Person
from people.services.interactions import create_interaction, delete_interaction
from people.services.people import touch_people
from people.vocabularies import InteractionKind

_TAKEN_BACK_WITHIN = dt.timedelta(hours=1)
_UID = "contact-"
# A task of each day can be moved by so many days: each reminder that is passed over is a row.
_MAX_SKIPPED = 400


def put_task(*, calendar: KeepInTouchResource, name: str, body: bytes, conditions: Conditions) -> bool:
    """Apply what a device sent under a name. Returns whether no task has this name (201). Raises DavError.

    Nothing of the text is kept: the answer must have no ETag, so that the device reads the task again.
    """
    tasks = _read_tasks(body)
    owner = calendar.device.owner
    # Before the lock: by its SUMMARY a task is looked for among all of them.
    record_id = id_of(name)
    named = calendar.rows().filter(pk=record_id).first() if record_id else None
    found = named or _find_task(calendar, tasks)
    if found is None or calendar.days(found) is None:
        raise need_privileges(calendar.path, "bind")
    with account_write(owner):
        owner.refresh_from_db(fields=["revision"])
        row = calendar.rows().filter(pk=found.id).first()
        if row is None or calendar.days(row) is None:
            raise need_privileges(calendar.path, "bind")
        if calendar.device.is_revoked():
            raise UnauthorizedError
        _apply(calendar, row, tasks, conditions)
        if named is not None:
            note_unread(calendar.device, row.id)
    return named is None


def _apply(calendar: KeepInTouchResource, row: Any, tasks: list[Any], conditions: Conditions) -> None:
    owner, now = calendar.device.owner, timezone.now()
    due = calendar.days(row)
    master = next((task for task in tasks if "RECURRENCE-ID" not in task), tasks[0])
    sent = _day(calendar, master.get("DUE"))
    is_later = due is not None and sent is not None and sent > due
    done = next((task for task in tasks if _is_done(task)), None)
    recent = TaskTick.objects.owned_by(owner).filter(person_id=row.id, ticked_at__gt=now - _TAKEN_BACK_WITHIN).first()
    if done is not None or ("RRULE" in master and is_later):
        # A device that got no answer sends the same again.
        if recent is None or recent.due_sent != sent:
            _tick(owner, row.id, due, sent, at=_moment(calendar, row, done, now), now=now)
    elif recent is not None and sent == recent.due_before:
        recent.delete()
        try:
            # A savepoint: the error would roll back the whole write.
            with transaction.atomic():
                delete_interaction(owner=owner, interaction_id=recent.interaction_id, now=now)
        except MissingError:
            return  # it is in the trash already
        note_deletion(calendar.device, now, interaction_id=recent.interaction_id)
    elif sent is not None and sent != due and (is_later or _is_of_now(calendar, row, conditions)):
        _move(calendar, row, sent, now)


def _is_of_now(calendar: KeepInTouchResource, row: Any, conditions: Conditions) -> bool:
    """Whether the device has the task as it is now: an earlier DUE is meant then, and not only a former one."""
    member = calendar.member(row)
    return member is not None and conditions.if_match is not None and member.etag in conditions.if_match


def _move(calendar: KeepInTouchResource, row: Any, day: dt.date, now: dt.datetime) -> None:
    """Put the reminder off to this day; no longer if it is the day of the reminder itself, or an earlier one."""
    owner, due = calendar.device.owner, calendar.day_of_rule(row)
    rule = schedule.contact_rule(row, calendar.calendar)
    is_too_far = calendar.calendar.reminder_time(day) is None
    if due is None or rule is None or is_too_far or rule.count_between(calendar.today, day) > _MAX_SKIPPED:
        raise need_privileges(calendar.path)
    rows = TaskSnooze.objects.owned_by(owner)
    if day > due:
        rows.update_or_create(owner=owner, person_id=row.id, defaults={"due_before": due, "due_on": day})
    elif not rows.filter(person=row.id).delete()[0]:
        return
    person = Person.objects.owned_by(owner).get(pk=row.id)
    snooze_contact(owner=owner, person=person, day=day if day > due else None, now=now)
    touch_people(owner.pk, [row.id], now)


def _tick(
    owner: User, person_id: UUID, due: dt.date | None, sent: dt.date | None, *, at: dt.datetime, now: dt.datetime
) -> None:
    data = {"person_ids": [person_id], "kind": InteractionKind.OTHER, "at": at}
    interaction = create_interaction(owner=owner, data=data, now=now)
    values = {"interaction": interaction, "ticked_at": now, "due_before": due, "due_sent": sent}
    TaskTick.objects.owned_by(owner).update_or_create(owner=owner, person_id=person_id, defaults=values)


def _moment(calendar: KeepInTouchResource, row: Any, done: Any, now: dt.datetime) -> dt.datetime:
    """COMPLETED, as far as it can be: not ahead, and not before the last contact, else the task would stay as it is."""
    completed = getattr(done.get("COMPLETED"), "dt", None) if done is not None else None
    if not isinstance(completed, dt.datetime):
        return now
    moment = completed if completed.tzinfo else completed.replace(tzinfo=calendar.calendar.zone)
    is_since = row.last_contact is None or calendar.calendar.today(moment) > row.last_contact
    return moment.astimezone(dt.UTC) if moment <= now and is_since and now - moment < dt.timedelta(days=366) else now


def _read_tasks(body: bytes) -> list[Any]:
    """The VTODOs of a body. Raises DavError."""
    if len(body) > MAX_TASK_BYTES:
        raise DavError(403, cal("max-resource-size"), f"A task has at most {MAX_TASK_BYTES} bytes.")
    from icalendar import Calendar  # noqa: PLC0415 - only for who writes a task

    try:
        tasks = list(Calendar.from_ical(body).walk("VTODO"))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        tasks = []
    if not tasks:
        raise DavError(403, cal("valid-calendar-data"), "This is no task of iCalendar.")
    return tasks


def _is_done(task: Any) -> bool:
    is_full = str(task.get("PERCENT-COMPLETE", "")).strip() == "100"
    return "COMPLETED" in task or str(task.get("STATUS", "")).upper() == "COMPLETED" or is_full


def _find_task(calendar: KeepInTouchResource, tasks: list[Any]) -> Any:
    """The row of the task that a new completed one stands for: by its UID, else by its SUMMARY."""
    done = next((task for task in tasks if _is_done(task)), None)
    if done is None:
        return None
    uid = str(done.get("UID", ""))
    if uid.startswith(_UID) and (person_id := id_of(f"{uid.removeprefix(_UID)}.ics")):
        return calendar.rows().filter(pk=person_id).first()
    summary = " ".join(str(done.get("SUMMARY", "")).split())
    same = [row for row in calendar.rows() if summary and " ".join(calendar.name_of(row).split()) == summary]
    return min(same, key=lambda row: (calendar.days(row) or dt.date.max, row.id), default=None)


def _day(calendar: KeepInTouchResource, value: object) -> dt.date | None:
    """The day of a DUE, in the zone of the account if it is a moment."""
    found = getattr(value, "dt", None)
    if isinstance(found, dt.datetime):
        return found.astimezone(calendar.calendar.zone).date() if found.tzinfo else found.date()
    return found if isinstance(found, dt.date) else None
