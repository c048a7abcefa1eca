"""The projection of people equals the serializer in every response, with a constant number of queries."""

from typing import Any

import orjson
import pytest

from accounts.models import User
from contacts_project.kernel.json import dumps
from people.models import Person
from tests.client import Client
from tests.people.projection.serialized_people import serialize_person
from tests.queries import count_queries

pytestmark = pytest.mark.sqlite_suffices

BODIES: list[dict[str, Any]] = [
    {
        "name": "Ada",
        "surname": "Lovelace",
        "prefix": "Lady",
        "suffix": "FRS",
        "nickname": "Countess",
        "organization": 'Analytical "Engines"',
        "jobTitle": "Programmer",
        "gender": "f",
        "anniversary": "1835-07-08",
        "lastContact": "2026-01-31",
        "notes": "a\nb\t\\ \u202eאב\u200f 👩‍👩‍👧‍👦",
        "contactReminderEnabled": True,
        "contactReminderInterval": 3,
        "phoneNumbers": [{"number": "+44 20 7946 0000"}, {"type": "work", "number": "0151 1234567"}],
        "emails": [{"type": "work", "email": "Ada@example.org"}],
        "addresses": [{"streetLine1": "12, St James's Square", "country": "UK"}],
        "urls": [{"url": "https://example.org/?q=%22"}],
        "imHandles": [{"type": "chat", "handle": "@ada"}],
        "locations": [{"latitude": -0.5, "longitude": 180}],
        "customFields": [{"key": "k", "value": 'v"\\'}],
        "importantDates": [
            {"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": True, "extraLeadDays": [7, 1]},
            {"title": 'Met "her"', "date": "2001-02-03", "yearUnknown": True},
        ],
    },
    {"name": "山田", "cardDavSyncEnabled": False, "displayNameOverride": "X"},
    {"name": "\u0301\u0301"},
    {"name": "🏳️‍🌈 Zoë", "surname": "Ünal"},
]


@pytest.fixture
def people(api: Client) -> list[dict[str, Any]]:
    """Create people from BODIES, with groups, custom values, types and relationships."""
    groups = [api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("Zeta", "alpha")]
    templates = [
        api.ok("post", "/api/custom-field-templates", {"name": kind, "type": kind}, status=201)["customFieldTemplate"][
            "id"
        ]
        for kind in ("TEXT", "NUMBER", "BOOLEAN")
    ]
    types = api.ok("get", "/api/relationship-types")["relationshipTypes"]
    values = [{"templateId": key, "value": value} for key, value in zip(templates, ('a"b', 1.5, False), strict=True)]
    more: list[dict[str, Any]] = [
        {"groupIds": groups, "customFieldValues": values, "relationshipToUserId": types[0]["id"]},
        {"groupIds": groups[:1], "customFieldValues": values[1:]},
        {},
        {"groupIds": groups[1:]},
    ]
    made = [
        api.ok("post", "/api/people", {**body, **extra}, status=201)["person"]
        for body, extra in zip(BODIES, more, strict=True)
    ]
    for other, notes in ((made[1], None), (made[2], 'say "hi"\n')):
        body = {
            "personId": made[0]["id"],
            "relatedPersonId": other["id"],
            "relationshipTypeId": types[1]["id"],
            "notes": notes,
        }
        api.ok("post", "/api/relationships", body)
    return made


@pytest.mark.both_databases
@pytest.mark.parametrize("order", ["WESTERN", "EASTERN"])
@pytest.mark.parametrize("form", ["FULL", "NICKNAME_PREFERRED", "SHORT"])
def test_projection_and_serializer_agree(
    api: Client, alice: User, people: list[dict[str, Any]], order: str, form: str
) -> None:
    User.objects.filter(pk=alice.pk).update(name_order=order, name_display_format=form)
    for person in people:
        response = api.ok("get", f"/api/people/{person['id']}")["person"]
        row = Person.objects.owned_by(alice).get(pk=person["id"])
        assert response == orjson.loads(dumps(serialize_person(row)))


def test_page_list_and_single_response_agree(api: Client, people: list[dict[str, Any]]) -> None:
    single_people = {person["id"]: api.ok("get", f"/api/people/{person['id']}")["person"] for person in people}
    everybody = api.ok("get", "/api/people?includeAll=true")
    assert set(everybody) == {"people"}
    assert {person["id"]: person for person in everybody["people"]} == single_people
    extra = {"importantDates", "relationships", "customFieldValues", "shares"}
    for person in api.ok("get", "/api/people")["people"]:
        assert person == {key: value for key, value in single_people[person["id"]].items() if key not in extra}
    details = {"phoneNumbers", "emails", "addresses", "urls", "imHandles", "locations", "customFields"}
    for person in api.ok("get", "/api/people?includeDetails=false")["people"]:
        assert person == {
            key: value for key, value in single_people[person["id"]].items() if key not in extra | details
        }
    for person in api.ok("get", "/api/people?includeDetails=false&includeAll=true")["people"]:
        assert person == {key: value for key, value in single_people[person["id"]].items() if key not in details}


def test_relationships_equal_those_of_the_relationship_list(api: Client, people: list[dict[str, Any]]) -> None:
    listed = api.ok("get", "/api/relationships")["relationships"]
    for person in api.ok("get", "/api/people?includeAll=true")["people"]:
        assert person["relationships"] == [row for row in listed if row["personId"] == person["id"]]


def test_dates_equal_those_of_the_date_list(api: Client, people: list[dict[str, Any]]) -> None:
    for person in people:
        own = api.ok("get", f"/api/people/{person['id']}/important-dates")["importantDates"]
        assert api.ok("get", f"/api/people/{person['id']}")["person"]["importantDates"] == own


def test_groups_come_in_name_order_without_those_in_the_trash(api: Client, people: list[dict[str, Any]]) -> None:
    person = api.ok("get", f"/api/people/{people[0]['id']}")["person"]
    assert [group["name"] for group in person["groups"]] == ["alpha", "Zeta"]
    assert person["groupIds"] == [group["id"] for group in person["groups"]]
    api.ok("delete", f"/api/groups/{person['groupIds'][0]}")
    person = api.ok("get", f"/api/people/{people[0]['id']}")["person"]
    assert [group["name"] for group in person["groups"]] == ["Zeta"]


def test_rows_to_deleted_people_are_left_out(api: Client, people: list[dict[str, Any]]) -> None:
    api.ok("delete", f"/api/people/{people[1]['id']}")
    person = api.ok("get", f"/api/people/{people[0]['id']}")["person"]
    assert [row["relatedPersonId"] for row in person["relationships"]] == [people[2]["id"]]


def test_number_of_queries_does_not_grow(api: Client) -> None:
    paths = [
        "/api/people",
        "/api/people?includeDetails=false",
        "/api/people?includeAll=true",
        "/api/people/search?q=a",
        "/api/people/search-index",
        "/api/deleted?type=people",
    ]
    group = api.ok("post", "/api/groups", {"name": "All"}, status=201)["group"]["id"]
    template = api.ok("post", "/api/custom-field-templates", {"name": "T", "type": "TEXT"}, status=201)[
        "customFieldTemplate"
    ]
    kind = api.ok("get", "/api/relationship-types")["relationshipTypes"][0]["id"]
    first: list[str] = []

    def add(number: int) -> None:
        body = {
            **BODIES[0],
            "surname": f"L {number}",
            "groupIds": [group],
            "customFieldValues": [{"templateId": template["id"], "value": "x"}],
            "relationshipToUserId": kind,
        }
        if first:
            body["connectedThroughId"] = first[0]
        person = api.ok("post", "/api/people", body, status=201)["person"]["id"]
        first.append(person)

    def count() -> dict[str, int]:
        return {path: count_queries(api.ok, "get", path) for path in paths}

    for number in range(2):
        add(number)
    gone = api.ok("post", "/api/people", {"name": "Gone"}, status=201)["person"]["id"]
    api.ok("delete", f"/api/people/{gone}")
    before = count()
    for number in range(2, 50):
        add(number)
    for number in range(20):
        gone = api.ok("post", "/api/people", {"name": f"Gone {number}"}, status=201)["person"]["id"]
        api.ok("delete", f"/api/people/{gone}")
    assert count() == before


def test_search_index_contains_all_fields_of_a_person(api: Client, people: list[dict[str, Any]]) -> None:
    records = {record["id"]: record for record in api.ok("get", "/api/people/search-index")["people"]}
    assert set(records) == {person["id"] for person in people}
    ada = records[people[0]["id"]]
    assert ada["phones"] == "+44 20 7946 0000 0151 1234567"
    assert ada["emails"] == "Ada@example.org"
    assert ada["addresses"] == "12, St James's Square UK"
    assert ada["urls"] == "https://example.org/?q=%22"
    assert ada["imHandles"] == "@ada"
    assert ada["groups"] == "alpha Zeta"
    assert ada["customFields"] == 'k v"\\'
    assert ada["relationshipToUser"]
    assert ada["displayName"] == people[0]["displayName"]
    assert records[people[2]["id"]]["phones"] == records[people[2]["id"]]["groups"] == ""


def test_search_index_has_unchanged_texts(api: Client) -> None:
    """Also those that look like the JSON in which they are stored."""
    handles = [
        '"handle": "x"',
        "handle",
        ": ,",
        'a"b',
        "\\",
        'x\\", "handle": "y',
        "Zoë 👩‍👩‍👧‍👦",
        "山田",
        "[]",
        "plain",
    ]
    for handle in handles:
        entries = [{"type": "handle", "handle": handle}, {"type": handle, "handle": "second"}]
        api.ok("post", "/api/people", {"name": "Ada", "imHandles": entries}, status=201)
    found = {record["imHandles"] for record in api.ok("get", "/api/people/search-index")["people"]}
    assert found == {f"{handle} second" for handle in handles}


@pytest.mark.both_databases
def test_deleted_person_is_in_the_trash_as_in_the_list(api: Client, people: list[dict[str, Any]]) -> None:
    listed = {person["id"]: person for person in api.ok("get", "/api/people?includeDetails=false")["people"]}
    for person in people:
        api.ok("delete", f"/api/people/{person['id']}")
    deleted = api.ok("get", "/api/deleted?type=people")["deleted"]
    assert [person["id"] for person in deleted] == [person["id"] for person in reversed(people)]
    for person in deleted:
        times = {"deletedAt", "updatedAt"}
        known = listed[person["id"]]
        assert {key: person[key] for key in known.keys() - times} == {key: known[key] for key in known.keys() - times}
        assert person["deletedAt"]


def test_empty_account(api: Client) -> None:
    assert api.ok("get", "/api/people?includeAll=true") == {"people": []}
    assert api.ok("get", "/api/people/search-index") == {"people": []}
    assert api.ok("get", "/api/people")["pagination"] == {"total": 0, "limit": 100, "offset": 0, "hasMore": False}
