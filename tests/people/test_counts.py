"""The counts kept by triggers equal the numbers of rows, whatever writes and however many rows a statement changes."""

import datetime as dt
from itertools import pairwise, product
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from people.counts import PEOPLE, count_of, counts_by_id, wrong_counts
from people.dates import schedule
from people.dates.upcoming import count_upcoming, upcoming_events
from people.models import AccountCount, Group, ImportantDate, Membership, Person
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client

pytestmark = pytest.mark.django_db


def test_deleting_people_lowers_the_counts_of_related_rows(api: Client, alice: User) -> None:
    ada, eve = make_person(alice, name="Ada"), make_person(alice, name="Eve")
    group = Group.objects.create(owner=alice, name="G", name_key="g", color="#000000")
    Membership.objects.bulk_create(Membership(owner=alice, group=group, person=person) for person in (ada, eve))
    api.ok("post", f"/api/people/{ada.pk}/important-dates", {"type": "BIRTHDAY", "date": "1815-12-10"})
    both = {"personId": str(ada.pk), "relatedPersonId": str(eve.pk)}
    api.ok("post", "/api/relationships", both)
    assert api.ok("get", "/api/dashboard/stats")["relationshipsCount"] == 1
    # Both ends in one statement: each relationship must be subtracted once.
    api.ok("post", "/api/people/bulk", {"action": "delete", "selectAll": True})
    assert counts_by_id(alice.pk, "members")[group.pk] == 0
    assert count_of(alice.pk, PEOPLE) == 0
    assert api.ok("get", "/api/dashboard/stats")["relationshipsCount"] == 0
    assert wrong_counts(alice.pk) == []
    for person in (ada, eve):
        api.ok("post", f"/api/people/{person.pk}/restore")
    assert wrong_counts(alice.pk) == []
    assert api.ok("get", "/api/dashboard/stats")["relationshipsCount"] == 1


def count_updates() -> int:
    """The number of rows of AccountCount that this transaction has updated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'people_accountcount'")
        return int(cursor.fetchone()[0])


def add_connected_people(api: Client, owner: User, number: int) -> list[Person]:
    """Create people of one group, each with an important date and a relationship to the next one."""
    group = Group.objects.create(owner=owner, name="G", name_key="g", color="#000000")
    people = [make_person(owner, name=f"Person {place}") for place in range(number)]
    Membership.objects.bulk_create(Membership(owner=owner, group=group, person=person) for person in people)
    day = dt.date(1990, 1, 2)
    ImportantDate.objects.bulk_create(ImportantDate(owner=owner, person=p, type="BIRTHDAY", date=day) for p in people)
    for one, other in pairwise(people):
        api.ok("post", "/api/relationships", {"personId": str(one.pk), "relatedPersonId": str(other.pk)})
    return people


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has row-level triggers only")
def test_rows_that_come_together_raise_a_count_once(alice: User) -> None:
    group = Group.objects.create(owner=alice, name="G", name_key="g", color="#000000")
    people = [make_person(alice, name=f"Person {number}") for number in range(20)]
    Membership.objects.bulk_create(Membership(owner=alice, group=group, person=person) for person in people[:10])
    before = count_updates()
    Membership.objects.bulk_create(Membership(owner=alice, group=group, person=person) for person in people[10:])
    assert count_updates() == before + 1
    assert counts_by_id(alice.pk, "members") == {group.pk: 20}
    assert wrong_counts(alice.pk) == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not count updated rows")
def test_many_people_are_counted_at_once(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.services.people.RECOUNT_THRESHOLD", 10)
    people = add_connected_people(api, alice, 20)
    before = count_updates()
    chosen = [str(person.pk) for person in people[:10]]
    api.ok("post", "/api/people/bulk", {"action": "delete", "personIds": chosen})
    assert count_updates() == before
    assert (count_of(alice.pk, PEOPLE), wrong_counts(alice.pk)) == (10, [])
    api.ok("post", f"/api/people/{chosen[0]}/restore")  # few people are counted one by one again
    assert (count_of(alice.pk, PEOPLE), wrong_counts(alice.pk)) == (11, [])


def test_rows_that_go_together_are_taken_off_the_counts(api: Client, alice: User) -> None:
    people = add_connected_people(api, alice, 6)
    Membership.objects.owned_by(alice).filter(person__in=people[:3]).delete()
    ImportantDate.objects.owned_by(alice).filter(person__in=people[:4]).delete()
    assert count_of(alice.pk, "members") == 3
    assert api.ok("get", "/api/dashboard/stats")["relationshipsCount"] == 5
    Relationship.objects.owned_by(alice).delete()
    assert api.ok("get", "/api/dashboard/stats")["relationshipsCount"] == 0
    assert wrong_counts(alice.pk) == []


def test_a_deleted_account_leaves_no_counts(alice: User) -> None:
    make_person(alice)
    alice.delete()
    assert not AccountCount.objects.exists()


def test_wrong_count_is_detected(alice: User) -> None:
    make_person(alice)
    AccountCount.objects.filter(kind=PEOPLE).update(number=7)
    assert wrong_counts(alice.pk) == [f"people of account {alice.pk}: 7 instead of 1"]


@pytest.mark.parametrize("rule", ["FEB28", "MAR1"])
def test_events_are_counted_as_they_are_listed(alice: User, rule: str) -> None:
    User.objects.filter(pk=alice.pk).update(leap_day_rule=rule)
    alice.refresh_from_db()
    calendar, now = schedule.load_calendar(alice), timezone.now()
    gone = make_person(alice, name="Gone", deleted_at=now)
    person = make_person(alice, contact_reminder_enabled=True, last_contact=dt.date(2027, 2, 10))
    schedule.schedule_contact(person, calendar, now)
    person.save()
    days = (dt.date(2000, 2, 29), dt.date(1604, 3, 1), dt.date(1990, 2, 28), dt.date(2028, 3, 2), dt.date(1999, 12, 31))
    reminders: tuple[dict[str, Any], ...] = (
        {},
        {
            "reminder_enabled": True,
            "reminder_type": "RECURRING",
            "reminder_interval": 9,
            "reminder_interval_unit": "DAYS",
        },
        {"reminder_enabled": True, "reminder_type": "ONCE"},
    )
    rows = [
        ImportantDate(owner=alice, person=of, title="x", date=day, **reminder)
        for of, day, reminder in product((person, gone), days, reminders)
    ]
    ImportantDate.objects.bulk_create(rows)
    for start, length in product((dt.date(2027, 2, 1), dt.date(2028, 2, 1), dt.date(2027, 12, 15)), (1, 30, 366)):
        listed = upcoming_events(alice, start=start, days=length, limit=10_000).events
        assert count_upcoming(alice, start=start, days=length) == len(listed), (start, length)
    assert wrong_counts(alice.pk) == []
