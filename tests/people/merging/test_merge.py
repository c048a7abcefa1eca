"""Merging two people through the API: the merged person, and what is refused."""

from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.builders import UNKNOWN_ID, set_plan_limits
from tests.client import Client
from tests.people.merging.steps import merge_people, read_person
from tests.people.steps import create_person, create_template
from tests.pictures import picture, upload
from tests.queries import count_queries

pytestmark = pytest.mark.sqlite_suffices


def values_of(entries: list[dict[str, Any]], *keys: str) -> list[Any]:
    return [tuple(entry[key] for key in keys) if len(keys) > 1 else entry[keys[0]] for entry in entries]


def test_the_secondary_goes_to_the_trash_and_the_primary_is_returned_whole(api: Client) -> None:
    primary, secondary = create_person(api, "Ada", "Lovelace"), create_person(api, "Ada", "Byron")
    response = merge_people(api, primary, secondary)
    assert set(response) == {"person", "mergeId"}
    assert response["person"] == read_person(api, primary)
    assert api.call("get", f"/api/people/{secondary}").status_code == 404
    assert [row["id"] for row in api.ok("get", "/api/people")["people"]] == [primary]


def test_merge_and_undo_respond_with_the_etag_of_the_primary(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Grace", notes="Admiral")
    merged = api.call("post", "/api/people/merge", {"primaryId": primary, "secondaryId": secondary})
    assert merged.headers["ETag"] == api.call("get", f"/api/people/{primary}").headers["ETag"]
    undone = api.call("post", f"/api/people/merge/{merged.json()['mergeId']}/undo")
    assert undone.headers["ETag"] == api.call("get", f"/api/people/{primary}").headers["ETag"]


@pytest.mark.both_databases
def test_an_empty_field_takes_the_secondarys_and_a_full_one_stays(api: Client) -> None:
    primary = create_person(api, "Ada", "Lovelace", jobTitle="Mathematician")
    secondary = create_person(
        api, "Augusta", "King", nickname="Countess", jobTitle="Countess", anniversary="1835-07-08", notes="Poetical"
    )
    person = merge_people(api, primary, secondary)["person"]
    assert (person["name"], person["surname"], person["nickname"]) == ("Ada", "Lovelace", "Countess")
    assert (person["jobTitle"], person["anniversary"], person["notes"]) == ("Mathematician", "1835-07-08", "Poetical")


@pytest.mark.both_databases
def test_overrides_come_first_and_null_clears(api: Client) -> None:
    friend = next(
        kind["id"] for kind in api.ok("get", "/api/relationship-types")["relationshipTypes"] if kind["name"] == "FRIEND"
    )
    primary = create_person(api, "Ada", "Lovelace", notes="Old", prefix="Lady")
    secondary = create_person(api, "Ada", "King", middleName="Augusta", organization="Analytical Engines")
    overrides = {
        "name": " Augusta ",
        "surname": "King",
        "notes": None,
        "prefix": "",
        "organization": None,
        "lastContact": "2024-02-29",
        "relationshipToUserId": friend,
        "contactReminderEnabled": True,
        "cardDavSyncEnabled": False,
    }
    person = merge_people(api, primary, secondary, overrides)["person"]
    expected = {**overrides, "name": "Augusta", "prefix": None, "middleName": "Augusta"}
    assert {key: person[key] for key in expected} == expected
    assert (person["contactReminderInterval"], person["contactReminderIntervalUnit"]) == (1, "MONTHS")
    assert api.ok("get", "/api/people/search?q=augusta king")["people"][0]["id"] == primary


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"shoeSize": 38}, "fieldOverrides.shoeSize"),
        ({"emails": []}, "fieldOverrides.emails"),
        ({"photo": None}, "fieldOverrides.photo"),
        ({"id": "x"}, "fieldOverrides.id"),
        ({"connectedThroughId": None}, "fieldOverrides.connectedThroughId"),
        ({"name": None}, "fieldOverrides.name"),
        ({"name": "x" * 101}, "fieldOverrides.name"),
        ({"surname": 5}, "fieldOverrides.surname"),
        ({"anniversary": "2023-02-29"}, "fieldOverrides.anniversary"),
        ({"contactReminderInterval": 100}, "fieldOverrides.contactReminderInterval"),
        ({"contactReminderEnabled": None}, "fieldOverrides.contactReminderEnabled"),
        ({"relationshipToUserId": UNKNOWN_ID}, "fieldOverrides.relationshipToUserId"),
        ([], "fieldOverrides"),
        ("surname", "fieldOverrides"),
    ],
)
def test_overrides_keep_the_rules_of_a_person(api: Client, overrides: Any, field: str) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada")
    before = read_person(api, primary)
    response = merge_people(api, primary, secondary, overrides, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]
    assert read_person(api, primary) == before
    assert read_person(api, secondary)["deletedAt"] is None


def test_no_overrides_may_be_null(api: Client) -> None:
    body = {"primaryId": create_person(api, "Ada"), "secondaryId": create_person(api, "Ada"), "fieldOverrides": None}
    api.ok("post", "/api/people/merge", body)


@pytest.mark.both_databases
def test_multi_value_fields_are_joined_without_repeats(api: Client) -> None:
    primary = create_person(
        api,
        "Ada",
        phoneNumbers=[{"type": "mobile", "number": "+49 151 2345678"}],
        emails=[{"email": "Ada@Example.org"}],
        urls=[{"url": "https://Example.org/"}],
        imHandles=[{"protocol": "matrix", "handle": "@ada:x.org"}],
        addresses=[{"streetLine1": "St. James Square 12", "locality": "London"}],
        locations=[{"latitude": 51.5, "longitude": 0}],
        customFields=[{"key": "Engine", "value": "Analytical"}],
    )
    secondary = create_person(
        api,
        "Ada",
        phoneNumbers=[{"type": "work", "number": "0151/2345678"}, {"number": "030 12345"}, {"number": "03012345"}],
        emails=[{"type": "work", "email": "ada@example.ORG"}, {"email": "countess@example.org"}],
        urls=[{"url": "https://example.org"}, {"url": "https://example.org/blog"}],
        imHandles=[{"protocol": "Matrix", "handle": "@ada:x.org"}, {"protocol": "irc", "handle": "@ada:x.org"}],
        addresses=[
            {"type": "home", "streetLine1": "st. james square  12", "locality": "LONDON"},
            {"streetLine1": "Ockham Park"},
        ],
        locations=[{"latitude": 51.5, "longitude": 0.0}, {"latitude": 51.5, "longitude": 0, "label": "Birth"}],
        customFields=[{"key": "engine", "value": "Analytical"}, {"key": "engine", "value": "Difference"}],
    )
    theirs = read_person(api, secondary)
    person = merge_people(api, primary, secondary)["person"]
    # One to one: what the secondary has twice, the merged person has twice.
    assert values_of(person["phoneNumbers"], "type", "number") == [
        ("mobile", "+49 151 2345678"),
        ("other", "030 12345"),
        ("other", "03012345"),
    ]
    assert values_of(person["emails"], "email") == ["Ada@Example.org", "countess@example.org"]
    assert values_of(person["urls"], "url") == ["https://Example.org/", "https://example.org/blog"]
    assert values_of(person["imHandles"], "protocol") == ["matrix", "irc"]
    assert values_of(person["addresses"], "streetLine1") == ["St. James Square 12", "Ockham Park"]
    assert values_of(person["locations"], "label") == [None, "Birth"]  # the secondary has the place twice
    assert values_of(person["customFields"], "value") == ["Analytical", "Difference"]
    assert person["emails"][1]["id"] == theirs["emails"][1]["id"]


def test_too_many_entries_are_refused_not_cut(api: Client) -> None:
    primary = create_person(api, "Ada", emails=[{"email": f"a{n}@x.org"} for n in range(60)])
    secondary = create_person(api, "Ada", emails=[{"email": f"a{n}@x.org"} for n in range(50, 101)])
    assert merge_people(api, primary, secondary, status=400)["details"][0]["field"] == "emails"
    assert len(read_person(api, secondary)["emails"]) == 51


def test_merged_values_are_found(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", emails=[{"email": "a@x.org"}])
    merge_people(api, primary, secondary)
    third = create_person(api, "Ada", emails=[{"email": "A@x.org"}])
    assert [row["personId"] for row in api.ok("get", f"/api/people/{third}/duplicates")["duplicates"]] == [primary]


def test_groups_are_joined(api: Client) -> None:
    groups = [api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("A", "B", "C")]
    primary, secondary = create_person(api, "Ada", groupIds=groups[:2]), create_person(api, "Ada", groupIds=groups[1:])
    assert merge_people(api, primary, secondary)["person"]["groupIds"] == groups


def test_important_dates_are_joined_once(api: Client) -> None:
    primary = create_person(
        api,
        "Ada",
        importantDates=[{"type": "BIRTHDAY", "date": "1815-12-10"}, {"title": "Met Babbage", "date": "1833-06-05"}],
    )
    secondary = create_person(
        api,
        "Ada",
        importantDates=[
            {"type": "BIRTHDAY", "date": "1815-12-11"},
            {"type": "ANNIVERSARY", "date": "1835-07-08", "reminderEnabled": True},
            {"title": "met babbage", "date": "1833-06-05"},
            {"title": "Met Babbage", "date": "1834-06-05"},
        ],
    )
    moved = {date["id"] for date in read_person(api, secondary)["importantDates"]}
    dates = merge_people(api, primary, secondary)["person"]["importantDates"]
    assert values_of(dates, "type", "title", "date") == [
        ("BIRTHDAY", None, "1815-12-10T00:00:00.000Z"),
        (None, "Met Babbage", "1833-06-05T00:00:00.000Z"),
        ("ANNIVERSARY", None, "1835-07-08T00:00:00.000Z"),
        (None, "Met Babbage", "1834-06-05T00:00:00.000Z"),
    ]
    assert {date["id"] for date in dates[2:]} <= moved


def test_custom_field_values_are_joined(api: Client) -> None:
    one, two, three = (create_template(api, name) for name in ("one", "two", "three"))
    primary = create_person(
        api,
        "Ada",
        customFieldValues=[{"templateId": one, "value": "mine"}, {"templateId": two, "value": "mine"}],
    )
    secondary = create_person(
        api,
        "Ada",
        customFieldValues=[{"templateId": two, "value": "theirs"}, {"templateId": three, "value": "theirs"}],
    )
    values = merge_people(api, primary, secondary)["person"]["customFieldValues"]
    assert {value["templateId"]: value["value"] for value in values} == {one: "mine", two: "mine", three: "theirs"}


def test_relationships_move_but_never_to_oneself_and_never_twice(api: Client) -> None:
    primary, secondary, friend, other = (create_person(api, name) for name in ("Ada", "Augusta", "Charles", "Mary"))
    for one, related in ((primary, secondary), (primary, friend), (secondary, friend), (secondary, other)):
        api.ok("post", "/api/relationships", {"personId": one, "relatedPersonId": related})
    person = merge_people(api, primary, secondary)["person"]
    assert sorted(values_of(person["relationships"], "relatedPersonId")) == sorted([friend, other])
    rows = api.ok("get", "/api/relationships")["relationships"]
    assert {row["personId"] for row in rows} == {primary, friend, other}
    assert len(rows) == 4


@pytest.mark.both_databases
def test_the_photo_comes_along_when_there_is_none(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada")
    assert upload(api, f"/api/people/{secondary}/photo", picture()).status_code == 200
    photo = read_person(api, secondary)["photo"]
    assert merge_people(api, primary, secondary)["person"]["photo"] == photo
    api.ok("delete", f"/api/people/{secondary}/permanent")
    assert api.call("get", f"/api/photos/{primary}").status_code == 200


def test_a_contact_reminder_comes_along_as_a_whole(api: Client) -> None:
    secondary: dict[str, Any] = {
        "contactReminderEnabled": True,
        "contactReminderInterval": 2,
        "contactReminderIntervalUnit": "WEEKS",
    }
    person = merge_people(api, create_person(api, "Ada"), create_person(api, "Ada", **secondary))["person"]
    assert {key: person[key] for key in secondary} == secondary
    assert Person.unscoped.get(pk=person["id"]).contact_due_at is not None


def test_dismissals_of_the_secondary_apply_to_the_primary(api: Client) -> None:
    people = [create_person(api, "Ada", "Lovelace") for _ in range(3)]
    api.ok("post", "/api/people/duplicates/dismiss", {"personAId": people[1], "personBId": people[2]})
    merge_people(api, people[0], people[1])
    assert api.ok("get", "/api/people/duplicates")["groups"] == []


def test_invalid_merges_are_refused(api: Client, stranger: Client) -> None:
    mine, theirs, gone = create_person(api, "Ada"), create_person(stranger, "Ada"), create_person(api, "Ada")
    api.ok("delete", f"/api/people/{gone}")
    assert merge_people(api, mine, mine, status=400)["details"][0]["field"] == "secondaryId"
    refused = [merge_people(api, mine, other, status=400) for other in (theirs, gone, UNKNOWN_ID, "nobody")]
    assert all(response == refused[0] for response in refused)
    assert refused[0]["details"][0]["field"] == "secondaryId"
    assert merge_people(api, theirs, mine, status=400)["details"][0]["field"] == "primaryId"
    missing = api.ok("post", "/api/people/merge", {}, status=400)["details"]
    assert {detail["field"] for detail in missing} == {"primaryId", "secondaryId"}
    assert read_person(api, mine)["deletedAt"] is None


def test_a_reminder_by_override_counts_for_the_plan(api: Client, alice: User, settings: Any) -> None:
    set_plan_limits(settings, people=50, groups=10, reminders=0, templates=1)
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada")
    response = merge_people(api, primary, secondary, {"contactReminderEnabled": True}, status=403)
    assert response["code"] == "plan_limit"
    assert read_person(api, secondary)["deletedAt"] is None


@pytest.mark.both_databases
def test_the_number_of_statements_does_not_grow(api: Client) -> None:
    def count(entries: int) -> int:
        body: dict[str, Any] = {
            "emails": [{"email": f"{n}@x.org"} for n in range(entries)],
            "importantDates": [{"title": f"Day {n}", "date": "2020-01-01"} for n in range(entries)],
            "groupIds": [
                api.ok("post", "/api/groups", {"name": f"{entries} {n}"}, status=201)["group"]["id"]
                for n in range(entries)
            ],
        }
        primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", **body)
        return count_queries(merge_people, api, primary, secondary)

    assert count(2) == count(12)
