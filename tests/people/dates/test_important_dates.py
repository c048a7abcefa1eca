"""Important dates through the API: fields, defaults, at most one of each type, the trash, the plan's limit."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from people.field_table import DATE_COLUMNS
from people.models import ImportantDate, Person
from people.services import important_dates
from people.services.important_dates import create_date, delete_date, remove_date, restore_date, update_date
from tests.builders import make_person, set_plan_limits
from tests.client import Client

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

BIRTHDAY = {"type": "BIRTHDAY", "date": "1990-05-04"}


@pytest.fixture
def path(ada: Person) -> str:
    return f"/api/people/{ada.pk}/important-dates"


def add(api: Client, path: str, body: dict[str, Any], status: int = 200) -> Any:
    response = api.ok("post", path, body, status=status)
    return response["importantDate"] if status == 200 else response


def test_date_is_returned_with_all_fields(api: Client, path: str) -> None:
    made = add(api, path, BIRTHDAY)
    assert {key: made[key] for key in made if key not in {"id", "personId", "createdAt", "updatedAt"}} == {
        "type": "BIRTHDAY",
        "title": None,
        "date": "1990-05-04T00:00:00.000Z",
        "yearUnknown": False,
        "reminderEnabled": False,
        "reminderType": None,
        "reminderInterval": None,
        "reminderIntervalUnit": None,
        "reminderLeadDays": None,
        "extraLeadDays": [],
        "deletedAt": None,
    }
    assert made["createdAt"].endswith("Z")
    assert api.ok("get", path)["importantDates"] == [made]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"type": "birthday"}, {"type": "BIRTHDAY", "title": None}),
        ({"type": None, "title": " Met "}, {"type": None, "title": "Met"}),
        ({"type": "NAMEDAY", "title": ""}, {"type": "NAMEDAY", "title": None}),
        ({"type": "MEMORIAL", "date": "1990-05-04T23:30:00+09:00"}, {"date": "1990-05-04T00:00:00.000Z"}),
        ({"type": "MEMORIAL", "date": "1990-05-04T00:00:00.000Z"}, {"date": "1990-05-04T00:00:00.000Z"}),
        (
            {"type": "BIRTHDAY", "date": "2000-02-29", "yearUnknown": True},
            {"date": "1604-02-29T00:00:00.000Z", "yearUnknown": True},
        ),
        (
            {"type": "BIRTHDAY", "reminderEnabled": True},
            {"reminderType": "RECURRING", "reminderInterval": 1, "reminderIntervalUnit": "YEARS"},
        ),
        (
            {"type": "BIRTHDAY", "reminderEnabled": True, "reminderType": "RECURRING", "reminderLeadDays": 0},
            {"reminderInterval": 1, "reminderIntervalUnit": "YEARS", "reminderLeadDays": 0},
        ),
        (
            {"type": "BIRTHDAY", "reminderEnabled": True, "reminderInterval": 2, "reminderIntervalUnit": "WEEKS"},
            {"reminderType": "RECURRING", "reminderInterval": 2, "reminderIntervalUnit": "WEEKS"},
        ),
        (
            {"type": "BIRTHDAY", "reminderEnabled": True, "reminderType": "ONCE", "extraLeadDays": [3, 365, 14]},
            {"reminderType": "ONCE", "reminderInterval": None, "extraLeadDays": [3, 365, 14]},
        ),
        (
            {
                "type": "BIRTHDAY",
                "reminderEnabled": False,
                "reminderType": "RECURRING",
                "reminderInterval": 2,
                "reminderIntervalUnit": "DAYS",
                "reminderLeadDays": 3,
                "extraLeadDays": [7],
            },
            {
                "reminderType": None,
                "reminderInterval": None,
                "reminderIntervalUnit": None,
                "reminderLeadDays": None,
                "extraLeadDays": [],
            },
        ),
        ({"deletedAt": "2020-01-01", "title": "Met", "unknown": 1}, {"deletedAt": None, "title": "Met"}),
    ],
)
def test_valid_values_are_stored(api: Client, path: str, sent: dict[str, Any], stored: dict[str, Any]) -> None:
    made = add(api, path, {"date": "1990-05-04", **sent})
    assert {key: made[key] for key in stored} == stored


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"type": None}, "title"),
        ({"type": None, "title": "  "}, "title"),
        ({"title": "x" * 101}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"type": "WEDDING"}, "type"),
        ({"type": 1}, "type"),
        ({"date": None}, "date"),
        ({"date": "2023-02-29"}, "date"),
        ({"date": "2023-02-29", "yearUnknown": True}, "date"),
        ({"date": "0999-12-31"}, "date"),
        ({"date": "10000-01-01"}, "date"),
        ({"date": "04.05.1990"}, "date"),
        ({"date": "1990-05-04T25:00:00Z"}, "date"),
        ({"date": "1990-05-04T12:00:00+24:00"}, "date"),
        ({"date": "1990-05-04T12:00:00-02:60"}, "date"),
        ({"date": 19900504}, "date"),
        ({"yearUnknown": 1}, "yearUnknown"),
        ({"reminderEnabled": "true"}, "reminderEnabled"),
        ({"reminderType": "DAILY"}, "reminderType"),
        ({"reminderInterval": 0}, "reminderInterval"),
        ({"reminderInterval": 100}, "reminderInterval"),
        ({"reminderInterval": "5"}, "reminderInterval"),
        ({"reminderIntervalUnit": "HOURS"}, "reminderIntervalUnit"),
        ({"reminderLeadDays": -1}, "reminderLeadDays"),
        ({"reminderLeadDays": 366}, "reminderLeadDays"),
        ({"extraLeadDays": 7}, "extraLeadDays"),
        ({"extraLeadDays": None}, "extraLeadDays"),
        ({"extraLeadDays": [1, 2, 3, 4]}, "extraLeadDays"),
        ({"extraLeadDays": [7, 7]}, "extraLeadDays"),
        ({"extraLeadDays": [1, 366]}, "extraLeadDays.1"),
        ({"extraLeadDays": ["7"]}, "extraLeadDays.0"),
    ],
)
def test_invalid_values_are_refused(api: Client, path: str, sent: dict[str, Any], field: str) -> None:
    response = add(api, path, {**BIRTHDAY, **sent}, 400)
    assert [detail["field"] for detail in response["details"]] == [field]
    assert api.ok("get", path)["importantDates"] == []


def test_a_missing_date_is_refused(api: Client, path: str) -> None:
    assert add(api, path, {"type": "BIRTHDAY"}, 400)["details"][0]["field"] == "date"


def test_an_update_replaces_the_whole_body(api: Client, path: str) -> None:
    made = add(api, path, {**BIRTHDAY, "title": "Party", "reminderEnabled": True, "reminderLeadDays": 7})
    changed = api.ok("put", f"{path}/{made['id']}", {**BIRTHDAY, "reminderEnabled": True})["importantDate"]
    assert changed["id"] == made["id"]
    assert (changed["title"], changed["reminderLeadDays"]) == (None, None)
    assert api.ok("put", f"{path}/{made['id']}", changed)["importantDate"]["reminderType"] == "RECURRING"


def test_one_active_date_of_each_type(api: Client, path: str) -> None:
    first = add(api, path, BIRTHDAY)
    assert add(api, path, BIRTHDAY, 400)["details"][0]["field"] == "type"
    other = add(api, path, {"type": "NAMEDAY", "date": "2020-01-01"})
    assert api.call("put", f"{path}/{other['id']}", BIRTHDAY).status_code == 400
    for title in ("Met", "Met"):
        add(api, path, {"title": title, "date": "2020-01-01"})
    api.ok("delete", f"{path}/{first['id']}")
    add(api, path, BIRTHDAY)
    refused = api.ok("post", f"{path}/{first['id']}/restore", status=400)
    assert refused["details"][0]["field"] == "type"


def test_date_is_deleted_and_restored(api: Client, path: str) -> None:
    made = add(api, path, {**BIRTHDAY, "reminderEnabled": True})
    one = f"{path}/{made['id']}"
    for action, method in (("restore", "post"), ("permanent", "delete")):
        assert api.ok(method, f"{one}/{action}", status=400)["code"] == "not_deleted"
    assert api.ok("delete", one)["message"]
    assert api.ok("get", path)["importantDates"] == []
    assert ImportantDate.unscoped.get(pk=made["id"]).next_due_at is None
    assert api.call("put", one, BIRTHDAY).status_code == 404
    assert api.call("delete", one).status_code == 404
    restored = api.ok("post", f"{one}/restore")["importantDate"]
    assert {**restored, "updatedAt": 0} == {**made, "updatedAt": 0}
    assert ImportantDate.unscoped.get(pk=made["id"]).next_due_at is not None
    api.ok("delete", one)
    assert api.ok("delete", f"{one}/permanent") == {"success": True}
    assert api.call("post", f"{one}/restore").status_code == 404


def test_deleting_a_date_keeps_what_another_request_has_written_since_it_was_read(
    api: Client, path: str, alice: User
) -> None:
    read = ImportantDate.unscoped.get(pk=add(api, path, {"title": "Met", "date": "2020-01-01"})["id"])
    api.ok("put", f"{path}/{read.pk}", {"title": "First met", "date": "2020-01-02"})
    delete_date(owner=alice, row=read, now=timezone.now())
    stored = ImportantDate.unscoped.get(pk=read.pk)
    assert (stored.is_deleted, stored.title, stored.date.day) == (True, "First met", 2)


def test_change_of_a_title_keeps_the_reminder_that_a_job_has_moved_on_since_the_date_was_read(
    api: Client, path: str, alice: User
) -> None:
    body = {"title": "Met", "date": "2020-01-01", "reminderEnabled": True, "reminderType": "RECURRING"}
    made = add(api, path, body)
    alice.refresh_from_db()
    read = ImportantDate.unscoped.get(pk=made["id"])
    later = timezone.now() + dt.timedelta(days=800)
    # The planner takes the lock, but leaves the account's revision as it is.
    ImportantDate.unscoped.rows().update(next_due_at=later)
    data = {field: getattr(read, field) for field in DATE_COLUMNS}
    update_date(owner=alice, row=read, data={**data, "title": "First met"}, now=timezone.now())
    stored = ImportantDate.unscoped.get(pk=read.pk)
    assert (stored.title, stored.next_due_at) == ("First met", later)


def test_deleting_a_date_that_was_permanently_removed_since_it_was_read_does_not_insert_it_again(
    api: Client, path: str, alice: User
) -> None:
    read = ImportantDate.unscoped.get(pk=add(api, path, BIRTHDAY)["id"])
    api.ok("delete", f"{path}/{read.pk}")
    api.ok("delete", f"{path}/{read.pk}/permanent")
    with pytest.raises(MissingError):
        delete_date(owner=alice, row=read, now=timezone.now())
    assert not ImportantDate.unscoped.exists()


def test_date_that_went_to_the_trash_since_it_was_read_is_neither_changed_nor_deleted_again(
    api: Client, path: str, alice: User
) -> None:
    read = ImportantDate.unscoped.get(pk=add(api, path, BIRTHDAY)["id"])
    api.ok("delete", f"{path}/{read.pk}")
    deleted = ImportantDate.unscoped.get(pk=read.pk)
    for write in (partial(update_date, data={"title": "Late", "date": read.date}), delete_date):
        with pytest.raises(MissingError):
            write(owner=alice, row=read, now=timezone.now())
    stored = ImportantDate.unscoped.get(pk=read.pk)
    assert (stored.title, stored.deleted_at) == (deleted.title, deleted.deleted_at)


@pytest.mark.both_databases
@pytest.mark.parametrize("leave", ["trash", "merge"])
def test_date_that_its_person_lost_since_it_was_read_is_not_changed(
    api: Client, path: str, ada: Person, alice: User, leave: str
) -> None:
    active = ImportantDate.unscoped.get(pk=add(api, path, BIRTHDAY)["id"])
    deleted = ImportantDate.unscoped.get(pk=add(api, path, {"title": "Met", "date": "2020-01-01"})["id"])
    api.ok("delete", f"{path}/{deleted.pk}")
    deleted.refresh_from_db()
    if leave == "trash":
        api.ok("delete", f"/api/people/{ada.pk}")
    else:
        primary = make_person(alice, name="Ada")
        api.ok("post", "/api/people/merge", {"primaryId": str(primary.pk), "secondaryId": str(ada.pk)})
    before = list(ImportantDate.unscoped.order_by("pk").values())
    body = {"title": "Late", "date": active.date, "year_unknown": False, "reminder_enabled": False}
    now = timezone.now()
    for write in (
        partial(create_date, owner=alice, person=ada, data=body, now=now),
        partial(update_date, owner=alice, row=active, data=body, now=now),
        partial(delete_date, owner=alice, row=active, now=now),
        partial(restore_date, row=deleted, now=now),
        partial(remove_date, row=deleted),
    ):
        with pytest.raises(MissingError):
            write()
    assert list(ImportantDate.unscoped.order_by("pk").values()) == before


def test_if_match_for_a_date_whose_person_goes_to_the_trash_meanwhile_is_404(
    api: Client, path: str, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    date_path = f"{path}/{add(api, path, BIRTHDAY)['id']}"
    etag = api.call("get", date_path)["ETag"]

    def update_late(**arguments: Any) -> ImportantDate:
        # As another process does it: a request in this thread would take over the check of If-Match.
        Person._base_manager.update(deleted_at=timezone.now())
        ImportantDate._base_manager.update(revision=F("revision") + 1)
        User.objects.filter(pk=ada.owner_id).update(revision=F("revision") + 1)
        return update_date(**arguments)

    monkeypatch.setattr(important_dates, "update_date", update_late)
    assert api.call("put", date_path, BIRTHDAY, HTTP_IF_MATCH=etag).status_code == 404


def test_dates_of_others_and_of_deleted_people_are_404(
    api: Client, stranger: Client, path: str, ada: Person, alice: User
) -> None:
    made = add(api, path, BIRTHDAY)
    bob = make_person(alice, name="Bob")
    for client, url in (
        (stranger, path),
        (stranger, f"{path}/{made['id']}"),
        (api, f"/api/people/{bob.pk}/important-dates/{made['id']}"),
        (api, f"{path}/not-an-id"),
        (api, "/api/people/not-an-id/important-dates"),
    ):
        method = "put" if url != path and not url.endswith("dates") else "get"
        assert client.call(method, url, BIRTHDAY if method == "put" else None).status_code == 404
    Person.unscoped.filter(pk=ada.pk).update(deleted_at="2026-01-01T00:00Z")
    assert api.call("get", path).status_code == 404


def test_a_write_changes_the_persons_revision(api: Client, path: str, ada: Person) -> None:
    before = ada.revision
    made = add(api, path, BIRTHDAY)
    ada.refresh_from_db()
    assert ada.revision > before
    before = ada.revision
    api.ok("delete", f"{path}/{made['id']}")
    ada.refresh_from_db()
    assert ada.revision == before + 1


@pytest.fixture
def limited(settings: LazySettings) -> None:
    set_plan_limits(settings, reminders=2)


def test_the_plan_limits_reminders_not_dates(api: Client, path: str, limited: None) -> None:
    reminding = {"title": "Met", "date": "2020-01-01", "reminderEnabled": True}
    first, second = (add(api, path, reminding) for _ in range(2))
    assert add(api, path, reminding, 403)["code"] == "plan_limit"
    plain = add(api, path, {"title": "Met", "date": "2020-01-01"})
    assert api.call("put", f"{path}/{plain['id']}", reminding).status_code == 403
    api.ok("put", f"{path}/{second['id']}", {**reminding, "title": "Still"})
    api.ok("delete", f"{path}/{first['id']}")
    api.ok("put", f"{path}/{plain['id']}", reminding)
    assert api.ok("post", f"{path}/{first['id']}/restore", status=403)["code"] == "plan_limit"


def test_contact_reminders_count_and_deleted_people_do_not(api: Client, path: str, alice: User, limited: None) -> None:
    make_person(alice, contact_reminder_enabled=True)
    gone = make_person(alice, contact_reminder_enabled=True, deleted_at="2026-01-01T00:00Z")
    ImportantDate.objects.create(owner=alice, person=gone, title="x", date="2020-01-01", reminder_enabled=True)
    reminding = {"title": "Met", "date": "2020-01-01", "reminderEnabled": True}
    add(api, path, reminding)
    add(api, path, reminding, 403)
