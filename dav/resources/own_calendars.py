"""The two calendars of an account: important dates as events, contact reminders as tasks."""

import datetime as dt
import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.functional import cached_property

from dav.calendar_texts import task
from dav.models import SelectedCard, TaskSnooze, UnreadTask
from dav.resources.base import READ_PRIVILEGES, Properties
from dav.resources.calendars import FETCH_SIZE, CalendarResource
from dav.resources.uris import DATES_NAME, KEEP_IN_TOUCH_NAME
from dav.xml import cal
from people.dates import schedule
from people.dates.calendar_events import EventWriter, escape_text, first_day, format_date, format_utc, rule_lines
from people.dates.upcoming import event_rule, mentioned_contacts, mentioned_dates
from people.field_table import DATE_COLUMNS
from people.models import ImportantDate, Person
from people.models.person import person_url
from people.names import COLUMNS, format_name

#: What a device may send of a task: some keep alarms and notes in it.
MAX_TASK_BYTES = 100 * 1024
# In addition to the privileges of a task list, whose tasks can be written but neither made nor removed.
_TASK_PRIVILEGES = (*READ_PRIVILEGES, "write-properties", "write-content")


class DatesResource(CalendarResource):
    """The important dates of the people of whom may be spoken. Read-only."""

    title, collection, component, kind = "Important dates", DATES_NAME, "VEVENT", "importantDate"
    changes_by_day = True

    @property
    def privileges(self) -> tuple[str, ...]:
        return READ_PRIVILEGES

    def rows(self) -> Any:
        columns = ("id", "person_id", *DATE_COLUMNS, "updated_at", "next_occurrence_on", "revision", "person__revision")
        names = (f"person__{column}" for column in (*COLUMNS, "deathday"))
        rows = self.only_selected(mentioned_dates(self.device.owner), "person")
        return rows.values_list(*dict.fromkeys((*columns, *names)), "entered_revision", named=True)

    @property
    def own_revision(self) -> int:
        return max(self.book.dates_revision, self.device.token.alarms_revision)

    def has_changed_as_whole(self, since: int) -> bool:
        return super().has_changed_as_whole(since) or self.device.token.alarms_revision > since

    def changed(self, rows: Any, since: int) -> Any:
        return rows.filter(Q(revision__gt=since) | Q(person__revision__gt=since) | Q(entered_revision__gt=since))

    def records_of(self, person_ids: "QuerySet[SelectedCard, object]") -> Iterable[tuple[UUID, UUID]]:
        rows = ImportantDate.objects.owned_by(self.device.owner).filter(person__in=person_ids)
        return rows.values_list("id", "person_id")

    def days(self, row: Any) -> Any:
        return event_rule(row, self.calendar)

    @cached_property
    def _writer(self) -> EventWriter:
        return EventWriter(self.device.owner, alarms=self.device.token.alarms, now=timezone.now())

    def write(self, row: Any) -> Iterable[str]:
        events: Iterable[str] = self._writer.date_events(row)
        return events

    def revision_of(self, row: Any) -> int:
        device = self.device
        own = device.token.alarms_revision, device.owner.settings_revision
        return int(max(row.revision, row.person__revision, row.entered_revision, *own))

    def has_changed_by_day(self, row: Any, since: dt.date) -> bool:
        if since >= self.today:
            return False
        rule = event_rule(row, self.calendar)
        if next(rule.between(since, self.today - dt.timedelta(1)), None) is not None:
            return True
        start = first_day(rule, year_unknown=row.year_unknown)
        return rule_lines(rule, start, since) != rule_lines(rule, start, self.today)

    def candidates(self, since: int) -> Iterator[tuple[int, UUID]]:
        rows = ImportantDate.objects.owned_by(self.device.owner)
        changed = rows.filter(Q(revision__gt=since) | Q(person__revision__gt=since))
        pairs = changed.values_list("revision", "person__revision", "id").iterator(FETCH_SIZE)
        return ((max(own, of_person), record_id) for own, of_person, record_id in pairs)


class KeepInTouchResource(CalendarResource):
    """A task for each person with a contact reminder of whom may be spoken. Ticking it off says: we were in touch."""

    title, collection, component, kind = "Keep in touch", KEEP_IN_TOUCH_NAME, "VTODO", "person"

    @property
    def privileges(self) -> tuple[str, ...]:
        return READ_PRIVILEGES if self.device.is_read_only else _TASK_PRIVILEGES

    def rows(self) -> Any:
        columns = dict.fromkeys(("id", "updated_at", "revision", *schedule.CONTACT_FIELDS, *COLUMNS))
        moved = TaskSnooze.objects.owned_by(self.device.owner).filter(person=OuterRef("pk"))
        people = self.only_selected(mentioned_contacts(self.device.owner), "pk").annotate(
            moved_from=Subquery(moved.values("due_before")), moved_to=Subquery(moved.values("due_on"))
        )
        return people.values_list(*columns, "moved_from", "moved_to", "entered_revision", named=True)

    @property
    def own_revision(self) -> int:
        return self.book.tasks_revision

    def changed(self, rows: Any, since: int) -> Any:
        return rows.filter(Q(revision__gt=since) | Q(entered_revision__gt=since))

    def records_of(self, person_ids: "QuerySet[SelectedCard, object]") -> Iterable[tuple[UUID, UUID]]:
        return Person.objects.owned_by(self.device.owner).filter(pk__in=person_ids).values_list("pk", "pk")

    @cached_property
    def unread_ids(self) -> frozenset[UUID]:
        if not self.device.has_unread_tasks:
            return frozenset()
        rows = UnreadTask.objects.owned_by(self.device.owner).filter(token=self.device.token)
        return frozenset(rows.values_list("person_id", flat=True))

    @property
    def ctag(self) -> str:
        # Another one at each request until the task is read.
        # One that is no longer here, of somebody in the trash or without a reminder, can never be read.
        has_unread = bool(self.unread_ids) and self.rows().filter(pk__in=self.unread_ids).exists()
        return f"{self.sync_token}#{time.time_ns()}" if has_unread else self.sync_token

    def days(self, row: Any) -> dt.date | None:
        """The day on which the user meant to be in touch again, which may be over; or to which a device moved it."""
        day = self.day_of_rule(row)
        return row.moved_to if day is not None and row.moved_from == day else day

    def day_of_rule(self, row: Any) -> dt.date | None:
        rule = schedule.contact_rule(row, self.calendar)
        return rule.nth(rule.first) if rule else None

    def name_of(self, row: Any) -> str:
        return format_name(self.device.owner, [getattr(row, column) for column in COLUMNS])

    def write(self, row: Any) -> Iterable[str]:
        stamp, due = format_utc(row.updated_at), format_date(self.days(row) or self.today)
        name = escape_text(self.name_of(row))
        return [task(uid=f"contact-{row.id}", stamp=stamp, due=due, summary=name, url=person_url(row.id))]

    def revision_of(self, row: Any) -> int:
        return int(max(row.revision, row.entered_revision, self.device.owner.settings_revision))

    def candidates(self, since: int) -> Iterator[tuple[int, UUID]]:
        rows = Person.objects.owned_by(self.device.owner).filter(revision__gt=since)
        return rows.values_list("revision", "id").iterator(FETCH_SIZE)

    PROPERTIES: ClassVar[Properties] = {
        **CalendarResource.PROPERTIES,
        cal("max-resource-size"): lambda _: str(MAX_TASK_BYTES),
    }


CALENDARS: tuple[type[CalendarResource], ...] = (DatesResource, KeepInTouchResource)
