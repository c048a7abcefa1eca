"""`manage.py doctor --deep` reports nothing about intact data, and names each row that a test breaks by its id."""

import datetime as dt
import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from accounts.models import User
from accounts.services.registration import DEMO_EMAIL
from carddav.models import JournalEntry, Mapping, Run
from contacts_project.kernel.invariants import CHUNK_SIZE, find_violations, iterate_chunks
from contacts_project.kernel.ownership.models import Tombstone
from contacts_project.operation import invariants as _of_all_tables  # noqa: F401 - registers them
from notifications.models import Delivery, Destination, DigestSchedule
from people.counts import PEOPLE
from people.dates.next_dates import refresh_next_dates
from people.models import AccountCount, ImportantDate, LookupKey, Person, StoredPhoto
from relationships.models import Relationship
from tests.builders import make_person, make_user
from tests.carddav.builders import make_connection, make_mapping, make_run
from tests.client import Client, client_of
from tests.loopback import Recorder, allow_loopback, recording_server
from tests.mailbox import Mailbox

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("schedule")]


def doctor() -> list[str]:
    """The problems that the command reports; its exit status must agree."""
    out, has_failed = StringIO(), False
    try:
        call_command("doctor", "--deep", stdout=out)
    except CommandError:
        has_failed = True
    wrong = [line for line in out.getvalue().splitlines() if line.startswith("ERROR")]
    assert has_failed == bool(wrong)
    return wrong


def add_further_records(owner: User, api: Client, receiver: Recorder) -> None:
    """Add to the demo data deliveries, a merge, a mapping, records in the trash and removed ones."""
    api.ok("put", "/api/user/reminder-hour", {"hour": 0})
    webhook = {"type": "WEBHOOK", "label": "here", "url": f"{receiver.url}/hook"}
    api.ok("post", "/api/notifications/endpoints", webhook, status=201)
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    today = timezone.now().date().isoformat()
    for name in ("Ada", "Eve"):
        date = {"type": "BIRTHDAY", "date": today, "reminderEnabled": True, "reminderLeadDays": 3}
        contact = {"contactReminderEnabled": True, "contactReminderInterval": 2, "contactReminderIntervalUnit": "WEEKS"}
        body = {"name": name, "emails": [{"type": "home", "email": f"{name}@example.org"}], "importantDates": [date]}
        api.ok("post", "/api/people", {**body, **contact}, status=201)
    call_command("deliver_reminders", stdout=StringIO())
    people = list(Person.objects.owned_by(owner).active().order_by("pk"))
    pair = {"primaryId": str(people[0].pk), "secondaryId": str(people[1].pk)}
    api.ok("post", "/api/people/merge", pair)
    api.ok("delete", f"/api/people/{people[2].pk}")
    api.ok("delete", f"/api/people/{people[3].pk}")
    api.ok("delete", f"/api/people/{people[3].pk}/permanent")
    connected = make_connection(owner, server_url=f"{receiver.url}/dav/")
    make_mapping(connected, people[4])
    make_run(connected)


@pytest.fixture
def owner(settings: Any, media: Path, mailbox: Mailbox) -> User:
    allow_loopback(settings)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    call_command("seed_demo", people=12, stdout=StringIO())
    owner = User.objects.get(email=DEMO_EMAIL)
    with recording_server() as receiver:
        add_further_records(owner, client_of(owner), receiver)
    return owner


def test_intact_instance_has_no_findings(owner: User) -> None:
    assert Delivery.objects.owned_by(owner).filter(state="sent").exists()
    assert doctor() == []


def run_sql(statement: str, *values: str) -> None:
    """Run a statement that bypasses services, the ORM and triggers."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def break_name_key(owner: User) -> object:
    person = Person.objects.owned_by(owner).active().earliest("pk")
    Person.unscoped.filter(pk=person.pk).update(search_key="somebody else")
    return person.pk


def break_lookup_key(owner: User) -> object:
    key = LookupKey.objects.filter(owner=owner).earliest("pk")
    key.delete()
    return key.person_id


def break_lookup_owner(owner: User) -> object:
    key = LookupKey.objects.filter(owner=owner).earliest("pk")
    LookupKey.objects.filter(pk=key.pk).update(owner=make_user("other@example.org"))
    return key.pk


def break_count(owner: User) -> object:
    AccountCount.objects.filter(owner=owner, kind=PEOPLE).update(number=7777)
    return f"people of account {owner.pk}: 7777 instead of"


def _date(owner: User) -> ImportantDate:
    rows = ImportantDate.objects.owned_by(owner).active().filter(person__deleted_at=None, next_due_at__isnull=False)
    return rows.earliest("pk")


def break_due_moment(owner: User) -> object:
    row = _date(owner)
    assert row.next_due_at
    moved = row.next_due_at + dt.timedelta(minutes=1)
    ImportantDate.unscoped.filter(pk=row.pk).update(next_due_at=moved)
    return row.pk


def lose_reminder(owner: User) -> object:
    row = _date(owner)
    ImportantDate.unscoped.filter(pk=row.pk).update(next_due_at=None, next_occurrence_on=None, next_kind="")
    return row.pk


def skip_occurrence(owner: User) -> object:
    row = _date(owner)
    assert row.next_due_at
    assert row.next_occurrence_on
    years = {"next_due_at": row.next_due_at.replace(year=row.next_due_at.year + 4)}
    day = row.next_occurrence_on.replace(year=row.next_occurrence_on.year + 4)
    ImportantDate.unscoped.filter(pk=row.pk).update(next_occurrence_on=day, **years)
    return row.pk


def lose_contact(owner: User) -> object:
    person = Person.objects.owned_by(owner).active().filter(contact_due_at__isnull=False).earliest("pk")
    Person.unscoped.filter(pk=person.pk).update(contact_due_at=None, contact_due_on=None)
    return person.pk


def move_next_day(owner: User) -> object:
    refresh_next_dates(now=timezone.now())
    person = Person.objects.owned_by(owner).active().filter(next_date_on__isnull=False).earliest("pk")
    assert person.next_date_on
    later = person.next_date_on + dt.timedelta(days=1)
    Person.unscoped.filter(pk=person.pk).update(next_date_on=later, next_date_until=later)
    return person.pk


def break_pair(owner: User) -> object:
    row = Relationship.objects.owned_by(owner).earliest("pk")
    Relationship.unscoped.filter(pk=row.pk).update(notes="half a change")
    return row.pk


def break_delivery(owner: User) -> object:
    row = Delivery.objects.owned_by(owner).filter(state="sent").earliest("pk")
    Delivery.unscoped.filter(pk=row.pk).update(ended_at=None)
    return row.pk


def hold_delivery(owner: User) -> object:
    row = Delivery.objects.owned_by(owner).filter(state="sent").earliest("pk")
    held = {"claim": UUID(int=1), "held_until": timezone.now() - dt.timedelta(hours=1), "holder": "elsewhere:1:1"}
    Delivery.unscoped.filter(pk=row.pk).update(state="sending", ended_at=None, **held)
    return row.pk


def lose_digest(owner: User) -> object:
    DigestSchedule.objects.filter(owner=owner).delete()
    return owner.pk


def break_base(owner: User) -> object:
    row = Mapping.objects.owned_by(owner).earliest("pk")
    Mapping.unscoped.filter(pk=row.pk).update(base_remote=["no fields"])
    return row.pk


def forget_intent(owner: User) -> object:
    run = Run.objects.owned_by(owner).earliest("pk")
    known = {"owner": owner, "connection": run.connection, "href": "/a", "href_key": "/a", "op": "update"}
    row = JournalEntry.objects.create(**known, created_at=run.started_at - dt.timedelta(minutes=1))
    return row.pk


def lose_run(owner: User) -> object:
    row = Run.objects.owned_by(owner).earliest("pk")
    started = timezone.now() - dt.timedelta(days=1)
    Run.unscoped.filter(pk=row.pk).update(state="running", ended_at=None, started_at=started)
    return row.pk


def unmark_mirrored(owner: User) -> object:
    User.objects.filter(pk=owner.pk).update(is_mirrored=False)
    return owner.pk


def raise_revision(owner: User) -> object:
    row = Person.objects.owned_by(owner).earliest("pk")
    run_sql("UPDATE people_person SET revision = 7777777 WHERE uid = %s", row.uid)
    return row.pk


def raise_settings_revision(owner: User) -> object:
    User.objects.filter(pk=owner.pk).update(settings_revision=7777777)
    return owner.pk


def add_tombstone_of_existing_row(owner: User) -> object:
    row = Person.objects.owned_by(owner).earliest("pk")
    owner.refresh_from_db()
    known = {"owner_id": owner.pk, "kind": "person", "record_id": row.pk, "removed_at": timezone.now()}
    return Tombstone.objects.create(**known, revision=owner.revision).pk


def add_tombstone_without_account(owner: User) -> object:
    known = {"owner_id": UUID(int=7), "kind": "person", "record_id": UUID(int=8), "removed_at": timezone.now()}
    return Tombstone.objects.create(**known, revision=1).pk


def lose_key(owner: User) -> object:
    row = Destination.objects.owned_by(owner).earliest("pk")
    run_sql(
        "UPDATE notifications_destination SET secret = %s WHERE label = 'here'",
        Fernet(Fernet.generate_key()).encrypt(b"x").decode(),
    )
    return row.pk


def break_session_owner(owner: User) -> object:
    session = SessionStore()
    session["_auth_user_id"] = str(UUID(int=7))
    session.create()
    return UUID(int=7)


def lose_line(owner: User) -> object:
    PeriodicTask.objects.filter(task="notifications.tasks.due_scan").delete()
    return "notifications.tasks.due_scan"


BREAKS: dict[Callable[[User], object], str] = {
    break_name_key: "people have sort or search keys",
    break_lookup_key: "people have look-up keys that do not match",
    break_lookup_owner: "look-up keys belong to another account",
    break_count: "stored counts do not match the rows",
    break_due_moment: "dates have a next reminder that does not match",
    lose_reminder: "dates have a next reminder that does not match",
    skip_occurrence: "dates have a next reminder that does not match",
    lose_contact: "people have a next contact reminder that does not match",
    move_next_day: "people have a next day that does not match",
    break_pair: "relationships do not match their inverse",
    break_delivery: "deliveries are in a state that does not fit",
    hold_delivery: "deliveries are held for longer than their lease",
    lose_digest: "accounts have the digest switched on and none",
    break_base: "mappings have a base or a card that cannot be read",
    forget_intent: "writes to servers are unfinished",
    lose_run: "runs are marked as running, but no process works on them",
    unmark_mirrored: "accounts are marked as mirrored",
    raise_revision: "rows have a revision below 1 or above that of their account",
    raise_settings_revision: "accounts have a negative revision",
    add_tombstone_of_existing_row: "tombstones exist for rows that are not deleted",
    add_tombstone_without_account: "tombstones belong to no account",
    lose_key: "stored secrets cannot be decrypted",
    break_session_owner: "sessions belong to no account",
    lose_line: "periodic tasks are missing from the schedule",
}


def test_every_break_is_reported_with_its_id(owner: User) -> None:
    """One instance is used for all cases; each change is rolled back."""
    missed = []
    for break_it, finding in BREAKS.items():
        with transaction.atomic():
            broken = str(break_it(owner))
            if not any(broken in example for violation in find_violations(finding) for example in violation.examples):
                missed.append(break_it.__name__)
            transaction.set_rollback(True)
    assert missed == []


def test_missing_damaged_and_unreferenced_photo_files_are_reported(owner: User, media: Path) -> None:
    lost, damaged, *_ = sorted(media.rglob("*.jpg"))
    content = damaged.read_bytes()
    lost.unlink()
    damaged.write_bytes(content[:-1])
    stray = damaged.with_name(f"{damaged.name[:2]}{'0' * 38}-{owner.pk.hex}.jpg")
    stray.write_bytes(content)
    (line,) = doctor()
    assert line.startswith("ERROR  2 photo files")
    assert all(f"{file.name} (missing or damaged)" in line for file in (lost, damaged))
    old = (timezone.now() - dt.timedelta(days=3)).timestamp()
    os.utime(stray, (old, old))
    assert f"{stray.name} (of no row)" in doctor()[0]
    StoredPhoto.objects.filter(name=lost.name).delete()
    assert any("have no row of their own" in line for line in doctor())


def test_doctor_without_deep_does_not_check_the_rows(owner: User) -> None:
    break_count(owner)
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "ERROR" not in out.getvalue()


def test_chunks_hold_each_row_once(alice: User) -> None:
    LookupKey.objects.all().delete()
    person = make_person(alice)
    LookupKey.objects.bulk_create(
        LookupKey(owner=alice, person=person, kind=1, key=str(number)) for number in range(CHUNK_SIZE + 1)
    )
    chunks = list(iterate_chunks(LookupKey.objects.all()))
    assert [len(chunk) for chunk in chunks] == [CHUNK_SIZE, 1]
    assert len({row.pk for chunk in chunks for row in chunk}) == CHUNK_SIZE + 1
