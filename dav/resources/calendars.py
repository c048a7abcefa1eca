"""The two calendars and their members (RFC 4791): important dates as events, contact reminders as tasks.

Nothing of them is stored: the texts are made from the rows of the account, and the revisions of these tell what has
changed. The text of a date depends on the day, too.
"""

import datetime as dt
import hashlib
from collections.abc import Collection, Iterable, Iterator
from email.utils import format_datetime
from itertools import chain
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db.models import Exists, Max, Model, OuterRef, QuerySet, Subquery, Value
from django.utils import timezone, translation
from django.utils.functional import cached_property

from accounts.feed.cursor import is_of_epoch
from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.models import Tombstone
from dav.authentication import BookColumns, Credentials
from dav.calendar_texts import document
from dav.filters import COLLATIONS
from dav.models import Book, SelectedCard, UnreadTask
from dav.resources.base import Properties, Resource
from dav.resources.book import BookResource
from dav.resources.uris import Position, calendar_path, encode_token, member_path
from dav.selection import has_selection
from dav.xml import cal, cs, dav, tag, text
from people.dates import schedule
from people.dates.upcoming import mentioned_contacts
from people.models import ImportantDate, Person

FETCH_SIZE = 500
_SUFFIX = ".ics"


class CalendarResource(Resource):
    """A calendar of the account. `component` is the kind of its members, `kind` that of their rows in tombstones."""

    types = (dav("collection"), cal("calendar"))
    reports = (cal("calendar-multiget"), cal("calendar-query"), dav("sync-collection"), dav("expand-property"))
    component: ClassVar[str]
    kind: ClassVar[str]
    changes_by_day: ClassVar[bool] = False

    @classmethod
    def of(cls, device: Credentials) -> Self:
        return cls(device, calendar_path(device.owner.pk, cls.collection))

    @cached_property
    def calendar(self) -> schedule.Calendar:
        return schedule.calendar_from_user(self.device.owner)

    @cached_property
    def today(self) -> dt.date:
        return self.calendar.today(timezone.now())

    @cached_property
    def book(self) -> Book | BookColumns:
        """The account's book, with what the calendars show as of now."""
        known, owner = self.device.book, self.device.owner
        is_current = known is not None and known.calendars_revision >= owner.revision
        return known if known is not None and is_current else refresh_calendars(owner)

    @cached_property
    def unread_ids(self) -> frozenset[UUID]:
        """The records that the device has put and must read again (dav.resources.calendars)."""
        return frozenset()

    @cached_property
    def selection_revision(self) -> int:
        """As that of the book: a device that gets some people only has nothing of the others here, either."""
        return BookResource.of(self.device).selection_revision

    @property
    def own_revision(self) -> int:
        """The revision at which the calendar last changed for everybody who gets all people."""
        raise NotImplementedError

    @property
    def position(self) -> Position:
        """Up to where a device is told that has read everything."""
        return Position(max(self.own_revision, self.selection_revision), day=self.today.toordinal())

    @property
    def sync_token(self) -> str:
        return encode_token(self.device.owner.pk, self.position)

    @property
    def ctag(self) -> str:
        return self.sync_token

    def rows(self) -> Any:
        """The rows of the members, which have `id`, `updated_at` and what their texts are made from."""
        raise NotImplementedError

    def member(self, row: Any) -> "CalendarMember | None":
        """The member of a row; None if it has none."""
        days = self.days(row)
        return None if days is None else CalendarMember(self, row)

    def days(self, row: Any) -> Any:
        """The days of a row (Recurrence), or its due day; None if it has none."""
        raise NotImplementedError

    def write(self, row: Any) -> Iterable[str]:
        """The components of the member of a row."""
        raise NotImplementedError

    def revision_of(self, row: Any) -> int:
        """The revision at which the member of a row last changed."""
        raise NotImplementedError

    def has_changed_by_day(self, row: Any, since: dt.date) -> bool:
        """Whether the text of a row is another today than it was on the day `since`, without any write."""
        return False

    def changed(self, rows: Any, since: int) -> Any:
        """Those of the rows whose members may have changed after a revision."""
        raise NotImplementedError

    def candidates(self, since: int) -> Iterator[tuple[int, UUID]]:
        """Rows of the kind that changed after a revision, whether or not they are members: `id` and a revision."""
        raise NotImplementedError

    def has_changed_as_whole(self, since: int) -> bool:
        """Whether something that all members are made from has changed after a revision."""
        return bool(self.device.owner.settings_revision > since)

    def only_selected(self, rows: Any, person: str) -> Any:
        """Those of the rows whose `person` (a column) the device gets, each with the revision at which that came."""
        if not has_selection(self.device):
            return rows.annotate(entered_revision=Value(0))
        _ = self.selection_revision
        came = self._selected().filter(left_revision=None, card__person=OuterRef(person))
        came = came.values("entered_revision")[:1]
        return rows.annotate(entered_revision=Subquery(came)).exclude(entered_revision=None)

    def _selected(self) -> Any:
        return SelectedCard.objects.owned_by(self.device.owner).filter(token=self.device.token)

    def records_of(self, person_ids: "QuerySet[SelectedCard, object]") -> Iterable[tuple[UUID, UUID]]:
        """The ids of the records of these people, each with the id of its person."""
        raise NotImplementedError

    def left(self, since: int) -> Iterator[tuple[int, UUID]]:
        """The records of those who left the selection of the device after a revision, with that at which they did."""
        if not has_selection(self.device):
            return
        rows = self._selected().filter(left_revision__gt=since).exclude(card__person=None)
        revisions = dict(rows.values_list("card__person", "left_revision"))
        for record_id, person_id in self.records_of(rows.values("card__person")):
            yield revisions[person_id], record_id

    def members(self, names: Collection[str] = ()) -> Iterator["CalendarMember"]:
        for row in self.rows().order_by("id").iterator(FETCH_SIZE):
            if member := self.member(row):
                yield member

    def find_all(self, ids: Iterable[UUID]) -> dict[UUID, "CalendarMember"]:
        members = map(self.member, self.rows().filter(pk__in=list(ids)))
        return {member.row.id: member for member in members if member}

    def find(self, name: str) -> "CalendarMember | None":
        record_id = id_of(name)
        return self.find_all([record_id]).get(record_id) if record_id else None

    def removed(self, since: int, present: set[UUID]) -> Iterator[tuple[int, UUID]]:
        """What is no member, with the revision since which it is none, of what changed after `since`."""
        tombstones = Tombstone.objects.owned_by(self.device.owner).filter(kind=self.kind, revision__gt=since)
        pairs: Any = chain(self.candidates(since), tombstones.values_list("revision", "record_id"), self.left(since))
        found: dict[UUID, int] = {}
        for revision, record_id in pairs:
            if record_id not in present:
                found[record_id] = max(revision, found.get(record_id, 0))
        return ((revision, record_id) for record_id, revision in found.items())

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        cs("getctag"): lambda r: text(r.ctag),
        dav("sync-token"): lambda r: text(r.sync_token),
        cal("supported-calendar-component-set"): lambda r: tag(cal("comp"), attributes={"name": r.component}),
        cal("supported-collation-set"): lambda _: "".join(tag(cal("supported-collation"), n) for n in COLLATIONS),
        cal("supported-calendar-data"): lambda _: tag(
            cal("calendar-data"), attributes={"content-type": "text/calendar", "version": "2.0"}
        ),
    }


class CalendarMember(Resource):
    """An event with its occurrences, or a task."""

    types = ()
    #: Whether PROPFIND asks for this member alone.
    is_alone = False

    def __init__(self, calendar: CalendarResource, row: Any) -> None:
        super().__init__(calendar.device, member_path(calendar.path, f"{row.id}{_SUFFIX}"))
        self.calendar, self.row = calendar, row

    @cached_property
    def text(self) -> str:
        with translation.override(self.device.owner.language):
            return document(self.calendar.write(self.row))

    @property
    def etag(self) -> str:
        """Without quotes."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def is_unread(self) -> bool:
        """Whether the device has put something else, and is to read this (UnreadTask)."""
        return self.row.id in self.calendar.unread_ids

    @property
    def listed_etag(self) -> str:
        """The ETag; one that no text has where a device that is to read the text asks for the ETag alone."""
        is_hidden = self.is_alone and self.is_unread
        return hashlib.sha256(f"unread {self.etag}".encode()).hexdigest()[:32] if is_hidden else self.etag

    def record_read(self) -> None:
        """The device reads this text now."""
        if self.is_unread:
            rows = UnreadTask.objects.owned_by(self.device.owner)
            rows.filter(token=self.device.token, person=self.row.id).delete()

    @property
    def content_type(self) -> str:
        return f"text/calendar; charset=utf-8; component={self.calendar.component}"

    @property
    def privileges(self) -> tuple[str, ...]:
        return self.calendar.privileges

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        dav("getetag"): lambda r: f'"{r.listed_etag}"',
        dav("getcontenttype"): lambda r: r.content_type,
        dav("getlastmodified"): lambda r: format_datetime(r.row.updated_at.astimezone(dt.UTC), usegmt=True),
        dav("getcontentlength"): lambda r: str(len(r.text.encode())),
    }


def id_of(name: str) -> UUID | None:
    """The id in the name of a member; None for a name that no member has."""
    record_id = parse_id(name.removesuffix(_SUFFIX))
    return record_id if record_id and name == f"{record_id}{_SUFFIX}" else None


def refresh_calendars(owner: User) -> Book:
    """The book with `dates_revision` and `tasks_revision` as of the revision of `owner`."""
    rows = Book.objects.owned_by(owner)
    if not rows.exists():
        Book.objects.bulk_create([Book(owner=owner)], ignore_conflicts=True)
    while (book := rows.get()).calendars_revision < owner.revision:
        # Of two requests at once the second changes nothing, and reads what the first has found.
        rows.filter(calendars_revision=book.calendars_revision).update(**_changed_revisions(owner, book))
    return book


def _changed_revisions(owner: User, book: Book) -> dict[str, int]:
    since, number = book.calendars_revision, mentioned_contacts(owner).count()
    values = {"calendars_revision": owner.revision, "task_number": number}
    if since < 0 or not is_of_epoch(since, owner.revision):
        return {**values, "dates_revision": owner.revision, "tasks_revision": owner.revision}
    people, dates = Person.objects.owned_by(owner), ImportantDate.objects.owned_by(owner)
    with_dates = people.filter(Exists(dates.filter(person=OuterRef("pk"))))
    removed = Tombstone.objects.owned_by(owner).filter(kind="importantDate")
    settings = owner.settings_revision if owner.settings_revision > since else 0
    found = max(settings, *(_last_after(rows, since) for rows in (dates, with_dates, removed)))
    # Whose reminder was switched off, or who was removed, has no task any more to tell of it by: the number does.
    with_tasks = people.filter(contact_reminder_enabled=True)
    of_tasks = owner.revision if number != book.task_number else max(settings, _last_after(with_tasks, since))
    return {
        **values,
        "dates_revision": max(book.dates_revision, found),
        "tasks_revision": max(book.tasks_revision, of_tasks),
    }


def _last_after(rows: QuerySet[Model], since: int) -> int:
    found: int | None = rows.filter(revision__gt=since).aggregate(last=Max("revision"))["last"]
    return found or 0
