"""GET /api/changes: what changed, each record once, in the order of revisions."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core.management import call_command
from django.utils import timezone

from accounts.feed.changes import feed_kinds
from accounts.feed.cursor import start_revision_epochs
from accounts.models import User
from contacts_project.kernel.ownership.models import FeedModel
from tests.accounts.feed.reader import Replica, load_account_records
from tests.builders import make_person
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

CONNECTED = {"person", "group", "relationship", "relationshipType", "importantDate", "customFieldTemplate"}


def create_records(api: Client) -> dict[str, str]:
    """Create records of every type; returns their ids by name."""
    group = api.ok("POST", "/api/groups", {"name": "Mathematicians"}, status=201)["group"]["id"]
    template = {"name": "Size", "type": "TEXT"}
    template = api.ok("POST", "/api/custom-field-templates", template, status=201)["customFieldTemplate"]["id"]
    kind = api.ok("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]
    ada, charles = (
        api.ok(
            "POST",
            "/api/people",
            {
                "name": name,
                "groupIds": [group],
                "importantDates": [{"type": "BIRTHDAY", "title": "", "date": "1815-12-10"}],
                "customFieldValues": [{"templateId": template, "value": "38"}],
            },
            status=201,
        )["person"]
        for name in ("Ada", "Charles")
    )
    body = {"personId": ada["id"], "relatedPersonId": charles["id"], "relationshipTypeId": kind}
    relationship = api.ok("POST", "/api/relationships", body)["relationship"]["id"]
    return {
        "group": group,
        "template": template,
        "ada": ada["id"],
        "charles": charles["id"],
        "date": ada["importantDates"][0]["id"],
        "relationship": relationship,
    }


def test_the_first_read_returns_all_active_records(api: Client) -> None:
    create_records(api)
    replica = Replica(api)
    changes = replica.catch_up()
    assert replica.own_fields() == load_account_records(api)
    assert {change["type"] for change in changes} == {*CONNECTED, "settings"}
    revisions = [change["revision"] for change in changes]
    assert revisions == sorted(revisions)
    assert len({(change["type"], change["id"]) for change in changes}) == len(changes)


def test_poll_without_changes_queries_no_table(api: Client, django_assert_num_queries: Any) -> None:
    create_records(api)
    replica = Replica(api)
    replica.catch_up()
    with django_assert_num_queries(1):  # the token's
        response = replica.read_page()
    assert (response["changes"], response["hasMore"]) == ([], False)


def test_page_size_does_not_change_the_result(api: Client) -> None:
    create_records(api)
    whole, paged = Replica(api), {limit: Replica(api, limit=limit) for limit in (1, 2, 3, 1000)}
    changes = whole.catch_up()
    assert {limit: replica.catch_up() for limit, replica in paged.items()} == dict.fromkeys(paged, changes)
    api.ok("POST", "/api/people", {"name": "Mary"}, status=201)
    changes = whole.catch_up()
    assert {limit: replica.catch_up() for limit, replica in paged.items()} == dict.fromkeys(paged, changes)
    assert [change["type"] for change in changes] == ["person"]


def test_renaming_a_group_changes_only_the_group(api: Client) -> None:
    ids = create_records(api)
    replica = Replica(api)
    replica.catch_up()
    api.ok("PUT", f"/api/groups/{ids['group']}", {"name": "Engineers"})
    assert [(change["type"], change["id"]) for change in replica.catch_up()] == [("group", ids["group"])]
    assert replica.own_fields() == load_account_records(api)


def test_deleting_and_restoring_a_person_includes_its_dates_and_relationships(api: Client) -> None:
    ids = create_records(api)
    replica = Replica(api)
    replica.catch_up()
    api.ok("DELETE", f"/api/people/{ids['ada']}")
    gone = {(change["type"], change["id"]) for change in replica.catch_up() if change["deleted"]}
    assert {("person", ids["ada"]), ("importantDate", ids["date"]), ("relationship", ids["relationship"])} <= gone
    assert replica.own_fields() == load_account_records(api)
    api.ok("POST", f"/api/people/{ids['ada']}/restore")
    back = {(change["type"], change["id"]) for change in replica.catch_up() if not change["deleted"]}
    assert gone <= back
    assert replica.own_fields() == load_account_records(api)


def test_permanent_removal_is_reported(api: Client) -> None:
    ids = create_records(api)
    replica = Replica(api)
    replica.catch_up()
    for path in (f"/api/people/{ids['ada']}", f"/api/groups/{ids['group']}"):
        api.ok("DELETE", path)
        api.ok("DELETE", f"{path}/permanent")
    changes = replica.catch_up()
    assert ("person", ids["ada"], True) in {(c["type"], c["id"], c["deleted"]) for c in changes}
    assert replica.own_fields() == load_account_records(api)


@pytest.mark.both_databases
def test_first_read_reports_no_earlier_deletions(api: Client) -> None:
    ids = create_records(api)
    api.ok("DELETE", f"/api/people/{ids['ada']}")
    api.ok("DELETE", f"/api/groups/{ids['group']}")
    api.ok("DELETE", f"/api/groups/{ids['group']}/permanent")
    replica = Replica(api, limit=1)
    assert not [change for change in replica.catch_up() if change["deleted"]]
    assert replica.own_fields() == load_account_records(api)


def test_a_deletion_during_the_first_read_is_reported(api: Client) -> None:
    ids = create_records(api)
    replica = Replica(api, limit=3)
    replica.read_page()
    api.ok("DELETE", f"/api/people/{ids['ada']}")
    api.ok("DELETE", f"/api/people/{ids['ada']}/permanent")
    replica.catch_up()
    assert replica.own_fields() == load_account_records(api)


@pytest.mark.both_databases
def test_types_filter_the_feed_and_belong_to_the_cursor(api: Client) -> None:
    create_records(api)
    replica = Replica(api, types="group,person")
    assert {change["type"] for change in replica.catch_up()} == {"group", "person"}
    assert not Replica(api, types="settings").catch_up()[1:]
    for types in ("group", "", "person,group,settings"):
        response = api.call("GET", f"/api/changes?cursor={replica.cursor}" + (f"&types={types}" if types else ""))
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "cursor")
    api.ok("GET", f"/api/changes?cursor={replica.cursor}&types=person,group")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("types=dog", "types"),
        ("types=", "types"),
        ("types=person,,group", "types"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        ("cursor=%00%FF", "cursor"),
        ("cursor=WzEsMl0", "cursor"),
        ("cursor=" + "9" * 5000, "cursor"),
    ],
)
def test_malformed_queries_are_refused_by_name(api: Client, query: str, field: str) -> None:
    response = api.call("GET", f"/api/changes?{query}")
    assert (response.status_code, response.json()["details"][0]["field"]) == (400, field)


def test_a_cursor_of_another_account_has_expired(api: Client, stranger: Client) -> None:
    replica = Replica(stranger)
    replica.catch_up()
    response = api.call("GET", f"/api/changes?cursor={replica.cursor}")
    assert (response.status_code, response.json()["code"]) == (410, "cursor_expired")


def test_cursor_expires_with_the_tombstones(api: Client, alice: User) -> None:
    replica = Replica(api)
    replica.catch_up()
    now = timezone.now()
    for days, status in ((119, 200), (122, 410)):
        with time_machine.travel(now + dt.timedelta(days=days), tick=False):
            assert api.call("GET", f"/api/changes?cursor={replica.cursor}").status_code == status


def test_cursor_from_before_a_restore_has_expired(api: Client, alice: User) -> None:
    replica = Replica(api)
    in_backup = User.objects.get(pk=alice.pk).revision
    for restored_at in (timezone.now(), timezone.now(), timezone.now() + dt.timedelta(minutes=5)):
        start_revision_epochs(restored_at)
        replica.cursor = None
        replica.catch_up()
        api.ok("POST", "/api/people", {"name": "Ada"}, status=201)
        api.ok("GET", f"/api/changes?cursor={replica.cursor}")
    # The same backup once more, a day later.
    User.objects.filter(pk=alice.pk).update(revision=in_backup)
    start_revision_epochs(timezone.now() + dt.timedelta(days=1))
    for _ in range(3):
        assert api.call("GET", f"/api/changes?cursor={replica.cursor}").status_code == 410
        api.ok("POST", "/api/people", {"name": "Ada"}, status=201)


@pytest.mark.both_databases
def test_cursor_newer_than_the_restored_backup_has_expired(api: Client, alice: User) -> None:
    replica = Replica(api)
    replica.catch_up()
    User.objects.filter(pk=alice.pk).update(revision=0, settings_revision=0)
    assert api.call("GET", f"/api/changes?cursor={replica.cursor}").status_code == 410


def test_purge_is_reported_as_a_deletion(api: Client, alice: User) -> None:
    person = make_person(alice, name="Ada")
    replica = Replica(api)
    replica.catch_up()
    api.ok("DELETE", f"/api/people/{person.pk}")
    replica.catch_up()
    with time_machine.travel(timezone.now() + dt.timedelta(days=40), tick=False):
        call_command("purge_deleted")
        assert ("person", str(person.pk), True) in {(c["type"], c["id"], c["deleted"]) for c in replica.catch_up()}


@pytest.mark.both_databases
def test_number_of_queries_does_not_grow_with_the_page(api: Client, django_assert_max_num_queries: Any) -> None:
    groups = [{"name": f"Group {number}"} for number in range(3)]
    ids = [api.ok("POST", "/api/groups", group, status=201)["group"]["id"] for group in groups]
    for number in range(40):
        date = {"type": "BIRTHDAY", "title": "", "date": "1815-12-10"}
        api.ok("POST", "/api/people", {"name": f"P{number}", "groupIds": ids, "importantDates": [date]}, status=201)
    with django_assert_max_num_queries(16):
        assert len(api.ok("GET", "/api/changes?limit=1000")["changes"]) > 80


def test_every_feed_model_has_a_feed_kind() -> None:
    tables = {model for model in apps.get_models() if issubclass(model, FeedModel)}
    assert {kind.model for kind in feed_kinds()} == tables
    assert len({kind.order for kind in feed_kinds()}) == len(tables)


def test_changed_settings_are_in_the_feed(api: Client) -> None:
    replica = Replica(api)
    replica.catch_up()
    api.ok("PUT", "/api/user/theme", {"theme": "DARK"})
    [change] = replica.catch_up()
    assert (change["type"], change["record"]["theme"]) == ("settings", "DARK")


@pytest.mark.both_databases
def test_dismissals_are_in_the_feed(api: Client, alice: User) -> None:
    first, second = (make_person(alice, name="Ada") for _ in range(2))
    replica = Replica(api)
    replica.catch_up()
    api.ok("POST", "/api/people/duplicates/dismiss", {"personAId": str(first.pk), "personBId": str(second.pk)})
    [change] = replica.catch_up()
    assert {change["record"]["personAId"], change["record"]["personBId"]} == {str(first.pk), str(second.pk)}
