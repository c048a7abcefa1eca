"""Bulk actions on groups, marks and reminders: as a change of each person, in one write, refused whole."""

import datetime as dt
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.counts import wrong_counts
from people.models import ImportantDate, Person
from tests.builders import make_person, set_plan_limits
from tests.client import Client
from tests.queries import count_queries
from tests.relationships.test_bulk import PATH, ids, make_groups, members

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]  # noon of Sunday, 1 March 2026

CONTACT = ("contactReminderEnabled", "contactReminderInterval", "contactReminderIntervalUnit")
REMINDER = ("reminderEnabled", "reminderType", "reminderInterval", "reminderIntervalUnit", "reminderLeadDays")


def act(api: Client, action: str, people: list[Person] | None, **body: Any) -> int:
    chosen: dict[str, Any] = {"selectAll": True} if people is None else {"personIds": ids(people)}
    return int(api.ok("POST", PATH, {"action": action, **chosen, **body})["affectedCount"])


def read(api: Client, person: Person) -> dict[str, Any]:
    found: dict[str, Any] = api.ok("GET", f"/api/people/{person.pk}")["person"]
    return found


@pytest.fixture
def three(alice: User) -> list[Person]:
    return [make_person(alice, name=name) for name in ("Ada", "Bea", "Cid")]


def test_people_leave_groups(api: Client, alice: User, three: list[Person]) -> None:
    group, other, third = make_groups(alice, "one", "two", "three")
    for one in (group, other, third):
        for person in three[:2]:
            api.ok("POST", f"/api/groups/{one.pk}/members", {"personId": str(person.pk)})
    before = [read(api, person)["updatedAt"] for person in three]
    cursor = api.ok("GET", "/api/changes?types=person")["cursor"]
    assert act(api, "removeFromGroups", [three[0], three[2]], groupIds=[str(group.pk), str(other.pk)]) == 2
    assert (members(group), members(other), members(third)) == ({"Bea"}, {"Bea"}, {"Ada", "Bea"})
    changed = {row["id"] for row in api.ok("GET", f"/api/changes?cursor={cursor}&types=person")["changes"]}
    assert changed == {str(three[0].pk)}
    assert before[2] == read(api, three[2])["updatedAt"]
    assert act(api, "removeFromGroups", None, groupIds=[str(third.pk)]) == 3
    assert members(third) == set()
    assert wrong_counts(alice.pk) == []


@pytest.mark.parametrize(("action", "field"), [("setFavourite", "favourite"), ("setQuiet", "quiet")])
def test_marks_are_set_and_taken_away(
    api: Client, alice: User, three: list[Person], action: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("people.services.bulk.RECOUNT_THRESHOLD", 3)
    api.ok("POST", f"/api/people/{three[0].pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-03-02"})
    assert act(api, action, three[:2], value=True) == 2
    assert [read(api, person)[field] for person in three] == [True, True, False]
    cursor = api.ok("GET", "/api/changes")["cursor"]
    assert act(api, action, None, value=True) == 3
    assert [row["id"] for row in api.ok("GET", f"/api/changes?cursor={cursor}")["changes"]] == [str(three[2].pk)]
    assert api.ok("GET", f"/api/people?{field}=true")["pagination"]["total"] == 3
    assert act(api, action, None, value=False) == 3  # all at once: the counts are taken anew
    assert api.ok("GET", f"/api/people?{field}=true")["pagination"]["total"] == 0
    assert wrong_counts(alice.pk) == []


def test_contact_reminders_are_set_as_for_one(api: Client, alice: User, three: list[Person]) -> None:
    api.ok("PUT", f"/api/people/{three[0].pk}", {"contactReminderEnabled": True, "contactReminderInterval": 7})
    assert act(api, "setContactReminder", None, enabled=True) == 3
    assert [[read(api, person)[name] for name in CONTACT] for person in three] == [
        [True, 7, "MONTHS"],
        [True, 1, "MONTHS"],
        [True, 1, "MONTHS"],
    ]
    assert act(api, "setContactReminder", three[:2], enabled=True, interval=2, unit="WEEKS") == 2
    assert [read(api, person)[name] for person in three[:2] for name in CONTACT] == [True, 2, "WEEKS"] * 2
    for is_enabled in (True, False):
        act(api, "setContactReminder", None, enabled=is_enabled)
        for person in three:
            row, alone = Person.unscoped.get(pk=person.pk), make_person(alice)
            values = {name: read(api, person)[name] for name in CONTACT}
            api.ok("PUT", f"/api/people/{alone.pk}", values)
            alone.refresh_from_db()
            assert (row.contact_due_at, row.contact_due_on) == (alone.contact_due_at, alone.contact_due_on)
            assert (row.contact_due_at is not None) is is_enabled
    assert list(find_violations("reminders")) == []


def test_date_reminders_are_switched_as_for_one(api: Client, alice: User, three: list[Person]) -> None:
    def add(person: Person, **body: Any) -> str:
        made = api.ok("POST", f"/api/people/{person.pk}/important-dates", {"date": "1990-03-20", **body})
        return str(made["importantDate"]["id"])

    off = add(three[0], type="BIRTHDAY")
    on = add(three[1], type="BIRTHDAY", reminderEnabled=True, reminderInterval=2, reminderIntervalUnit="MONTHS")
    others = [add(three[0], type="NAMEDAY"), add(three[2], title="Met")]

    def shown(key: str) -> list[Any]:
        row = ImportantDate.unscoped.get(pk=key)
        date = api.ok("GET", f"/api/people/{row.person_id}/important-dates/{key}")["importantDate"]
        return [date[name] for name in REMINDER]

    assert act(api, "setDateReminders", None, type="birthday", enabled=True) == 3
    assert shown(off) == [True, "RECURRING", 1, "YEARS", None]
    assert shown(on) == [True, "RECURRING", 2, "MONTHS", None]
    cursor = api.ok("GET", "/api/changes")["cursor"]
    assert act(api, "setDateReminders", three[:1], type="BIRTHDAY", enabled=True, leadDays=10) == 1
    assert shown(off) == [True, "RECURRING", 1, "YEARS", 10]
    assert ImportantDate.unscoped.get(pk=off).next_due_at == dt.datetime(2026, 3, 10, 9, tzinfo=dt.UTC)
    changed = {row["id"] for row in api.ok("GET", f"/api/changes?cursor={cursor}")["changes"]}
    assert changed == {off, str(three[0].pk)}
    assert act(api, "setDateReminders", None, type="BIRTHDAY", enabled=True) == 3  # leaves the lead days
    assert shown(off)[-1] == 10
    assert act(api, "setDateReminders", None, type="BIRTHDAY", enabled=True, leadDays=None) == 3
    assert shown(off)[-1] is shown(on)[-1] is None
    assert act(api, "setDateReminders", None, type="BIRTHDAY", enabled=False) == 3
    assert shown(off) == shown(on) == [False, None, None, None, None]
    assert ImportantDate.unscoped.get(pk=off).next_due_at is None
    assert [shown(key)[0] for key in others] == [False, False]
    assert list(find_violations("reminders")) == []


def test_what_exceeds_the_plan_is_refused_whole(api: Client, alice: User, three: list[Person], settings: Any) -> None:
    set_plan_limits(settings, reminders=2)
    for person in three:
        api.ok("POST", f"/api/people/{person.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-03-02"})
    for body in ({"action": "setContactReminder"}, {"action": "setDateReminders", "type": "BIRTHDAY"}):
        answer = api.ok("POST", PATH, {"selectAll": True, "enabled": True, **body}, status=403)
        assert answer["code"] == "plan_limit"
    assert not Person.objects.owned_by(alice).filter(contact_reminder_enabled=True).exists()
    assert not ImportantDate.objects.owned_by(alice).filter(reminder_enabled=True).exists()
    assert act(api, "setContactReminder", three[:2], enabled=True) == 2
    assert act(api, "setContactReminder", three[:2], enabled=True, interval=5) == 2  # no more than before


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"action": "removeFromGroups"}, ["groupIds"]),
        ({"action": "removeFromGroups", "groupIds": ["018f0000-0000-7000-8000-000000000000"]}, ["groupIds.0"]),
        ({"action": "setFavourite"}, ["value"]),
        ({"action": "setQuiet", "value": 1}, ["value"]),
        ({"action": "setContactReminder"}, ["enabled"]),
        ({"action": "setContactReminder", "enabled": True, "interval": 100}, ["interval"]),
        ({"action": "setContactReminder", "enabled": True, "unit": "HOURS"}, ["unit"]),
        ({"action": "setDateReminders"}, ["type", "enabled"]),
        ({"action": "setDateReminders", "type": "WEDDING", "enabled": True}, ["type"]),
        ({"action": "setDateReminders", "type": "BIRTHDAY", "enabled": True, "leadDays": 366}, ["leadDays"]),
    ],
)
def test_incomplete_or_invalid_actions_are_refused(
    api: Client, three: list[Person], body: dict[str, Any], fields: list[str]
) -> None:
    answer = api.ok("POST", PATH, {"selectAll": True, **body}, status=400)
    assert [line["field"] for line in answer["details"]] == fields


def test_one_write_with_a_constant_number_of_statements(api: Client, alice: User, three: list[Person]) -> None:
    group = make_groups(alice, "one")[0]
    bodies: list[dict[str, Any]] = [
        {"action": "setQuiet"},
        {"action": "setContactReminder"},
        {"action": "setDateReminders", "type": "BIRTHDAY"},
        {"action": "removeFromGroups", "groupIds": [str(group.pk)]},
    ]

    def statements() -> list[int]:
        found = []
        for value in (True, False):
            for body in bodies:
                alice.refresh_from_db()
                before = alice.revision
                sent = {"selectAll": True, "value": value, "enabled": value, **body}
                found.append(count_queries(api.ok, "POST", PATH, sent))
                alice.refresh_from_db()
                assert alice.revision == before + 1
        return found

    def add_rows(people: list[Person]) -> None:
        for person in people:
            api.ok("POST", f"/api/groups/{group.pk}/members", {"personId": str(person.pk)})
            api.ok("POST", f"/api/people/{person.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-03-02"})

    add_rows(three)
    few = statements()
    add_rows([make_person(alice, name=f"P{number}") for number in range(20)])
    assert statements() == few
