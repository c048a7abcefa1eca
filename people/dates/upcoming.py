"""Upcoming events of an account: important dates, with or without reminder, and contact reminders."""

import datetime as dt
from bisect import insort
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from contacts_project.kernel.json import JsonMapping, JsonObject
from people.dates import schedule
from people.dates.recurrence import Recurrence, full_years
from people.mentions import COLUMNS as MENTION_COLUMNS
from people.mentions import Topic, has_ended, may_be_mentioned, topic_of
from people.models import ImportantDate, Person
from people.models.person import PersonQuerySet
from people.names import COLUMNS
from people.vocabularies import ReminderType, Unit

T = TypeVar("T")


class Nearest(Generic[T]):
    """The nearest of many things that are computed one by one, in memory for those alone.

    Keeps the `limit` items with the smallest keys of all that are offered; no two keys may be equal.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[Any, T]] = []  # in order, with one more than the limit, which decides `has_more`

    def is_beyond(self, start_of_key: Any) -> bool:
        """Whether an item whose key is `start_of_key` or greater would not be kept: its producer may stop.

        It then counts as offered: `has_more` is true already.
        """
        return len(self._kept) > self._limit and bool(self._kept[-1][0] < start_of_key)

    def offer(self, key: Any, item: T) -> None:
        if not self.is_beyond(key):
            insort(self._kept, (key, item), key=itemgetter(0))
            del self._kept[self._limit + 1 :]

    @property
    def has_more(self) -> bool:
        """Whether more items were offered than are kept."""
        return len(self._kept) > self._limit

    def items(self) -> list[T]:
        """The kept items, in the order of their keys."""
        return [item for _, item in self._kept[: self._limit]]


IMPORTANT_DATE, CONTACT = "important_date", "contact"
# Rows in memory at a time: an account may have any number of dates.
CHUNK_SIZE = 500


def event_rule(row: ImportantDate, calendar: schedule.Calendar) -> Recurrence:
    """The days on which an important date is an event.

    Dates of a predefined type recur every year, whatever their reminder is. A date with a title follows the rule of its
    reminder, and recurs every year without a reminder, unless its reminder was one that comes once and is switched off.
    """
    if row.type is None and row.reminder_type == ReminderType.ONCE and not (row.reminder_enabled or row.year_unknown):
        return Recurrence(row.date, None, 1, calendar.leap_day)
    rule = schedule.date_rule(row, calendar) if row.type is None else None
    return rule.recurrence if rule else Recurrence(row.date, leap_day=calendar.leap_day)


class UpcomingEvents(NamedTuple):
    """The nearest events; `has_more` if some were left out."""

    events: list[dict[str, Any]]
    has_more: bool


def upcoming_events(
    owner: User,
    *,
    start: dt.date,
    days: int,
    limit: int,
    with_deceased: bool = True,
    skipped: Container[tuple[UUID, dt.date]] = (),
) -> UpcomingEvents:
    """The nearest `limit` events from `start` to `days` later, both included, as GET /api/upcoming returns them.

    A recurring date has one event for each occurrence; (`id`, `date`) is unique. A person has only the next contact
    event. `with_deceased` includes birthdays of deceased people, without an age. `skipped` leaves out occurrences by
    id and day. Occurrences after the nearest `limit` are not computed, and only rows of the nearest are kept.
    """
    calendar, end = schedule.calendar_from_user(owner), start + dt.timedelta(days)
    nearest: Nearest[tuple[ImportantDate | Person, dt.date, bool]] = Nearest(limit)
    for row, rule, is_over in event_rules(owner, calendar, start, end):
        if with_deceased or not is_over:
            name = row.person.display_name_for(owner)
            _offer(nearest, row, name, rule.between(start, end), skipped, is_over=is_over)
    for person, rule in waiting_contacts(owner, calendar):
        day = rule.on_or_after(start)
        if day is not None and day <= end:
            _offer(nearest, person, person.display_name_for(owner), [day], skipped, is_over=False)
    events = [_build_event(row, owner, calendar, day, start, is_over=over) for row, day, over in nearest.items()]
    return UpcomingEvents(events, nearest.has_more)


def _offer(
    nearest: Nearest[tuple[ImportantDate | Person, dt.date, bool]],
    row: ImportantDate | Person,
    name: str,
    days: Iterable[dt.date],
    skipped: Container[tuple[UUID, dt.date]],
    *,
    is_over: bool,
) -> None:
    """Offer the ascending `days` of a row, up to the first that is too late to be among the nearest."""
    for day in days:
        if nearest.is_beyond((day,)):
            return
        if (row.pk, day) not in skipped:
            nearest.offer((day, name, str(row.pk)), (row, day, is_over))


def count_upcoming(owner: User, *, start: dt.date, days: int) -> int:
    """The number of events of upcoming_events: dates that recur every year are counted by their day, not read."""
    calendar, end = schedule.calendar_from_user(owner), start + dt.timedelta(days)
    yearly = days_between(start, end)
    recurring = mentioned_dates(owner).filter(_YEARLY, month_day__in=yearly)
    by_day = recurring.order_by().values_list("month_day").annotate(Count("pk"))
    number: int = sum(count * _count_occurrences(day, calendar, start, end) for day, count in by_day)
    # Their first occurrence is in the future, or their only one is over: earlier and later ones must not count.
    single = Q(date__gt=start) | Q(type=None, reminder_enabled=False, reminder_type=ReminderType.ONCE)
    for row in recurring.filter(single).iterator(CHUNK_SIZE):
        number += event_rule(row, calendar).count_between(start, end)
        number -= _count_occurrences(row.month_day, calendar, start, end)
    own_rules = _candidates_between(mentioned_dates(owner).filter(type=None, reminder_enabled=True), start, end)
    number += sum(event_rule(row, calendar).count_between(start, end) for row in own_rules)
    contact_days = (rule.on_or_after(start) for _, rule in waiting_contacts(owner, calendar))
    return number + sum(1 for day in contact_days if day is not None and day <= end)


# Dates that recur every year; the others follow the rule of their reminder (see event_rule).
_YEARLY = Q(type__isnull=False) | Q(reminder_enabled=False)
_LEAP_YEAR = 1604
# Dates whose reminder may be on any day of the year. All others occur on their month and day, except for leap days.
AT_INTERVALS: Final = Q(reminder_enabled=True, reminder_interval_unit__in=[Unit.DAYS, Unit.WEEKS, Unit.MONTHS])
# Only the name of a person and whether it may be mentioned, because loading whole rows takes two thirds of the time.
READ_OF_DATES: Final = (
    *(field.name for field in ImportantDate._meta.concrete_fields),
    *(f"person__{column}" for column in (*MENTION_COLUMNS, *COLUMNS)),
)
READ_OF_CONTACTS: Final = tuple(dict.fromkeys((*schedule.CONTACT_FIELDS, *MENTION_COLUMNS, *COLUMNS)))


def days_between(start: dt.date, end: dt.date) -> list[int]:
    """ImportantDate.month_day of each day between, and of 29 February, which may occur on another day."""
    # 366 days contain every day of the year.
    days = (start + dt.timedelta(n) for n in range(min((end - start).days, 366) + 1))
    return sorted({229, *(day.month * 100 + day.day for day in days)})


def _count_occurrences(month_day: int, calendar: schedule.Calendar, start: dt.date, end: dt.date) -> int:
    """How often a yearly date occurs between two days, by the account's leap day rule."""
    day = dt.date(_LEAP_YEAR, *divmod(month_day, 100))
    return Recurrence(day, leap_day=calendar.leap_day).count_between(start, end)


def active_dates(owner: User) -> QuerySet[ImportantDate]:
    """The active dates of active people, quiet ones included."""
    return ImportantDate.objects.owned_by(owner).active().filter(person__deleted_at=None)


def mentioned_dates(owner: User) -> QuerySet[ImportantDate]:
    """The active dates of active people of whom may be spoken."""
    return active_dates(owner).filter(may_be_mentioned(path="person__"))


def _candidates_between(dates: QuerySet[ImportantDate], start: dt.date, end: dt.date) -> Iterator[ImportantDate]:
    """The dates that may have events between two days; a superset of those that have.

    `next_due_at` cannot restrict them: the reminder of an event that is still ahead may have been sent already.
    """
    on_a_day = Q(month_day__in=days_between(start, end))
    at_intervals = dates.filter(AT_INTERVALS, type=None).exclude(on_a_day)
    return chain(dates.filter(on_a_day).iterator(CHUNK_SIZE), at_intervals.iterator(CHUNK_SIZE))


def event_rules(
    owner: User,
    calendar: schedule.Calendar,
    start: dt.date,
    end: dt.date,
    *,
    dates: QuerySet[ImportantDate] | None = None,
) -> Iterator[tuple[ImportantDate, Recurrence, bool]]:
    """The important dates that may have events between two days (all of people of whom may be spoken, unless
    `dates` restricts them).

    Each comes with the rule of its events, and whether it is the birthday of a person who has died.
    """
    rows = mentioned_dates(owner) if dates is None else dates
    for row in _candidates_between(rows.select_related("person").only(*READ_OF_DATES), start, end):
        yield row, event_rule(row, calendar), has_ended(topic_of(row.type), row.person.deathday)


def mentioned_contacts(owner: User) -> PersonQuerySet:
    """The active people with a contact reminder of whom may be spoken."""
    people = Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True)
    return people.filter(may_be_mentioned(Topic.CONTACT))


def waiting_contacts(owner: User, calendar: schedule.Calendar) -> Iterator[tuple[Person, Recurrence]]:
    """The people with a pending contact reminder of whom may be spoken, and its days."""
    waiting = mentioned_contacts(owner).filter(contact_due_on__isnull=False)
    for person in waiting.only(*READ_OF_CONTACTS).iterator(CHUNK_SIZE):
        if rule := schedule.contact_rule(person, calendar):
            yield person, rule


def _build_event(
    row: ImportantDate | Person,
    owner: User,
    calendar: schedule.Calendar,
    day: dt.date,
    start: dt.date,
    *,
    is_over: bool,
) -> JsonObject:
    date = row if isinstance(row, ImportantDate) else None
    person = row.person if isinstance(row, ImportantDate) else row
    has_age = date is not None and not date.year_unknown and not is_over
    return {
        "id": str(row.pk),
        "kind": IMPORTANT_DATE if date else CONTACT,
        "personId": str(person.pk),
        "personName": person.display_name_for(owner),
        "type": date and date.type,
        "title": date and shown_title(date.type, date.title),
        "date": day.isoformat(),
        "daysUntil": (day - start).days,
        "yearUnknown": date is not None and date.year_unknown,
        "turns": full_years(date.date, day, calendar.leap_day) if date and has_age else None,
    }


def shown_title(type_: str | None, title: str | None) -> str | None:
    """The title of an important date where one is shown: without one the name of its type, in the active language."""
    return title or (occasion(type_, None) if type_ else None)


def occasion(type_: str | None, title: str | None) -> str:
    """The name of the predefined type, or the date's own title."""
    names = {
        "BIRTHDAY": _("Birthday"),
        "ANNIVERSARY": _("Anniversary"),
        "NAMEDAY": _("Name day"),
        "MEMORIAL": _("Memorial day"),
    }
    return names.get(type_ or "") or title or _("Important date")


def event_in_words(event: JsonMapping) -> str:
    """The text of an event of `upcoming_events`, with the age if it is known."""
    if event["kind"] == "contact":
        return _("Get in touch")
    what = occasion(event.get("type"), event.get("title"))
    age = age_in_words(event.get("type"), event.get("turns"))
    return f"{what} · {age}" if age else what


def age_in_words(type_: str | None, years: int | None) -> str:
    """The age on a birthday, or the years since the date; `""` if unknown, and for name days."""
    if not years or years < 0 or type_ == "NAMEDAY":
        return ""
    if type_ == "BIRTHDAY":
        return ngettext("turns %(years)d", "turns %(years)d", years) % {"years": years}
    return ngettext("%(years)d year", "%(years)d years", years) % {"years": years}
