"""The body of a person: what is valid, and 400 with the name of the field otherwise; nothing is written in part."""

import gzip
from typing import Any

import orjson
import pytest

from accounts.models import User
from contacts_project.kernel.text_forms import is_email
from people.entries import identify_entries
from people.models import ImportantDate, LookupKey, Person
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

INVALID_BODIES: list[tuple[dict[str, Any], str]] = [
    ({}, "name"),
    ({"name": None}, "name"),
    ({"name": ""}, "name"),
    ({"name": "  \n "}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": 5}, "name"),
    ({"name": ["Ada"]}, "name"),
    ({"name": "A\x00da"}, "name"),
    ({"name": "A\x1bda"}, "name"),
    ({"surname": "x" * 101}, "surname"),
    ({"middleName": "x" * 101}, "middleName"),
    ({"secondLastName": "x" * 101}, "secondLastName"),
    ({"nickname": 1}, "nickname"),
    ({"prefix": "x" * 51}, "prefix"),
    ({"suffix": "x" * 51}, "suffix"),
    ({"gender": "x" * 51}, "gender"),
    ({"organization": "x" * 201}, "organization"),
    ({"jobTitle": "x" * 201}, "jobTitle"),
    ({"displayNameOverride": "x" * 201}, "displayNameOverride"),
    ({"notes": "x" * 10_001}, "notes"),
    ({"anniversary": "2021-02-29"}, "anniversary"),
    ({"anniversary": "2021-02-28T00:00:00Z"}, "anniversary"),
    ({"anniversary": ""}, "anniversary"),
    ({"deathday": "0999-12-31"}, "deathday"),
    ({"lastContact": 20210228}, "lastContact"),
    ({"relationshipToUserId": "nobody"}, "relationshipToUserId"),
    ({"relationshipToUserId": 7}, "relationshipToUserId"),
    ({"connectedThroughId": UNKNOWN_ID}, "connectedThroughId"),
    ({"groupIds": ["nobody"]}, "groupIds.0"),
    ({"groupIds": "nobody"}, "groupIds"),
    ({"groupIds": None}, "groupIds"),
    ({"contactReminderEnabled": 1}, "contactReminderEnabled"),
    ({"contactReminderEnabled": "true"}, "contactReminderEnabled"),
    ({"contactReminderEnabled": None}, "contactReminderEnabled"),
    ({"contactReminderInterval": "5"}, "contactReminderInterval"),
    ({"contactReminderInterval": 5.0}, "contactReminderInterval"),
    ({"contactReminderInterval": True}, "contactReminderInterval"),
    ({"contactReminderInterval": 0}, "contactReminderInterval"),
    ({"contactReminderInterval": 100}, "contactReminderInterval"),
    ({"contactReminderIntervalUnit": "months"}, "contactReminderIntervalUnit"),
    ({"cardDavSyncEnabled": 0}, "cardDavSyncEnabled"),
    ({"phoneNumbers": {}}, "phoneNumbers"),
    ({"phoneNumbers": None}, "phoneNumbers"),
    ({"phoneNumbers": ["+49"]}, "phoneNumbers.0"),
    ({"phoneNumbers": [{"type": "work"}]}, "phoneNumbers.0.number"),
    ({"phoneNumbers": [{"number": "1"}, {"number": " "}]}, "phoneNumbers.1.number"),
    ({"phoneNumbers": [{"number": "1" * 51}]}, "phoneNumbers.0.number"),
    ({"phoneNumbers": [{"number": "1", "type": "x" * 51}]}, "phoneNumbers.0.type"),
    ({"phoneNumbers": [{"number": "1"}] * 101}, "phoneNumbers"),
    ({"emails": [{"email": "ada"}]}, "emails.0.email"),
    ({"emails": [{"email": "ada@localhost"}]}, "emails.0.email"),
    ({"emails": [{"email": "a@" + "x" * 60 + ".example" * 30}]}, "emails.0.email"),
    ({"addresses": [{"postalCode": "1" * 21}]}, "addresses.0.postalCode"),
    ({"addresses": [{"streetLine1": "x" * 201}]}, "addresses.0.streetLine1"),
    ({"addresses": [{"locality": 5}]}, "addresses.0.locality"),
    ({"urls": [{"url": "x" * 501}]}, "urls.0.url"),
    ({"imHandles": [{"handle": "x" * 201}]}, "imHandles.0.handle"),
    ({"imHandles": [{"protocol": "xmpp"}]}, "imHandles.0.handle"),
    ({"locations": [{"latitude": 91, "longitude": 0}]}, "locations.0.latitude"),
    ({"locations": [{"latitude": "1", "longitude": 0}]}, "locations.0.latitude"),
    ({"locations": [{"latitude": 1}]}, "locations.0.longitude"),
    ({"locations": [{"latitude": 1, "longitude": True}]}, "locations.0.longitude"),
    ({"customFields": [{"value": "v"}]}, "customFields.0.key"),
    ({"customFields": [{"key": "k"}]}, "customFields.0.value"),
    ({"customFields": [{"key": "k", "value": None}]}, "customFields.0.value"),
    ({"customFields": [{"key": "k", "value": "x" * 1001}]}, "customFields.0.value"),
    ({"customFieldValues": [{"templateId": "nobody", "value": "v"}]}, "customFieldValues.0.templateId"),
    ({"importantDates": [{"title": "x", "date": "2021-13-01"}]}, "importantDates.0.date"),
    ({"importantDates": [{"date": "2021-12-01"}]}, "importantDates.0.title"),
    ({"importantDates": [{"type": "BIRTHDAY", "date": "2021-12-01"}] * 2}, "importantDates.1.type"),
]


@pytest.mark.parametrize(("body", "field"), INVALID_BODIES, ids=lambda value: value if isinstance(value, str) else "")
def test_invalid_bodies_are_refused(api: Client, alice: User, body: dict[str, Any], field: str) -> None:
    if "name" not in body and field != "name":
        body = {"name": "Ada", **body}
    response = api.call("post", "/api/people", body)
    assert response.status_code == 400, response.content
    refusal = response.json()
    assert refusal["error"]
    assert field in [detail["field"] for detail in refusal["details"]]
    assert not Person.objects.owned_by(alice).exists()


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("body", "field"), [row for row in INVALID_BODIES if row[0] and row[1] != "connectedThroughId"]
)
def test_refused_on_update_and_nothing_changes(api: Client, body: dict[str, Any], field: str) -> None:
    before = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]
    path = f"/api/people/{before['id']}"
    assert api.call("put", path, {"surname": "King", "emails": [{"email": "a@b.cd"}], **body}).status_code == 400
    assert api.ok("get", path)["person"] == before


NAMES = [
    "x" * 100,
    "\u0301\u0302",
    "\u202eadA\u202c",
    "\u200f\u200d",
    "👨‍👩‍👧‍👦🏳️‍🌈",
    "'; DROP TABLE people_person; --",
    "<script>alert(1)</script>",
    "%_\\",
    "ﷺ" * 100,
    "İstanbul ẞ ŉ",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_text_is_a_name(api: Client, name: str) -> None:
    body = {"name": name, "surname": name, "nickname": name, "notes": name}
    person = api.ok("post", "/api/people", body, status=201)["person"]
    assert person["name"] == person["surname"] == person["notes"] == name
    assert api.ok("get", "/api/people")["people"][0]["name"] == name
    assert api.ok("get", "/api/people/search-index")["people"][0]["name"] == name


def test_text_is_trimmed_and_empty_text_is_null(api: Client) -> None:
    body = {"name": "  Ada ", "surname": "  ", "notes": "a\r\nb\n", "gender": None}
    person = api.ok("post", "/api/people", body, status=201)["person"]
    assert (person["name"], person["surname"], person["notes"], person["gender"]) == ("Ada", None, "a\nb", None)


MALFORMED_BODIES: list[tuple[str, bytes]] = [
    ("malformed", b'{"name": "Ada"'),
    ("empty", b"   "),
    ("no object", b'["Ada"]'),
    ("a text", b'"Ada"'),
    ("null", b"null"),
    ("deep", b'{"name":' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
    ("deep in an unknown field", b'{"name":"Ada","x":' + b'{"x":' * 10_000 + b"1" + b"}" * 10_000 + b"}"),
    ("lone surrogate", rb'{"name":"Ada\ud800"}'),
    ("escaped NUL", rb'{"name":"Ada\u0000"}'),
    ("NaN", b'{"name":"Ada","locations":[{"latitude":NaN,"longitude":0}]}'),
    ("infinite", b'{"name":"Ada","locations":[{"latitude":1e999,"longitude":0}]}'),
    ("not UTF-8", b'{"name":"\xff"}'),
    ("a huge number", b'{"name":"Ada","contactReminderInterval":' + b"9" * 400 + b"}"),
]


@pytest.mark.one_database
@pytest.mark.parametrize(
    "domain", ["उदाहरण.भारत", "نامه\u200cای.example", "faß.example", "bu\u0308cher.example", "名前.jp"]
)
def test_domains_of_all_scripts_belong_to_addresses(domain: str) -> None:
    """Vowel signs and joiners, which names of India and Iran contain, are no word characters."""
    assert is_email(f"ada@{domain}")


@pytest.mark.one_database
@pytest.mark.parametrize(("what", "content"), MALFORMED_BODIES, ids=[what for what, _ in MALFORMED_BODIES])
def test_hostile_bodies_are_400(api: Client, alice: User, what: str, content: bytes) -> None:
    response = api.generic("POST", "/api/people", content)
    assert response.status_code == 400, response.content
    assert response.json()["error"]
    assert not Person.objects.owned_by(alice).exists()


def test_a_body_over_its_limit_is_413(api: Client, alice: User) -> None:
    response = api.generic("POST", "/api/people", b'{"name":"Ada","x":"' + b"x" * 1024 * 1024 + b'"}')
    assert response.status_code == 413
    assert not Person.objects.owned_by(alice).exists()


def test_a_media_type_that_is_not_json(api: Client) -> None:
    assert api.generic("POST", "/api/people", b"name=Ada", "application/x-www-form-urlencoded").status_code == 415
    assert api.generic("POST", "/api/people", b"name=Ada", "nonsense").status_code == 400


def test_encoded_body_is_refused_as_such(api: Client) -> None:
    body = gzip.compress(b'{"name": "Ada"}')
    answer = api.generic("POST", "/api/people", body, "application/json", HTTP_CONTENT_ENCODING="gzip")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "gzip" in answer.json()["error"]
    plain = api.generic("POST", "/api/people", b'{"name": "Ada"}', "application/json", HTTP_CONTENT_ENCODING="identity")
    assert plain.status_code == 201


def test_a_part_of_a_person_is_refused(api: Client) -> None:
    person = api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]
    path, body = f"/api/people/{person['id']}", b'{"name": "Eve"}'
    answer = api.generic("PUT", path, body, "application/json", HTTP_CONTENT_RANGE="bytes 0-14/100")
    assert (answer.status_code, answer.json()["details"][0]["code"]) == (400, "partial_body")
    assert api.ok("GET", path)["person"]["name"] == "Ada"


def test_unknown_and_read_only_fields_are_ignored(api: Client) -> None:
    body = {
        "name": "Ada",
        "displayName": "Eve",
        "photo": "../../etc/passwd",
        "uid": "urn:1",
        "createdAt": "1999",
        "deletedAt": "2020-01-01T00:00:00Z",
        "ownerId": "x",
        "relationships": [{}],
        "groups": 7,
        "addresses": [{"locality": "Berlin", "latitude": 1, "longitude": 2, "geocodeStatus": "done", "id": "x"}],
    }
    person = api.ok("post", "/api/people", body, status=201)["person"]
    assert (person["displayName"], person["photo"], person["deletedAt"]) == ("Ada", None, None)
    assert person["uid"] == f"urn:uuid:{person['id']}"
    assert person["relationships"] == person["groups"] == []
    [address] = person["addresses"]
    assert address["latitude"] is None
    assert address["id"] != "x"


@pytest.mark.both_databases
def test_defaults_of_a_contact_reminder(api: Client) -> None:
    person = api.ok("post", "/api/people", {"name": "Ada", "contactReminderEnabled": True}, status=201)["person"]
    assert (person["contactReminderInterval"], person["contactReminderIntervalUnit"]) == (1, "MONTHS")
    path = f"/api/people/{person['id']}"
    person = api.ok("put", path, {"contactReminderInterval": 2, "contactReminderIntervalUnit": "WEEKS"})["person"]
    assert (person["contactReminderInterval"], person["contactReminderIntervalUnit"]) == (2, "WEEKS")
    assert Person.unscoped.get(pk=person["id"]).contact_due_at is not None
    api.ok("put", path, {"contactReminderEnabled": False})
    assert Person.unscoped.get(pk=person["id"]).contact_due_at is None


def test_connected_through_id(api: Client) -> None:
    kind = api.ok("get", "/api/relationship-types")["relationshipTypes"][0]["id"]
    first = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]
    body = {"name": "Eve", "connectedThroughId": first["id"], "relationshipToUserId": kind}
    person = api.ok("post", "/api/people", body, status=201)["person"]
    assert person["relationshipToUserId"] is None
    [row] = person["relationships"]
    assert (row["relatedPersonId"], row["relationshipTypeId"]) == (first["id"], kind)
    assert len(api.ok("get", f"/api/people/{first['id']}")["person"]["relationships"]) == 1
    changed = {"connectedThroughId": "nobody", "relationshipToUserId": kind}
    again = api.ok("put", f"/api/people/{person['id']}", changed)["person"]
    assert again["relationshipToUserId"] == kind
    assert again["relationships"] == person["relationships"]


def test_ids_of_other_accounts_are_unknown_ids(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    foreign_person = str(make_person(mallory, name="Mallory's").pk)
    group = stranger.ok("post", "/api/groups", {"name": "Mine"}, status=201)["group"]["id"]
    kind = stranger.ok("get", "/api/relationship-types")["relationshipTypes"][0]["id"]
    for field, value, absent in (
        ("connectedThroughId", foreign_person, UNKNOWN_ID),
        ("groupIds", [group], [UNKNOWN_ID]),
        ("relationshipToUserId", kind, UNKNOWN_ID),
    ):
        foreign = api.call("post", "/api/people", {"name": "Ada", field: value})
        assert foreign.status_code == 400
        assert foreign.content == api.call("post", "/api/people", {"name": "Ada", field: absent}).content
    assert api.ok("get", f"/api/people?groupIds={group}")["people"] == []
    assert not Person.objects.owned_by(alice).exists()


def test_important_dates_of_another_person_are_unknown(api: Client) -> None:
    dates = [{"type": "BIRTHDAY", "date": "1990-01-01"}]
    one = api.ok("post", "/api/people", {"name": "Ada", "importantDates": dates}, status=201)["person"]
    other = api.ok("post", "/api/people", {"name": "Eve"}, status=201)["person"]
    body = {"importantDates": one["importantDates"], "surname": "X"}
    response = api.call("put", f"/api/people/{other['id']}", body)
    assert response.status_code == 400
    assert response.json()["details"][0]["field"] == "importantDates.0.id"
    assert api.ok("get", f"/api/people/{other['id']}")["person"]["surname"] is None


def test_an_edited_entry_keeps_its_id(api: Client) -> None:
    """An entry is matched by its id, else by its value, else as the only unmatched one of its type."""
    numbers = [{"number": "1", "type": "a"}, {"number": "2", "type": "b"}, {"number": "3", "type": "c"}]
    person = api.ok("post", "/api/people", {"name": "Ada", "phoneNumbers": numbers}, status=201)["person"]
    one, two, three = (entry["id"] for entry in person["phoneNumbers"])
    body = {
        "phoneNumbers": [
            {"number": "33", "type": "c"},
            {"number": "2", "type": "x"},
            {"id": one, "number": "11", "type": "y"},
        ]
    }
    after = api.ok("put", f"/api/people/{person['id']}", body)["person"]["phoneNumbers"]
    assert [(entry["id"], entry["number"]) for entry in after] == [(three, "33"), (two, "2"), (one, "11")]
    bad = {"phoneNumbers": [{"id": 5, "number": "1"}]}
    assert api.call("put", f"/api/people/{person['id']}", bad).status_code == 400


def test_an_edit_is_not_guessed_among_several_of_a_type(api: Client) -> None:
    numbers = [{"number": "1"}, {"number": "2"}]
    person = api.ok("post", "/api/people", {"name": "Ada", "phoneNumbers": numbers}, status=201)["person"]
    after = api.ok("put", f"/api/people/{person['id']}", {"phoneNumbers": [{"number": "3"}]})["person"]
    assert after["phoneNumbers"][0]["id"] not in {entry["id"] for entry in person["phoneNumbers"]}


def test_entries_keep_their_ids_while_their_content_stays(api: Client) -> None:
    numbers = [{"number": "1", "type": "a"}, {"number": "2", "type": "a"}, {"number": "2", "type": "a"}]
    person = api.ok("post", "/api/people", {"name": "Ada", "phoneNumbers": numbers}, status=201)["person"]
    ids = [entry["id"] for entry in person["phoneNumbers"]]
    assert len(set(ids)) == 3
    body = {"phoneNumbers": [numbers[2], {"number": "3"}, numbers[0], numbers[1]]}
    after = api.ok("put", f"/api/people/{person['id']}", body)["person"]["phoneNumbers"]
    assert [entry["number"] for entry in after] == ["2", "3", "1", "2"]
    assert (after[0]["id"], after[2]["id"], after[3]["id"]) == (ids[1], ids[0], ids[2])
    assert after[1]["id"] not in ids


def test_an_address_keeps_its_place_while_its_text_stays() -> None:
    place = {"latitude": 52.5, "longitude": 13.4, "geocodeStatus": "found"}
    [stored] = identify_entries("addresses", [{"type": "home", "locality": "Berlin"}], [])
    stored |= place
    [renamed] = identify_entries("addresses", [{"type": "work", "locality": "Berlin"}], [stored])
    assert {key: renamed[key] for key in place} == place
    assert renamed["id"] == stored["id"]
    [moved] = identify_entries("addresses", [{"type": "home", "locality": "Bonn"}], [stored])
    assert {moved[key] for key in place} == {None}


@pytest.mark.both_databases
def test_a_failure_half_way_changes_nothing(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    person = api.ok("post", "/api/people", {"name": "Ada", "emails": [{"email": "a@b.cd"}]}, status=201)["person"]
    path = f"/api/people/{person['id']}"
    keys = set(LookupKey.objects.filter(person=person["id"]).values_list("kind", "key"))

    def fail(**kwargs: Any) -> None:
        raise RuntimeError("half way")

    monkeypatch.setattr("people.services.person_writer.replace_dates", fail)
    body = {"name": "Eve", "emails": [], "importantDates": [{"title": "x", "date": "2020-01-01"}]}
    api.raise_request_exception = False
    assert api.call("put", path, body).status_code == 500
    assert api.ok("get", path)["person"] == person
    assert set(LookupKey.objects.filter(person=person["id"]).values_list("kind", "key")) == keys
    assert api.call("post", "/api/people", body).status_code == 500
    assert Person.objects.owned_by(alice).count() == 1
    assert not ImportantDate.objects.owned_by(alice).exists()


def test_a_response_is_json_that_holds_every_character(api: Client) -> None:
    text = "".join(chr(code) for code in (0x7E, 0xA0, 0x2028, 0x2029, 0xFEFF, 0x1F600, 0x10FFFF)) + '"\\/'
    person = api.ok("post", "/api/people", {"name": "A", "notes": f"x{text}x"}, status=201)["person"]
    response = api.call("get", f"/api/people/{person['id']}")
    assert orjson.loads(response.content)["person"]["notes"] == f"x{text}x"
