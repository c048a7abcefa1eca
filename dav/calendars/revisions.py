"""When what the calendars show has last changed, so that a write which they do not show makes no device ask.

Kept with the book, and read up to the account's revision by what has changed since then, when a device asks.
"""

from django.db.models import Exists, Max, Model, OuterRef, QuerySet

from accounts.feed.cursor import is_of_epoch
from accounts.models import User
from contacts_project.kernel.ownership.models import Tombstone
from dav.models import Book
from people.dates.upcoming import mentioned_contacts
from people.models import ImportantDate, Person


def refresh_calendars(owner: User) -> Book:
    """The book with `dates_revision` and `tasks_revision` as of the revision of `owner`."""
    rows = Book.objects.owned_by(owner)
    if not rows.exists():
        Book.objects.bulk_create([Book(owner=owner)], ignore_conflicts=True)
    while (book := rows.get()).calendars_revision < owner.revision:
        # Of two requests at once the second changes nothing, and reads what the first has found.
        rows.filter(calendars_revision=book.calendars_revision).update(**_read(owner, book))
    return book


def _read(owner: User, book: Book) -> dict[str, int]:
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
