"""What a device sends of a task: that it is done, or that this is taken back (open points, section 14)."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from dav.authentication import UnauthorizedError
from dav.models import TaskSnooze, TaskTick, UnreadTask
from dav.preconditions import Conditions, DavStatusError, need_privileges
from dav.resources.calendars import id_of
from dav.resources.own_calendars import MAX_TASK_BYTES, KeepInTouchResource
from dav.services.deletions import record_deletion
from dav.xml import cal
from people.dates import schedule
from people.extensions import snooze_contact
from people.models import Person
from people.services.interactions import create_interaction, delete_interaction
from people.services.people import touch_people
from people.vocabularies import InteractionKind

_TAKEN_BACK_WITHIN = dt.timedelta(hours=1)
_UID = "contact-"
# A task of each day can be moved by so many days: each reminder that is passed over is a row.
_MAX_SKIPPED = 400


@dataclass(frozen=True)
class _Tick:
    """That a day was ticked off, as a device says it: see TaskTick."""

    day: dt.date | None
    completed_at: dt.datetime | None = None
    by_rule: bool = False

    def columns(self) -> dict[str, Any]:
        return {"due_sent": self.day, "completed_at": self.completed_at, "by_rule": self.by_rule}


def put_task(*, calendar: KeepInTouchResource, name: str, body: bytes, conditions: Conditions) -> bool:
    """Apply what a device sent under a name. Returns whether no task has this name (201). Raises DavStatusError.

    Nothing of the text is kept: the answer must have no ETag, so that the device reads the task again.
    """
    tasks = _read_tasks(body)
    owner = calendar.device.owner
    # Before the lock: by its SUMMARY a task is looked for among all of them.
    record_id = id_of(name)
    named = calendar.rows().filter(pk=record_id).first() if record_id else None
    found = named or _find_task(calendar, tasks)
    if found is None or calendar.days(found) is None:
        conditions.check()
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
            unread = UnreadTask(owner=owner, token=calendar.device.token, person_id=row.id)
            UnreadTask.objects.bulk_create([unread], ignore_conflicts=True)
    return named is None


def _apply(calendar: KeepInTouchResource, row: Any, tasks: list[Any], conditions: Conditions) -> None:
    owner, now = calendar.device.owner, timezone.now()
    due = calendar.days(row)
    master = next((task for task in tasks if "RECURRENCE-ID" not in task), tasks[0])
    sent = _day(calendar, master.get("DUE"))
    is_later = due is not None and sent is not None and sent > due
    ticks = _done_days(calendar, tasks, master)
    if not ticks and "RRULE" in master and is_later:
        ticks = [_Tick(sent, by_rule=True)]
    if not ticks:
        # Of a tick the ETag does not matter: whatever changed meanwhile, they were in touch.
        conditions.check(calendar.member(row).etag)  # type: ignore[union-attr]  # it has a due day
        _untick_or_move(calendar, row, sent, is_later=is_later, conditions=conditions, now=now)
        return
    if new := [tick for tick in ticks if not _is_ticked(owner, row.id, tick, now)]:
        moment = _moment(calendar, row, new[0].completed_at, now)
        data = {"person_ids": [row.id], "kind": InteractionKind.OTHER, "at": moment}
        interaction = create_interaction(owner=owner, data=data, now=now)
        of_task: dict[str, Any] = {"owner": owner, "person_id": row.id, "due_before": due}
        rows = [TaskTick(**of_task, **tick.columns(), interaction=interaction, ticked_at=now) for tick in new]
        TaskTick.objects.bulk_create(rows)


def _done_days(calendar: KeepInTouchResource, tasks: list[Any], master: Any) -> list[_Tick]:
    done = list(filter(_is_done, tasks))
    days = {_day(calendar, task.get("RECURRENCE-ID") or task.get("DUE") or master.get("DUE")) for task in done}
    return [_Tick(day, _completed_at(calendar, done[0])) for day in sorted(days, key=str)]


def _is_ticked(owner: User, person_id: UUID, tick: _Tick, now: dt.datetime) -> bool:
    """Whether this was ticked off before, and not taken back since, by whatever device."""
    rows = TaskTick.objects.owned_by(owner).filter(person=person_id, interaction__deleted_at=None)
    if tick.by_rule:
        return rows.filter(due_sent=tick.day, by_rule=True).exists()
    if tick.day is not None:
        # What names no day, or goes on by a rule, ticked the day off that the task had.
        of_task = Q(due_before=tick.day) & (Q(due_sent=None) | Q(by_rule=True))
        return rows.filter(Q(due_sent=tick.day, by_rule=False) | of_task).exists()
    again = Q(ticked_at__gt=now - _TAKEN_BACK_WITHIN)
    if tick.completed_at is not None:
        again |= Q(completed_at=tick.completed_at)
    return rows.filter(again, due_sent=None).exists()


def _untick_or_move(
    calendar: KeepInTouchResource,
    row: Any,
    sent: dt.date | None,
    *,
    is_later: bool,
    conditions: Conditions,
    now: dt.datetime,
) -> None:
    owner, due = calendar.device.owner, calendar.days(row)
    ticks = TaskTick.objects.owned_by(owner).filter(person=row.id, ticked_at__gt=now - _TAKEN_BACK_WITHIN)
    recent = ticks.order_by("-ticked_at", "-id").first()
    if recent is not None and sent == recent.due_before:
        ticks.filter(interaction=recent.interaction_id).delete()
        try:
            # A savepoint: the error would roll back the whole write.
            with transaction.atomic():
                delete_interaction(owner=owner, interaction_id=recent.interaction_id, now=now)
        except MissingError:
            return  # it is in the trash already
        record_deletion(calendar.device, now, interaction_id=recent.interaction_id)
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


def _completed_at(calendar: KeepInTouchResource, task: Any) -> dt.datetime | None:
    """COMPLETED in UTC, if it has one."""
    completed = getattr(task.get("COMPLETED"), "dt", None)
    if not isinstance(completed, dt.datetime):
        return None
    moment = completed if completed.tzinfo else completed.replace(tzinfo=calendar.calendar.zone)
    try:
        return moment.astimezone(dt.UTC)
    except OverflowError:
        return None


def _moment(calendar: KeepInTouchResource, row: Any, completed_at: dt.datetime | None, now: dt.datetime) -> dt.datetime:
    """COMPLETED, as far as it can be: not ahead, and not before the last contact, else the task would stay as it is."""
    if completed_at is None or completed_at > now or now - completed_at >= dt.timedelta(days=366):
        return now
    is_since = row.last_contact is None or calendar.calendar.today(completed_at) > row.last_contact
    return completed_at if is_since else now


def _read_tasks(body: bytes) -> list[Any]:
    """The VTODOs of a body. Raises DavStatusError."""
    if len(body) > MAX_TASK_BYTES:
        raise DavStatusError(403, cal("max-resource-size"), f"A task has at most {MAX_TASK_BYTES} bytes.")
    from icalendar import Calendar  # noqa: PLC0415 - only for who writes a task

    try:
        tasks = list(Calendar.from_ical(body).walk("VTODO"))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        tasks = []
    if not tasks:
        raise DavStatusError(403, cal("valid-calendar-data"), "This is no task of iCalendar.")
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
    tick = _done_days(calendar, [done], done)[0]
    owner, now = calendar.device.owner, timezone.now()
    summary = " ".join(str(done.get("SUMMARY", "")).split())
    same = [row for row in calendar.rows() if summary and " ".join(calendar.name_of(row).split()) == summary]
    if len(same) < 2:
        return same[0] if same else None
    # Of namesakes the one whose day it is, or was: the same tick again is not that of another.
    ticked = {row.id for row in same if _is_ticked(owner, row.id, tick, now)}
    due = {row.id: calendar.days(row) or dt.date.max for row in same}
    return min(same, key=lambda row: (row.id not in ticked, due[row.id] != tick.day, due[row.id], row.id))


def _day(calendar: KeepInTouchResource, value: object) -> dt.date | None:
    """The day of a DUE, in the zone of the account if it is a moment."""
    found = getattr(value, "dt", None)
    if isinstance(found, dt.datetime):
        return found.astimezone(calendar.calendar.zone).date() if found.tzinfo else found.date()
    return found if isinstance(found, dt.date) else None
