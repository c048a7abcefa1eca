"""PersonWriter: a large batch takes as many statements as a small one, and each person gets its own values."""

import datetime as dt
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import PlanLimitError
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import CustomFieldTemplate, Group, Person
from people.services.person_writer import PersonWriter
from people.signals import people_changed
from tests.client import Client


def build_body(number: int, group: Any, template: Any, day: dt.date) -> dict[str, Any]:
    return {
        "name": f"P{number}",
        "emails": [{"type": "home", "email": f"p{number}-{day.year}@example.org"}],
        "addresses": [{"type": "home", "locality": f"Town {number} {day.year}"}],
        "groups": [group],
        "custom_field_values": [{"template": template, "value": f"v{number} {day.year}"}],
        "important_dates": [{"type": "BIRTHDAY", "date": day, "year_unknown": False, "reminder_enabled": False}],
        "contact_reminder_enabled": True,
    }


def put_people(owner: User, bodies: list[tuple[Person, dict[str, Any]]]) -> int:
    """Write the people as one batch; returns the number of statements."""
    fresh = User.objects.get(pk=owner.pk)
    with CaptureQueriesContext(connection) as statements, account_write(fresh) as open_write:
        PersonWriter(fresh, open_write, timezone.now()).put_many(bodies)
    return len(statements)


def test_large_batch_takes_as_many_statements_as_a_small_one(api: Client, alice: User) -> None:
    api.ok("post", "/api/groups", {"name": "G"}, status=201)
    api.ok("post", "/api/custom-field-templates", {"name": "T", "type": "TEXT"}, status=201)
    group, template = Group.objects.owned_by(alice).get(), CustomFieldTemplate.objects.owned_by(alice).get()
    costs: dict[int, list[int]] = {}
    for count in (3, 15):
        people = [Person(owner=alice, created_at=timezone.now()) for _ in range(count)]
        costs[count] = [
            put_people(
                alice,
                [(person, build_body(n, group, template, dt.date(year, 2, 3))) for n, person in enumerate(people)],
            )
            for year in (1990, 1991)
        ]
        for number, person in enumerate(people):
            shown = api.ok("get", f"/api/people/{person.pk}")["person"]
            assert (shown["name"], shown["groupIds"]) == (f"P{number}", [str(group.pk)])
            assert [entry["email"] for entry in shown["emails"]] == [f"p{number}-1991@example.org"]
            assert [value["value"] for value in shown["customFieldValues"]] == [f"v{number} 1991"]
            assert [day["date"][:10] for day in shown["importantDates"]] == ["1991-02-03"]
            assert (shown["contactReminderInterval"], shown["contactReminderIntervalUnit"]) == (1, "MONTHS")
    assert costs[15] == costs[3]


def test_people_beyond_the_plan_are_refused_together(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(User, "plan_limit", lambda self, kind: 2 if kind == "people" else None)
    bodies = [(Person(owner=alice, created_at=timezone.now()), {"name": f"P{n}"}) for n in range(3)]
    with pytest.raises(PlanLimitError):
        put_people(alice, bodies)
    assert not Person.objects.owned_by(alice).exists()
    put_people(alice, bodies[:2])
    assert Person.objects.owned_by(alice).count() == 2


@pytest.mark.django_db(transaction=True)
def test_mirrored_account_sends_one_signal_for_all_people(alice: User) -> None:
    received: list[list[Any]] = []

    def record(person_ids: list[Any], **kwargs: Any) -> None:
        received.append(person_ids)

    people = [Person(owner=alice, created_at=timezone.now()) for _ in range(3)]
    people_changed.connect(record)
    try:
        put_people(alice, [(Person(owner=alice, created_at=timezone.now()), {"name": "Of nobody's interest"})])
        User.objects.filter(pk=alice.pk).update(is_mirrored=True)
        put_people(alice, [(person, {"name": "P"}) for person in people])
    finally:
        people_changed.disconnect(record)
    assert received == [[person.pk for person in people]]
