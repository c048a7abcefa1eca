"""The figures for operators: computed live for today, stored once for each past day."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from accounts.models import User
from carddav.models import Run
from contacts_project.celery import app
from contacts_project.operation import figures
from contacts_project.operation.tasks import count_days
from notifications.models import Delivery
from people.counts import PHOTO_BYTES, wrong_counts
from people.models import AccountCount, Person, StoredPhoto
from people.photos.files import sweep_files
from tests.client import Client
from tests.contacts_project.operation.rows import make_delivery, make_ended_run
from tests.pictures import picture, upload

pytestmark = pytest.mark.django_db

MONDAY = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)
TUESDAY = MONDAY + dt.timedelta(days=1)


def test_past_days_are_counted_once_and_keep_their_counts(alice: User) -> None:
    User.objects.update(created_at=MONDAY)
    make_delivery(alice, MONDAY)
    make_delivery(alice, MONDAY, channel="webhook", state="failed", code="http_5xx")
    make_ended_run(alice, MONDAY, 3)
    make_ended_run(alice, MONDAY, 1, "auth")
    with time_machine.travel(TUESDAY, tick=False):
        before = figures.deliveries_by_day(days=2, now=TUESDAY)
        assert before[MONDAY.date()] == {"email/sent/": 1, "webhook/failed/http_5xx": 1}
        for _ in range(2):
            count_days()
        Delivery.unscoped.all().delete()
        Run.unscoped.all().delete()
        make_delivery(alice, TUESDAY)
        assert figures.deliveries_by_day(days=2, now=TUESDAY) == {
            MONDAY.date(): before[MONDAY.date()],
            TUESDAY.date(): {"email/sent/": 1},
        }
        assert figures.runs_by_day(days=2, now=TUESDAY)[MONDAY.date()] == {"ok": 1, "auth": 1}
        assert figures.sign_ups_by_day(days=2, now=TUESDAY) == {MONDAY.date(): {"": 1}, TUESDAY.date(): {"": 0}}
        assert figures.sizes_by_day(days=2, now=TUESDAY)[TUESDAY.date()]["accounts"] == 1


def test_day_is_counted_an_hour_after_midnight(alice: User) -> None:
    User.objects.update(created_at=MONDAY)
    midnight = dt.datetime(2026, 3, 3, tzinfo=dt.UTC)
    assert figures.count_days(sizes={}, now=midnight + dt.timedelta(minutes=59)) == 0
    assert figures.count_days(sizes={}, now=midnight + dt.timedelta(minutes=61)) == 1
    assert figures.first_uncounted_day() == midnight.date()


def test_oldest_due_includes_reminders_that_are_not_planned_yet(alice: User, ada: Person) -> None:
    now = timezone.now()
    assert figures.oldest_due_seconds(now) == 0
    waits = {"state": "pending", "next_try_at": now - dt.timedelta(minutes=2), "ended_at": None}
    make_delivery(alice, now, **waits)
    assert figures.oldest_due_seconds(now) == 120
    Person.unscoped.filter(pk=ada.pk).update(contact_due_at=now - dt.timedelta(minutes=5))
    assert figures.oldest_due_seconds(now) == 300
    assert figures.waiting_counts(now)["deliveries_due"] == 1


def test_photo_bytes_equal_the_size_of_the_files(
    api: Client, alice: User, ada: Person, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = f"/api/people/{ada.pk}/photo"
    assert upload(api, path, picture()).status_code == 200
    size = sum(file.stat().st_size for file in media.rglob("*.jpg"))
    assert figures.photo_bytes() == size > 0
    assert wrong_counts(alice.pk) == []
    # As in an older version, which stored no sizes: the nightly purge reads them from the files.
    StoredPhoto.objects.all().delete()
    assert figures.photo_bytes() == 0
    sweep_files(now=timezone.now() + dt.timedelta(days=2))
    assert figures.photo_bytes() == size
    assert figures.sizes()["people"] == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert api.call("delete", path).status_code == 200
    assert not list(media.rglob("*.jpg"))
    assert (figures.photo_bytes(), wrong_counts(alice.pk)) == (0, [])


def test_queue_length_counts_waiting_messages() -> None:
    queue = app.conf.task_default_queue
    before = figures.queue_messages()[queue]
    with app.connection_for_write() as broker:
        app.send_task("nobody.takes.this", connection=broker)
        assert figures.queue_messages()[queue] == before + 1
        app.control.purge(connection=broker)


def test_versions_and_database_size_are_reported() -> None:
    assert figures.database_bytes() > 100_000
    assert set(figures.versions()) == {"Service", "Database", "Broker", "Python", "Django", "Celery"}


def query_plan(rows: Any) -> str:
    return str(rows.explain()).lower()


@pytest.mark.parametrize("name", ["deliveries", "runs"])
def test_counting_a_day_uses_an_index(alice: User, name: str) -> None:
    """Rows of other days must not be read."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
    rows = {
        "deliveries": Delivery.unscoped.rows().filter(ended_at__isnull=False, updated_at__gte=MONDAY),
        "runs": Run.unscoped.rows().filter(ended_at__isnull=False, ended_at__gte=MONDAY),
    }[name]
    assert {"deliveries": "delivery_ended", "runs": "carddav_run_ended"}[name] in query_plan(
        rows.order_by().values("pk")
    )


def test_total_of_photo_bytes_uses_an_index(alice: User) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            # With few rows PostgreSQL may choose the other index, so drop it to see that this one can be used.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE people_accountcount DROP CONSTRAINT account_count_once")
    rows = AccountCount.objects.filter(kind=PHOTO_BYTES, key="").values("number")
    assert "account_count_whole" in query_plan(rows)
