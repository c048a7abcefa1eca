"""Invariants of people: name keys, lookup keys, word index, stored counts, reminders, files of photos."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import invariant, iterate_chunks, iterate_ids
from contacts_project.kernel.ownership.account_lock import still_broken
from contacts_project.kernel.ownership.models import OwnedModel
from people import lookup
from people.cards.card_lines import name_keys
from people.cards.related_names import related_people_on
from people.counts import wrong_counts
from people.dates import schedule
from people.dates.next_dates import next_days
from people.dates.recurrence import local_day
from people.lookup import words_of_interaction, words_of_value
from people.models import (
    CustomFieldValue,
    ImportantDate,
    Interaction,
    InteractionWord,
    LookupKey,
    Participation,
    Person,
    RelatedName,
    StoredPhoto,
    ValueWord,
)
from people.models.account_counts import undercounted_accounts
from people.models.person import ALWAYS, NOT_KNOWN
from people.names import KEYED_COLUMNS
from people.photos.files import find_faulty_files

_HINT_SAVE_AGAIN = "Saving each of these people anew, in any field of the name, writes them."
# After a move to another time zone, reminders of days that are still ahead there may have been sent already.
_SENT_AHEAD = dt.timedelta(days=2)

Row = TypeVar("Row", bound=OwnedModel)


def _broken_rows(rows: "QuerySet[Row]", select_broken: Callable[[list[Row]], Iterable[Row]]) -> Iterator[object]:
    """The keys of the rows that `select_broken` returns twice: for a chunk of rows, and again under the account lock.

    The second check excludes rows that another process was writing during the first one.
    """
    for chunk in iterate_chunks(rows):
        suspects = [(row.owner_id, row.pk) for row in select_broken(chunk)]
        yield from still_broken(
            suspects, lambda _, keys: [row.pk for row in select_broken(list(rows.filter(pk__in=keys)))]
        )


def _load_calendars(rows: Iterable[OwnedModel]) -> dict[UUID, schedule.Calendar]:
    """The calendars of the rows' owners. One whose account was deleted since the rows were read is missing."""
    owners = User.objects.filter(pk__in={row.owner_id for row in rows})
    return {
        pk: schedule.build_calendar(*columns) for pk, *columns in owners.values_list("pk", *schedule.CALENDAR_COLUMNS)
    }


@invariant("people have sort or search keys that do not match their names", hint=_HINT_SAVE_AGAIN)
def find_wrong_name_keys() -> Iterator[object]:
    rows = Person.unscoped.rows().only("owner_id", "sort_key", "search_key", "card_lines", *KEYED_COLUMNS)
    return _broken_rows(
        rows,
        lambda people: (
            person for person in people if (bytes(person.sort_key), person.search_key) != name_keys(person)
        ),
    )


@invariant("people have look-up keys that do not match their names, addresses and numbers", hint=_HINT_SAVE_AGAIN)
def find_wrong_lookup_keys() -> Iterator[object]:
    return _broken_rows(Person.unscoped.rows().only("owner_id", *lookup.KEY_COLUMNS), _select_wrong_keys)


def _select_wrong_keys(people: list[Person]) -> Iterator[Person]:
    stored: dict[UUID, list[tuple[int, str]]] = defaultdict(list)
    rows = LookupKey.objects.filter(person__in=[person.pk for person in people])
    for person_id, kind, key in rows.values_list("person_id", "kind", "key"):
        stored[person_id].append((kind, key))
    for person in people:
        columns = {column: getattr(person, column) for column in lookup.KEY_COLUMNS}
        if sorted(stored[person.pk]) != sorted(lookup.keys_of(columns)):
            yield person


@invariant("people's last contact is not the later of the entered date and their last interaction")
def find_wrong_last_contacts() -> Iterator[object]:
    rows = Person.unscoped.rows().filter(owner__reminders_stale=False)
    return _broken_rows(
        rows.only("owner_id", "last_contact", "contact_before", "interacted_on"), _select_wrong_contacts
    )


def _select_wrong_contacts(people: list[Person]) -> Iterator[Person]:
    calendars = _load_calendars(people)
    latest = Participation.unscoped.rows().filter(
        person=OuterRef("pk"), interaction__deleted_at=None, interaction__counts_at=None
    )
    found = Person.unscoped.rows().filter(pk__in=[person.pk for person in people])
    latest_at = dict(
        found.annotate(latest=Subquery(latest.order_by("-at").values("at")[:1])).values_list("pk", "latest")
    )
    for person in people:
        if person.owner_id not in calendars:
            continue
        at = latest_at.get(person.pk)
        day = local_day(at, calendars[person.owner_id].zone) if at else None
        shown = max((day for day in (person.contact_before, day) if day), default=None)
        if (person.interacted_on, person.last_contact) != (day, shown):
            yield person


@invariant("interactions have no participants, or participants with another time")
def find_wrong_participations() -> Iterator[object]:
    yield from iterate_ids(Interaction.unscoped.rows().filter(participations=None))
    yield from iterate_ids(Participation.unscoped.rows().exclude(at=F("interaction__at")))


@invariant("custom values or interactions have search words that do not match their text")
def find_wrong_words() -> Iterator[object]:
    values = CustomFieldValue.unscoped.rows().only("owner_id", "value")
    select_broken = partial(
        _select_wrong_words, model=ValueWord, column="value", words_of=lambda row: set(words_of_value(row.value))
    )
    yield from _broken_rows(values, select_broken)
    interactions = Interaction.unscoped.rows().only("owner_id", "title", "notes")
    select_broken = partial(
        _select_wrong_words, model=InteractionWord, column="interaction", words_of=words_of_interaction
    )
    yield from _broken_rows(interactions, select_broken)


def _select_wrong_words(rows: list[Row], model: Any, column: str, words_of: Callable[[Row], set[str]]) -> Iterator[Row]:
    stored: dict[UUID, list[tuple[UUID, str]]] = defaultdict(list)
    words = model.objects.filter(**{f"{column}__in": [row.pk for row in rows]})
    for key, owner_id, word in words.values_list(f"{column}_id", "owner_id", "key"):
        stored[key].append((owner_id, word))
    for row in rows:
        if sorted(stored[row.pk]) != sorted((row.owner_id, word) for word in words_of(row)):
            yield row


@invariant("people have related names that do not match their cards")
def find_wrong_related_names() -> Iterator[object]:
    return _broken_rows(Person.unscoped.rows().only("owner_id", "card_lines"), _select_wrong_related_names)


def _select_wrong_related_names(people: list[Person]) -> Iterator[Person]:
    stored: dict[UUID, list[tuple[UUID, str, str]]] = defaultdict(list)
    rows = RelatedName.objects.filter(person__in=[person.pk for person in people])
    for person_id, owner_id, name, kind in rows.values_list("person_id", "owner_id", "name", "type_name"):
        stored[person_id].append((owner_id, name, kind))
    for person in people:
        if sorted(stored[person.pk]) != sorted(
            (person.owner_id, *named) for named in related_people_on(person.card_lines)
        ):
            yield person


@invariant(
    "people have a next day that does not match their dates", hint="Saving one of each person's dates computes it."
)
def find_wrong_next_days() -> Iterator[object]:
    # Of those that are marked, or have passed, the task of every minute has not computed the next day yet.
    known = Person.unscoped.rows().filter(next_date_until__gt=NOT_KNOWN, owner__reminders_stale=False)
    return _broken_rows(known.only("owner_id", "next_date_on", "next_date_until"), _select_wrong_next_days)


def _select_wrong_next_days(people: list[Person]) -> Iterator[Person]:
    calendars, now = _load_calendars(people), timezone.now()
    by_owner: dict[UUID, list[Person]] = defaultdict(list)
    for person in people:
        by_owner[person.owner_id].append(person)
    for owner_id in by_owner.keys() & calendars.keys():
        calendar, rows = calendars[owner_id], by_owner[owner_id]
        today = calendar.today(now)
        days = next_days(owner_id, [person.pk for person in rows], calendar, today)
        for person in rows:
            day = days.get(person.pk)
            if person.next_date_until >= today and (person.next_date_on, person.next_date_until) != (
                day,
                day or ALWAYS,
            ):
                yield person


@invariant("look-up keys belong to another account than their person")
def find_foreign_lookup_keys() -> Iterator[object]:
    return iterate_ids(LookupKey.objects.exclude(person__owner=F("owner")))


@invariant(
    "stored counts do not match the rows",
    hint="`manage.py install_triggers` puts the triggers back; write to the maintainers about the counts.",
)
def find_wrong_counts() -> Iterator[object]:
    yield from wrong_counts()


@invariant(
    "accounts store more bytes of cards than were counted",
    hint="The next write of a card beyond MAX_ACCOUNT_BYTES measures them; write to the maintainers.",
)
def find_undercounted_accounts() -> Iterator[object]:
    yield from undercounted_accounts()


@invariant(
    "dates have a next reminder that does not match their settings",
    hint="Setting the account's time zone or reminder hour to another value and back plans all its reminders.",
)
def find_wrong_dates() -> Iterator[object]:
    reminding = Q(reminder_enabled=True) | Q(next_due_at__isnull=False)
    rows = (
        ImportantDate.unscoped.rows().active().filter(reminding, person__deleted_at=None, owner__reminders_stale=False)
    )
    return _broken_rows(rows, lambda dates: _select_wrong_schedules(dates, has_right_reminder))


@invariant(
    "people have a next contact reminder that does not match their settings",
    hint="Saving each of these people's contact reminder again plans it.",
)
def find_wrong_contacts() -> Iterator[object]:
    reminding = Q(contact_reminder_enabled=True) | Q(contact_due_at__isnull=False)
    rows = Person.unscoped.rows().active().filter(reminding, owner__reminders_stale=False)
    return _broken_rows(
        rows.only(*schedule.CONTACT_FIELDS), lambda people: _select_wrong_schedules(people, has_right_contact)
    )


def _select_wrong_schedules(
    rows: list[Row], is_right: Callable[[Row, schedule.Calendar, dt.datetime], bool]
) -> Iterator[Row]:
    calendars, now = _load_calendars(rows), timezone.now()
    return (row for row in rows if row.owner_id in calendars and not is_right(row, calendars[row.owner_id], now))


def has_right_reminder(row: ImportantDate, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Whether the next reminder of an important date is right. An overdue one is: it waits for the next scan."""
    rule = schedule.date_rule(row, calendar)
    if rule is None:
        return row.next_due_at is None
    coming = rule.scheduled_from(calendar.today(now) + _SENT_AHEAD)
    if row.next_due_at is None:
        return coming is None or calendar.reminder_time(coming.day) is None
    reminder = schedule.pending_reminder(row)
    if reminder is None or not rule.has(reminder) or (coming and coming.day < reminder.day):
        return False
    return _is_scheduled_at(row.next_due_at, calendar.reminder_time(reminder.day), now)


def has_right_contact(person: Person, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Whether the next contact reminder of a person is right."""
    rule = schedule.contact_rule(person, calendar)
    if rule is None:
        return person.contact_due_at is None
    coming = rule.on_or_after(calendar.today(now) + _SENT_AHEAD)
    if person.contact_due_at is None:
        return coming is None or calendar.reminder_time(coming) is None
    day = person.contact_due_on
    if day is None or rule.on_or_after(day) != day or (coming and coming < day):
        return False
    return _is_scheduled_at(person.contact_due_at, calendar.reminder_time(day), now)


def _is_scheduled_at(due_at: dt.datetime, instant: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether `due_at` is the instant, or in the past after it: a reminder may be scheduled after its instant."""
    return instant is not None and (due_at == instant or instant < due_at <= now)


@invariant(
    "photo files are missing, damaged, or referenced by no row",
    hint="Restore missing files from a backup, or upload the photos again; the daily purge removes unreferenced ones.",
)
def find_wrong_files() -> Iterator[object]:
    # The name of a file is made of the hash of its content and the id of its owner.
    yield from (f"{name} ({fault})" for name, fault in find_faulty_files(now=timezone.now()))


@invariant("photos of people or accounts have no row of their own", hint="The daily purge adds the rows.")
def find_uncounted_photos() -> Iterator[object]:
    stored = StoredPhoto.objects.filter(name=OuterRef("photo"))
    yield from iterate_ids(
        Person.unscoped.rows().filter(~Exists(stored.filter(owner=OuterRef("owner"))), photo__isnull=False)
    )
    yield from iterate_ids(User.objects.filter(~Exists(stored.filter(owner=OuterRef("pk"))), photo__isnull=False))
