"""Rules of groups: what is written to whoever joins, by every way, and what stays the owner's."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from people.models import Group, ImportantDate, Person
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import import_vcards, vcard
from tests.people.steps import create_person

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

ROOT = Path(__file__).parents[2]
THREE_WEEKS = {"interval": 3, "unit": "WEEKS"}
BIRTHDAY = {"type": "BIRTHDAY", "date": "1990-05-05", "reminderEnabled": True}


def add_group(api: Client, name: str = "Family", **fields: Any) -> str:
    body = {"name": name, "contactReminder": THREE_WEEKS, "leadDays": 10, **fields}
    return str(api.ok("POST", "/api/groups", body, status=201)["group"]["id"])


def person(api: Client, person_id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.ok("GET", f"/api/people/{person_id}")["person"]
    return found


def reminder(api: Client, person_id: str) -> tuple[Any, ...]:
    """The contact reminder (None if it is off) with the name of its group, and the lead days of the dates."""
    found = person(api, person_id)
    source = found["contactReminderFrom"]
    interval = (found["contactReminderInterval"], found["contactReminderIntervalUnit"], source and source["name"])
    leads = [entry["reminderLeadDays"] for entry in found["importantDates"]]
    return interval if found["contactReminderEnabled"] else None, leads


def join(api: Client, group_id: str, person_id: str) -> None:
    api.ok("POST", f"/api/groups/{group_id}/members", {"personId": person_id})


def test_a_group_shows_its_rule_and_refuses_half_of_one(api: Client) -> None:
    group_id = add_group(api)
    group = api.ok("GET", f"/api/groups/{group_id}")["group"]
    assert (group["contactReminder"], group["leadDays"]) == (THREE_WEEKS, 10)
    changed = api.ok("PUT", f"/api/groups/{group_id}", {"contactReminder": None})["group"]
    assert (changed["contactReminder"], changed["leadDays"], changed["name"]) == (None, 10, "Family")
    for field, body in {
        "contactReminder.unit": {"contactReminder": {"interval": 3}},
        "contactReminder.interval": {"contactReminder": {"interval": 100, "unit": "DAYS"}},
        "leadDays": {"leadDays": 366},
    }.items():
        refused = api.ok("PUT", f"/api/groups/{group_id}", body, status=400)
        assert refused["details"][0]["field"] == field
    plain = api.ok("POST", "/api/groups", {"name": "Plain"}, status=201)["group"]
    assert (plain["contactReminder"], plain["leadDays"]) == (None, None)


def by_create(api: Client, group_id: str) -> str:
    return create_person(api, "Ada", importantDates=[BIRTHDAY], groupIds=[group_id])


def by_update(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada", importantDates=[BIRTHDAY])
    api.ok("PUT", f"/api/people/{key}", {**person(api, key), "groupIds": [group_id]})
    return key


def by_membership(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada", importantDates=[BIRTHDAY])
    join(api, group_id, key)
    return key


def by_bulk(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada", importantDates=[BIRTHDAY])
    body = {"action": "addToGroups", "personIds": [key], "groupIds": [group_id]}
    api.ok("POST", "/api/people/bulk", body)
    return key


def by_import(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada", importantDates=[BIRTHDAY], emails=[{"email": "ada@example.com"}])
    import_vcards(api, vcard("FN:Ada", "N:;Ada;;;", "EMAIL:ada@example.com", "CATEGORIES:Family"))
    return key


def by_merge(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada")
    other = create_person(api, "Ada B", importantDates=[BIRTHDAY], contactReminderEnabled=False)
    api.ok("PUT", f"/api/groups/{group_id}", {"contactReminder": None, "leadDays": None})
    join(api, group_id, other)
    api.ok("PUT", f"/api/groups/{group_id}", {"contactReminder": THREE_WEEKS, "leadDays": 10})
    api.ok("POST", "/api/people/merge", {"primaryId": key, "secondaryId": other})
    return key


def by_a_new_group(api: Client, group_id: str) -> str:
    key = create_person(api, "Ada", importantDates=[BIRTHDAY])
    api.ok("DELETE", f"/api/groups/{group_id}")
    add_group(api, peopleIds=[key])
    return key


WAYS = [by_create, by_update, by_membership, by_bulk, by_import, by_merge, by_a_new_group]


@pytest.mark.both_databases
@pytest.mark.parametrize("way", WAYS)
def test_whoever_joins_gets_the_reminder_and_the_lead_days(api: Client, way: Any) -> None:
    key = way(api, add_group(api))
    assert reminder(api, key) == ((3, "WEEKS", "Family"), [10])
    assert Person.unscoped.rows().get(pk=key).contact_due_on is not None
    date = ImportantDate.unscoped.rows().get(person=key, deleted_at=None)
    assert date.next_lead_days in {0, 10}
    assert date.next_due_at is not None


def test_a_list_and_the_feed_show_where_the_interval_comes_from(api: Client) -> None:
    group_id = add_group(api)
    key = by_create(api, group_id)
    source = {"groupId": group_id, "name": "Family"}
    for path in ("/api/people", "/api/people?includeAll=true", "/api/people/search?q=Ada"):
        assert [found["contactReminderFrom"] for found in api.ok("GET", path)["people"]] == [source]
    changes = api.ok("GET", "/api/changes")["changes"]
    assert [change["record"]["contactReminderFrom"] for change in changes if change["id"] == key] == [source]
    api.ok("DELETE", f"/api/groups/{group_id}/members/{key}")
    assert person(api, key)["contactReminderFrom"] == source
    assert api.ok("GET", "/api/people")["people"][0]["contactReminderFrom"] == source
    api.ok("DELETE", f"/api/groups/{group_id}")
    assert person(api, key)["contactReminderFrom"] is None
    assert api.ok("GET", "/api/people")["people"][0]["contactReminderFrom"] is None
    api.ok("DELETE", f"/api/groups/{group_id}/permanent")
    assert reminder(api, key) == ((3, "WEEKS", None), [10])


def test_of_several_groups_the_shortest_interval_and_the_longest_lead_days_hold(api: Client) -> None:
    family = add_group(api)
    friends = add_group(api, "Friends", contactReminder={"interval": 1, "unit": "MONTHS"}, leadDays=14)
    key = create_person(api, "Ada", groupIds=[friends, family], importantDates=[BIRTHDAY])
    assert reminder(api, key) == ((3, "WEEKS", "Family"), [14])
    key = create_person(api, "Ben", groupIds=[friends], importantDates=[BIRTHDAY])
    assert reminder(api, key) == ((1, "MONTHS", "Friends"), [14])
    join(api, family, key)
    assert reminder(api, key) == ((3, "WEEKS", "Family"), [14])
    close = add_group(api, "Close", contactReminder={"interval": 99, "unit": "YEARS"}, leadDays=None)
    join(api, close, key)
    assert reminder(api, key) == ((3, "WEEKS", "Family"), [14])


def test_equal_intervals_leave_the_group_as_it_is(api: Client) -> None:
    key = create_person(api, "Ada", groupIds=[add_group(api, contactReminder={"interval": 1, "unit": "YEARS"})])
    join(api, add_group(api, "Other", contactReminder={"interval": 12, "unit": "MONTHS"}), key)
    assert reminder(api, key) == ((1, "YEARS", "Family"), [])


def test_a_setting_of_the_owner_stays(api: Client) -> None:
    own: Any = {"contactReminderEnabled": True, "contactReminderInterval": 5, "contactReminderIntervalUnit": "DAYS"}
    group_id = add_group(api)
    dates = [{**BIRTHDAY, "reminderLeadDays": 0}, {"title": "Silent", "date": "2020-01-01"}]
    key = create_person(api, "Ada", groupIds=[group_id], importantDates=dates, **own)
    assert reminder(api, key) == ((5, "DAYS", None), [0, None])
    api.ok("POST", f"/api/groups/{group_id}/apply-rule")
    assert reminder(api, key) == ((5, "DAYS", None), [0, None])


@pytest.mark.parametrize(
    "change", [{"contactReminderInterval": 4}, {"contactReminderIntervalUnit": "MONTHS"}, {"notes": "x"}]
)
def test_a_change_by_the_owner_makes_it_their_own(api: Client, change: dict[str, Any]) -> None:
    key = create_person(api, "Ada", groupIds=[add_group(api)])
    api.ok("PUT", f"/api/people/{key}", {**person(api, key), **change})
    is_own = "notes" not in change
    assert (person(api, key)["contactReminderFrom"] is None) is is_own
    join(api, add_group(api, "Daily", contactReminder={"interval": 1, "unit": "DAYS"}), key)
    assert (reminder(api, key)[0] == (1, "DAYS", "Daily")) is not is_own


def test_switching_off_while_joining_is_the_owners_word(api: Client) -> None:
    key = create_person(api, "Ada", groupIds=[add_group(api)])
    daily = add_group(api, "Daily", contactReminder={"interval": 1, "unit": "DAYS"})
    body = {"contactReminderEnabled": False, "groupIds": [daily]}
    api.ok("PUT", f"/api/people/{key}", {**person(api, key), **body})
    assert reminder(api, key) == (None, [])


def test_leaving_and_a_changed_rule_ask_nothing_until_it_is_applied(api: Client) -> None:
    family, friends = add_group(api), add_group(api, "Friends", contactReminder=None, leadDays=None)
    ada, ben = (create_person(api, name, groupIds=[family, friends]) for name in ("Ada", "Ben"))
    api.ok("DELETE", f"/api/groups/{family}/members/{ben}")
    assert reminder(api, ben) == ((3, "WEEKS", "Family"), [])
    for path in (family, friends):
        api.ok("PUT", f"/api/groups/{path}", {"contactReminder": {"interval": 2, "unit": "DAYS"}})
    assert api.ok("POST", f"/api/groups/{family}/apply-rule") == {"affectedCount": 1}
    assert [reminder(api, key)[0] for key in (ada, ben)] == [(2, "DAYS", "Family"), (3, "WEEKS", "Family")]
    assert api.ok("POST", f"/api/groups/{family}/apply-rule") == {"affectedCount": 0}
    assert api.ok("POST", f"/api/groups/{friends}/apply-rule") == {"affectedCount": 1}
    assert [reminder(api, key)[0] for key in (ada, ben)] == [(2, "DAYS", "Family"), (2, "DAYS", "Friends")]
    api.ok("PUT", f"/api/groups/{family}", {"contactReminder": None})
    assert api.ok("POST", f"/api/groups/{family}/apply-rule") == {"affectedCount": 0}


def test_dates_that_are_made_in_the_group_take_its_lead_days(api: Client) -> None:
    key = create_person(api, "Ada", groupIds=[add_group(api), add_group(api, "Friends", leadDays=20)])
    path = f"/api/people/{key}/important-dates"
    made = api.ok("POST", path, BIRTHDAY)["importantDate"]
    assert made["reminderLeadDays"] == 20
    assert api.ok("POST", path, {"title": "A", "date": "2020-01-01"})["importantDate"]["reminderLeadDays"] is None
    own = {"title": "B", "date": "2020-01-01", "reminderEnabled": True, "reminderLeadDays": 3}
    assert api.ok("POST", path, own)["importantDate"]["reminderLeadDays"] == 3
    # What the owner takes away later stays away.
    cleared = api.ok("PUT", f"{path}/{made['id']}", {**BIRTHDAY, "reminderLeadDays": None})["importantDate"]
    assert cleared["reminderLeadDays"] is None
    found = person(api, key)
    new = {"title": "C", "date": "2020-01-01", "reminderEnabled": True}
    api.ok("PUT", f"/api/people/{key}", {"importantDates": [*found["importantDates"], new]})
    assert [entry["reminderLeadDays"] for entry in person(api, key)["importantDates"]] == [None, None, 3, 20]


@pytest.mark.both_databases
@pytest.mark.parametrize("way", [by_create, by_membership, by_bulk, by_import, by_a_new_group])
def test_a_join_beyond_the_plan_succeeds_without_the_reminder(api: Client, settings: LazySettings, way: Any) -> None:
    set_plan_limits(settings, reminders=1)
    group_id = add_group(api)
    key = way(api, group_id)
    assert reminder(api, key) == (None, [10])
    assert [group["name"] for group in person(api, key)["groups"]] == ["Family"]


def test_a_rule_beyond_the_plan_is_not_applied_at_all(api: Client, settings: LazySettings) -> None:
    people = [create_person(api, name, importantDates=[BIRTHDAY]) for name in ("Ada", "Ben")]
    group_id = add_group(api, contactReminder=None, leadDays=None, peopleIds=people)
    api.ok("PUT", f"/api/groups/{group_id}", {"contactReminder": THREE_WEEKS, "leadDays": 7})
    set_plan_limits(settings, reminders=3)
    refused = api.ok("POST", f"/api/groups/{group_id}/apply-rule", status=403)
    assert refused["code"] == "plan_limit"
    assert [reminder(api, key) for key in people] == [(None, [None])] * 2
    set_plan_limits(settings, reminders=4)
    assert api.ok("POST", f"/api/groups/{group_id}/apply-rule") == {"affectedCount": 2}
    assert [reminder(api, key) for key in people] == [((3, "WEEKS", "Family"), [7])] * 2


@pytest.mark.both_databases
def test_a_merge_is_undone_with_what_the_rule_wrote(api: Client) -> None:
    group_id = add_group(api, contactReminder=None, leadDays=None)
    ada = create_person(api, "Ada", importantDates=[BIRTHDAY])
    ben = create_person(api, "Ben", groupIds=[group_id], importantDates=[{**BIRTHDAY, "type": "NAMEDAY"}])
    api.ok("PUT", f"/api/groups/{group_id}", {"contactReminder": THREE_WEEKS, "leadDays": 10})
    merge_id = api.ok("POST", "/api/people/merge", {"primaryId": ada, "secondaryId": ben})["mergeId"]
    assert reminder(api, ada) == ((3, "WEEKS", "Family"), [10, 10])
    api.ok("POST", f"/api/people/merge/{merge_id}/undo")
    assert [reminder(api, key) for key in (ada, ben)] == [(None, [None])] * 2


def test_a_reminder_that_a_merge_switches_off_is_the_owners(api: Client) -> None:
    own: dict[str, Any] = {
        "contactReminderEnabled": True,
        "contactReminderInterval": 2,
        "contactReminderIntervalUnit": "MONTHS",
    }
    ada, ben = create_person(api, "Ada", **own), create_person(api, "Ben", groupIds=[add_group(api)])
    body = {"primaryId": ada, "secondaryId": ben, "fieldOverrides": {"contactReminderEnabled": False}}
    api.ok("POST", "/api/people/merge", body)
    assert reminder(api, ada)[0] is None


@pytest.mark.both_databases
def test_a_merge_takes_a_reminder_with_its_group(api: Client) -> None:
    ada, ben = create_person(api, "Ada"), create_person(api, "Ben", groupIds=[add_group(api)])
    merge_id = api.ok("POST", "/api/people/merge", {"primaryId": ada, "secondaryId": ben})["mergeId"]
    assert reminder(api, ada) == ((3, "WEEKS", "Family"), [])
    for group in Group.unscoped.rows():
        api.ok("DELETE", f"/api/groups/{group.pk}")
        api.ok("DELETE", f"/api/groups/{group.pk}/permanent")
    api.ok("POST", f"/api/people/merge/{merge_id}/undo")
    assert reminder(api, ada)[0] is None


def test_an_import_is_undone_with_what_the_rule_wrote(api: Client) -> None:
    key = by_import(api, add_group(api))
    [run] = api.ok("GET", "/api/imports")["imports"]
    api.ok("DELETE", f"/api/imports/{run['id']}")
    assert reminder(api, key) == (None, [None])
    assert person(api, key)["groups"] == []


def test_an_account_is_imported_as_it_was(api: Client, stranger: Client) -> None:
    group_id = add_group(api)
    by_create(api, group_id)
    switched_off = create_person(api, "Ben", groupIds=[group_id])
    api.ok("PUT", f"/api/people/{switched_off}", {"contactReminderEnabled": False})
    document = api.ok("GET", "/api/user/export")
    stranger.ok("POST", "/api/user/import", document)
    ids = {found["name"]: found["id"] for found in stranger.ok("GET", "/api/people")["people"]}
    assert reminder(stranger, ids["Ada"]) == ((3, "WEEKS", "Family"), [10])
    assert reminder(stranger, ids["Ben"]) == (None, [])
    [group] = stranger.ok("GET", "/api/groups")["groups"]
    assert (group["contactReminder"], group["leadDays"]) == (THREE_WEEKS, 10)


def test_every_module_that_inserts_memberships_is_known() -> None:
    """A new one writes the rules of the groups, or says here why not."""
    writes_rules = {
        "people/services/groups.py",
        "people/services/person_rows.py",  # returns who has joined; PersonWriter writes the rules after the dates
        "people/contents/groups.py",  # the batch writes the rules after the dates
        "relationships/services/bulk.py",
    }
    restores = {"people/merging/related_rows.py", "people/transfer/people.py"}
    found = {
        str(path.relative_to(ROOT))
        for app in ("accounts", "people", "relationships", "carddav", "dav", "meetings", "sharing", "notifications")
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts
        and re.search(r"\bMembership\(\s*(owner|$)|Membership\._meta", path.read_text())
    }
    assert found == writes_rules | restores
