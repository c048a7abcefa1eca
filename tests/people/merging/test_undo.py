"""Undoing a merge restores both people, or is refused."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from people.models import CustomFieldValue, MergeRecord
from people.trash import purge_deleted
from tests.builders import UNKNOWN_ID, set_plan_limits
from tests.client import Client
from tests.people.merging.steps import merge_people, read_person, snapshot, undo_merge
from tests.people.steps import create_person, create_template
from tests.pictures import picture, upload

pytestmark = pytest.mark.sqlite_suffices


@pytest.mark.both_databases
def test_undo_restores_both_people(api: Client) -> None:
    one, two = create_template(api, "one"), create_template(api, "two")
    groups = [api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("A", "B")]
    primary = create_person(
        api,
        "Ada",
        "Lovelace",
        groupIds=groups[:1],
        emails=[{"email": "ada@x.org"}],
        importantDates=[{"type": "BIRTHDAY", "date": "1815-12-10"}],
        customFieldValues=[{"templateId": one, "value": "mine"}],
    )
    secondary = create_person(
        api,
        "Augusta",
        "King",
        middleName="Ada",
        notes="Countess",
        anniversary="1835-07-08",
        groupIds=groups,
        emails=[{"email": "ADA@x.org"}, {"email": "king@x.org"}],
        phoneNumbers=[{"number": "030 12345"}],
        importantDates=[{"type": "BIRTHDAY", "date": "1815-12-11"}, {"title": "Met", "date": "1833-06-05"}],
        customFieldValues=[{"templateId": one, "value": "theirs"}, {"templateId": two, "value": "theirs"}],
        contactReminderEnabled=True,
    )
    assert upload(api, f"/api/people/{secondary}/photo", picture()).status_code == 200
    before = snapshot(api)
    overrides = {"name": "Augusta Ada", "surname": "King", "contactReminderInterval": 3, "gender": "female"}
    response = merge_people(api, primary, secondary, overrides)
    undone = undo_merge(api, response["mergeId"])
    assert snapshot(api) == before
    assert undone == {"person": read_person(api, primary), "secondary": read_person(api, secondary)}
    assert api.call("get", f"/api/photos/{secondary}").status_code == 200
    assert [row["id"] for row in api.ok("get", "/api/people/search?q=lovelace")["people"]] == [primary]


def test_a_merge_is_undone_once(api: Client) -> None:
    merge_id = merge_people(api, create_person(api, "Ada"), create_person(api, "Ada"))["mergeId"]
    undo_merge(api, merge_id)
    assert undo_merge(api, merge_id, status=409)["code"] == "already_undone"


def test_after_undoing_they_can_be_merged_again(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", notes="x")
    undo_merge(api, merge_people(api, primary, secondary)["mergeId"])
    before = snapshot(api)
    undo_merge(api, merge_people(api, secondary, primary)["mergeId"])
    assert snapshot(api) == before


def test_merge_of_another_account_is_404(api: Client, stranger: Client) -> None:
    merge_id = merge_people(api, create_person(api, "Ada"), create_person(api, "Ada"))["mergeId"]
    assert undo_merge(stranger, merge_id, status=404) == undo_merge(stranger, UNKNOWN_ID, status=404)
    assert undo_merge(api, "nothing", status=404)
    undo_merge(api, merge_id)


def test_an_entry_that_was_edited_after_the_merge_stays(api: Client) -> None:
    primary, secondary = (
        create_person(api, "Ada"),
        create_person(api, "Ada", emails=[{"email": "a@x.org"}, {"email": "b@x.org"}]),
    )
    merged = merge_people(api, primary, secondary)
    first, second = merged["person"]["emails"]
    edited = [{**first, "email": "c@x.org"}, second]
    api.ok("put", f"/api/people/{primary}", {"emails": edited})
    undo_merge(api, merged["mergeId"])
    assert [entry["email"] for entry in read_person(api, primary)["emails"]] == ["c@x.org"]
    assert [entry["email"] for entry in read_person(api, secondary)["emails"]] == ["a@x.org", "b@x.org"]


@pytest.mark.both_databases
def test_other_edits_after_the_merge_are_kept(api: Client) -> None:
    primary, secondary = (
        create_person(api, "Ada"),
        create_person(api, "Ada", notes="Countess", emails=[{"email": "a@x.org"}]),
    )
    response = merge_people(api, primary, secondary)
    emails = [*response["person"]["emails"], {"email": "b@x.org"}]
    api.ok("put", f"/api/people/{primary}", {"jobTitle": "Mathematician", "emails": emails})
    undo_merge(api, response["mergeId"])
    person = read_person(api, primary)
    assert (person["jobTitle"], person["notes"]) == ("Mathematician", None)
    assert [entry["email"] for entry in person["emails"]] == ["b@x.org"]
    assert [entry["email"] for entry in read_person(api, secondary)["emails"]] == ["a@x.org"]


def test_merges_are_undone_in_any_order(api: Client) -> None:
    primary = create_person(api, "Ada")
    others = [create_person(api, "Ada", phoneNumbers=[{"number": f"030 1234{n}"}]) for n in range(3)]
    before = snapshot(api)
    merges = [merge_people(api, primary, other)["mergeId"] for other in others]
    for merge_id in (merges[1], merges[0], merges[2]):
        undo_merge(api, merge_id)
    assert snapshot(api) == before


def check_undo_is_refused(api: Client, merge_id: str) -> None:
    before = snapshot(api)
    assert undo_merge(api, merge_id, status=409)["code"] == "undo_conflict"
    assert snapshot(api) == before


def test_a_merged_value_that_was_changed_again_cannot_be_undone(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", notes="Countess")
    merge_id = merge_people(api, primary, secondary)["mergeId"]
    api.ok("put", f"/api/people/{primary}", {"notes": "Enchantress of numbers"})
    check_undo_is_refused(api, merge_id)


def test_merge_with_a_deleted_primary_cannot_be_undone(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada")
    merge_id = merge_people(api, primary, secondary)["mergeId"]
    api.ok("delete", f"/api/people/{primary}")
    check_undo_is_refused(api, merge_id)
    api.ok("delete", f"/api/people/{primary}/permanent")
    check_undo_is_refused(api, merge_id)


def test_merge_with_a_removed_secondary_cannot_be_undone(api: Client) -> None:
    secondary = create_person(api, "Ada")
    merge_id = merge_people(api, create_person(api, "Ada"), secondary)["mergeId"]
    api.ok("delete", f"/api/people/{secondary}/permanent")
    check_undo_is_refused(api, merge_id)


def test_a_secondary_that_was_restored_is_not_undone(api: Client) -> None:
    secondary = create_person(api, "Ada")
    merge_id = merge_people(api, create_person(api, "Ada"), secondary)["mergeId"]
    api.ok("post", f"/api/people/{secondary}/restore")
    check_undo_is_refused(api, merge_id)
    api.ok("delete", f"/api/people/{secondary}")
    check_undo_is_refused(api, merge_id)


def test_a_moved_date_that_is_gone_cannot_be_undone(api: Client) -> None:
    primary = create_person(api, "Ada")
    secondary = create_person(api, "Ada", importantDates=[{"title": "Met", "date": "1833-06-05"}])
    response = merge_people(api, primary, secondary)
    path = f"/api/people/{primary}/important-dates/{response['person']['importantDates'][0]['id']}"
    api.ok("delete", path)
    api.ok("delete", f"{path}/permanent")
    check_undo_is_refused(api, response["mergeId"])


def test_a_moved_date_whose_type_was_taken_cannot_be_undone(api: Client) -> None:
    primary = create_person(api, "Ada", importantDates=[{"type": "BIRTHDAY", "date": "1815-12-10"}])
    dates = [{"type": "BIRTHDAY", "date": "1815-12-11"}, {"title": "Met", "date": "1833-06-05"}]
    secondary = create_person(api, "Ada", importantDates=dates)
    response = merge_people(api, primary, secondary)
    birthday, met = (date["id"] for date in response["person"]["importantDates"])
    api.ok("delete", f"/api/people/{primary}/important-dates/{birthday}")
    body = {"type": "BIRTHDAY", "date": "1815-12-12"}
    api.ok("put", f"/api/people/{primary}/important-dates/{met}", body)
    check_undo_is_refused(api, response["mergeId"])


@pytest.mark.both_databases
def test_undo_restores_the_primarys_relationship_to_the_user(api: Client) -> None:
    kinds = {kind["name"]: kind["id"] for kind in api.ok("get", "/api/relationship-types")["relationshipTypes"]}
    primary, secondary = create_person(api, "Ada", relationshipToUserId=kinds["FRIEND"]), create_person(api, "Ada")
    before = read_person(api, primary)
    merge_id = merge_people(api, primary, secondary, {"relationshipToUserId": kinds["COLLEAGUE"]})["mergeId"]
    api.ok("delete", f"/api/relationship-types/{kinds['FRIEND']}")
    undo_merge(api, merge_id)
    assert read_person(api, primary)["relationshipToUser"] == before["relationshipToUser"]


def test_merge_with_a_removed_relationship_type_cannot_be_undone(api: Client) -> None:
    kinds = {kind["name"]: kind["id"] for kind in api.ok("get", "/api/relationship-types")["relationshipTypes"]}
    primary, secondary = create_person(api, "Ada", relationshipToUserId=kinds["FRIEND"]), create_person(api, "Ada")
    merge_id = merge_people(api, primary, secondary, {"relationshipToUserId": None})["mergeId"]
    api.ok("delete", f"/api/relationship-types/{kinds['FRIEND']}")
    api.ok("delete", f"/api/relationship-types/{kinds['FRIEND']}/permanent")
    check_undo_is_refused(api, merge_id)


@pytest.mark.both_databases
def test_cleared_value_is_restored(api: Client, alice: User) -> None:
    key = create_template(api, "one")
    secondary = create_person(api, "Ada", customFieldValues=[{"templateId": key, "value": "theirs"}])
    primary, before = create_person(api, "Ada"), read_person(api, secondary)
    merge_id = merge_people(api, primary, secondary)["mergeId"]
    api.ok("put", f"/api/people/{primary}", {"customFieldValues": []})
    assert not CustomFieldValue.objects.owned_by(alice).exists()
    undo_merge(api, merge_id)
    assert read_person(api, secondary)["customFieldValues"] == before["customFieldValues"]


@pytest.mark.both_databases
def test_left_or_removed_groups_do_not_prevent_the_undo(api: Client) -> None:
    left, removed = (
        api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("left", "removed")
    )
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", groupIds=[left, removed])
    merge_id = merge_people(api, primary, secondary)["mergeId"]
    api.ok("put", f"/api/people/{primary}", {"groupIds": []})
    api.ok("delete", f"/api/groups/{removed}")
    api.ok("delete", f"/api/groups/{removed}/permanent")
    undo_merge(api, merge_id)
    assert read_person(api, secondary)["groupIds"] == [left]
    assert read_person(api, primary)["groupIds"] == []


def test_plan_limit_counts_the_restored_person(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=2, reminders=5)
    merge_id = merge_people(api, create_person(api, "Ada"), create_person(api, "Ada"))["mergeId"]
    third = create_person(api, "Grace")
    assert undo_merge(api, merge_id, status=403)["code"] == "plan_limit"
    api.ok("delete", f"/api/people/{third}")
    undo_merge(api, merge_id)


def test_plan_limit_counts_restored_reminders(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=50, reminders=2)
    birthday: Any = {"importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": True}]}
    primary, secondary = create_person(api, "Ada", **birthday), create_person(api, "Ada", **birthday)
    merge_id = merge_people(api, primary, secondary)["mergeId"]
    third = create_person(api, "Grace", **birthday)
    assert undo_merge(api, merge_id, status=403)["code"] == "plan_limit"
    assert api.call("get", f"/api/people/{secondary}").status_code == 404
    api.ok("delete", f"/api/people/{third}")
    undo_merge(api, merge_id)


@pytest.mark.both_databases
def test_merge_cannot_be_undone_after_the_retention(api: Client) -> None:
    merge_id = merge_people(api, create_person(api, "Ada"), create_person(api, "Ada"))["mergeId"]
    now = timezone.now()
    assert purge_deleted(now=now + dt.timedelta(days=29))["merges"] == 0
    later = now + dt.timedelta(days=31)
    with time_machine.travel(later, tick=False):
        undo_merge(api, merge_id, status=404)
    assert purge_deleted(now=later)["merges"] == 1
    assert purge_deleted(now=later)["merges"] == 0
    assert not MergeRecord.unscoped.rows().exists()
