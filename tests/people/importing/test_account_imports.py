"""Imports of Monica's and Nametag's exports: people, interactions, relationships, and the undo."""

import base64
import io
from typing import Any
from uuid import uuid4

import orjson
import pytest

from accounts.models import User
from people.importing.sources.monica_tables import read_tables
from people.photos import images
from people.photos.images import PixelBudget
from tests.client import Client
from tests.people.importing.uploads import counts, import_file, people_by_name
from tests.pictures import picture

ADA, BYRON = "0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002"
EMAIL, SIGNAL = "0a1b2c3d-0000-4000-8000-0000000000e1", "0a1b2c3d-0000-4000-8000-0000000000e2"
TEA, PHOTO = "0a1b2c3d-0000-4000-8000-0000000000a1", "0a1b2c3d-0000-4000-8000-0000000000f1"


def monica_list(kind: str, *values: Any) -> dict[str, Any]:
    return {"count": len(values), "type": kind, "values": list(values)}


def monica_record(**properties: Any) -> dict[str, Any]:
    return {"created_at": "2021-05-01T10:00:00Z", "updated_at": "2021-05-01T10:00:00Z", "properties": properties}


def build_monica_export() -> dict[str, Any]:
    """The format of Monica's ExportResource classes: `properties` beside `data`, which has a list for each type."""
    ada = {
        "uuid": ADA,
        "properties": {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "description": "First of them",
            "gender": "F",
            "job": "Programmer",
            "is_starred": True,
            "is_dead": True,
            "stay_in_touch_frequency": 90,
            "tags": ["Maths"],
            "birthdate": {"uuid": "b", "is_age_based": False, "is_year_unknown": True, "date": "2000-12-10T00:00:00Z"},
            "deceased_date": {"is_age_based": False, "is_year_unknown": False, "date": "1852-11-27T00:00:00Z"},
            "first_met_through": BYRON,
            "avatar": {"avatar_source": "photo", "avatar_photo": PHOTO},
        },
        "data": [
            monica_list(
                "contact_field",
                monica_record(data="ada@example.org", type=EMAIL),
                monica_record(data="+44 1", type=SIGNAL),
            ),
            monica_list("address", monica_record(name="Home", street="12 Long Road", city="London", country="GB")),
            monica_list(
                "call", monica_record(called_at="2022-03-04T09:00:00Z", content="Engines", contact_called=True)
            ),
            monica_list("note", monica_record(body="Likes poetry")),
            monica_list("gift", monica_record(name="Book", status="given", date="2020-01-02")),
            monica_list(
                "conversation",
                monica_record(happened_at="2022-01-01", messages=[monica_record(content="Hi", written_by_me=True)]),
            ),
            monica_list("debt", monica_record(amount=5)),
            monica_list("pet", monica_record(name="Puff", category="cat")),
            monica_list("activity", TEA),
        ],
    }
    byron = {"uuid": BYRON, "properties": {"first_name": "George"}, "data": [monica_list("activity", TEA)]}
    photo = "data:image/jpeg;base64," + base64.b64encode(picture()).decode()
    return {
        "version": "1.0-preview.1",
        "account": {
            "uuid": "x",
            "data": [
                monica_list("contact", ada, byron),
                monica_list(
                    "relationship",
                    monica_record(type="parent", contact_is=ADA, of_contact=BYRON),
                    monica_record(type="child", contact_is=BYRON, of_contact=ADA),
                    monica_record(type="godfather", contact_is=ADA, of_contact="gone"),
                ),
                monica_list("photo", {"uuid": PHOTO, "properties": {"dataUrl": photo}}),
                monica_list("activity", {"uuid": TEA, **monica_record(summary="Tea", happened_at="2021-06-07")}),
            ],
            "properties": {"journal_entries": [monica_record(title="A day")]},
            "instance": {
                "contact_field_types": [
                    {"uuid": EMAIL, "properties": {"name": "Email", "type": "email"}},
                    {"uuid": SIGNAL, "properties": {"name": "Signal"}},
                ]
            },
        },
    }


SQL = r"""# ************************************************************
# Ada's dump of data; don't run it
SET FOREIGN_KEY_CHECKS=0;

INSERT IGNORE INTO `accounts` (`id`,`api_key`) VALUES
 (1,'secret');
INSERT IGNORE INTO `contacts` (`id`,`first_name`,`last_name`,`uuid`,`birthday_special_date_id`,`description`) VALUES
 (7,'Ada','O\'Hara','%(ada)s',5,'one; two\\
three'),
 (8,'George',NULL,'%(byron)s',NULL,NULL);
INSERT IGNORE INTO `contact_field_types` (`id`,`name`,`type`) VALUES
 (1,'Phone','phone');
INSERT IGNORE INTO `contact_fields` (`id`,`contact_id`,`contact_field_type_id`,`data`) VALUES
 (1,7,1,0441234567);
INSERT IGNORE INTO `notes` (`id`,`contact_id`,`body`,`created_at`) VALUES
 (1,7,'DROP TABLE people; --','2021-05-01 10:00:00');
INSERT IGNORE INTO `relationship_types` (`id`,`name`,`name_reverse_relationship`) VALUES
 (1,'uncle','nephew'),
 (2,'nephew','uncle');
INSERT IGNORE INTO `relationships` (`id`,`relationship_type_id`,`contact_is`,`of_contact`) VALUES
 (1,1,7,8),
 (2,2,8,7);
INSERT IGNORE INTO `special_dates` (`id`,`contact_id`,`is_age_based`,`is_year_unknown`,`date`) VALUES
 (5,7,0,0,'1990-02-03');
INSERT IGNORE INTO `tags` (`id`,`name`) VALUES (1,'Maths');
INSERT IGNORE INTO `contact_tag` (`contact_id`,`tag_id`) VALUES (7,1);
SET FOREIGN_KEY_CHECKS=1;
""" % {"ada": ADA, "byron": BYRON}  # noqa: UP031 - braces and quotes are the dump's

NAMETAG = {
    "version": "1.2",
    "exportDate": "2026-07-20T12:00:00.000Z",
    "groups": [{"id": "g1", "name": "Family", "color": "#FF5733"}],
    "people": [
        {
            "id": "clx1",
            "name": "Ada",
            "surname": "Lovelace",
            "anniversary": "1835-07-08T00:00:00.000Z",
            "contactReminderEnabled": True,
            "contactReminderInterval": 2,
            "contactReminderIntervalUnit": "WEEKS",
            "groups": ["Family"],
            "importantDates": [{"title": "Birthday", "date": "1815-12-10T00:00:00.000Z"}],
            "phoneNumbers": [{"type": "Mobile", "number": "+44 1"}],
            "imHandles": [{"protocol": "signal", "handle": "@ada"}],
            "locations": [{"type": "home", "latitude": 51.5, "longitude": -0.1, "label": "London"}],
            "customFieldValues": [{"slug": "diet", "value": "vegan"}],
            "relationshipToUser": {"name": "FRIEND", "label": "Friend"},
            "relationships": [
                {"relatedPersonId": "clx2", "relationshipType": {"name": "PUPIL", "label": "Pupil"}, "notes": "maths"}
            ],
        },
        {"id": "clx2", "name": "Mary", "surname": "Somerville", "photo": "x.jpg", "relationships": []},
        {"id": "clx3", "name": ""},
    ],
    "relationshipTypes": [
        {"id": "t1", "name": "PUPIL", "label": "Pupil", "inverseId": "t2"},
        {"id": "t2", "name": "TUTOR", "label": "Tutor", "inverseId": "t1"},
    ],
    "journalEntries": [
        {"id": "j1", "title": "Walk", "date": "2026-07-18T09:00:00.000Z", "body": "x", "peopleIds": ["clx1", "clx2"]},
        {"id": "j2", "title": "Alone", "date": "2026-07-18T09:00:00.000Z", "body": "x", "peopleIds": []},
    ],
    "customFieldTemplates": [{"name": "Diet", "slug": "diet", "type": "TEXT"}],
}


def interactions(client: Client) -> set[tuple[str, str | None, int]]:
    rows = client.ok("GET", "/api/interactions")["interactions"]
    return {(row["kind"], row["title"], len(row["personIds"])) for row in rows}


def relationships(client: Client) -> set[tuple[str, str, str]]:
    rows = client.ok("GET", "/api/relationships")["relationships"]
    return {(row["person"]["name"], row["relationshipType"]["label"], row["relatedPerson"]["name"]) for row in rows}


def test_a_photo_that_contacts_share_is_converted_once(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[bytes] = []

    def to_stored_form(data: bytes, budget: PixelBudget) -> bytes:
        converted.append(data)
        return images.to_stored_form(data, budget)

    monkeypatch.setattr("people.importing.vcards.to_stored_form", to_stored_form)
    document = build_monica_export()
    [ada, *_] = document["account"]["data"][0]["values"]
    others = [{**ada, "uuid": str(uuid4()), "properties": {**ada["properties"], "first_name": name}} for name in "XYZ"]
    document["account"]["data"][0]["values"] += others
    import_file(api, "monica", orjson.dumps(document))
    assert [person["photo"] is not None for person in people_by_name(api).values()].count(True) == 4
    assert len(converted) == 1


def test_json_export_of_monica(api: Client, alice: User) -> None:
    data = orjson.dumps(build_monica_export())
    dry = import_file(api, "monica", data, dryRun="true")
    response = import_file(api, "monica", data)
    assert counts(response) == counts(dry) == (2, 0, 1, 0)
    ada, _, journal = response["results"]
    assert (ada["reason"], ada["code"]) == (
        "a relationship to somebody who did not come in was left out",
        "related_missing",
    )
    assert (journal["name"], journal["status"]) == ("journal entries", "skipped")
    assert journal["reason"] == "1 of them have no place here and were left out"
    assert [name for name, person in people_by_name(api).items() if person["favourite"]] == ["Ada"]
    person = people_by_name(api)["Ada"]
    assert person["emails"][0]["email"] == "ada@example.org"
    assert person["imHandles"][0]["protocol"] == "signal"
    assert (person["deathday"], person["gender"], person["photo"] is not None) == ("1852-11-27", "F", True)
    assert (person["contactReminderInterval"], person["contactReminderIntervalUnit"]) == (90, "DAYS")
    assert [(day["type"], day["yearUnknown"]) for day in person["importantDates"]] == [("BIRTHDAY", True)]
    assert person["lastContact"] == "2022-03-04"
    assert interactions(api) == {
        ("CALL", "They called", 1),
        ("NOTE", None, 1),
        ("GIFT", "Book", 1),
        ("MESSAGE", None, 1),
        ("MEETING", "Tea", 2),
    }
    assert relationships(api) == {("George", "Parent", "Ada Lovelace"), ("Ada Lovelace", "Child", "George")}
    assert counts(import_file(api, "monica", data)) == (0, 0, 3, 0)
    assert (len(interactions(api)), len(relationships(api))) == (5, 2)
    assert api.ok("DELETE", f"/api/imports/{response['importId']}") == {"removed": 2, "kept": []}
    assert (people_by_name(api), interactions(api), relationships(api)) == ({}, set(), set())


def test_sql_export_of_monica(api: Client) -> None:
    response = import_file(api, "monica", SQL)
    assert counts(response) == (2, 0, 0, 0)
    person = people_by_name(api)["Ada"]
    assert (person["surname"], person["notes"]) == ("O'Hara", "one; two\\\nthree")
    assert person["phoneNumbers"][0]["number"] == "0441234567"
    assert person["importantDates"][0]["date"][:10] == "1990-02-03"
    assert [group["name"] for group in person["groups"]] == ["Maths"]
    assert api.ok("GET", "/api/interactions")["interactions"][0]["notes"] == "DROP TABLE people; --"
    assert ("George", "Uncle or aunt", "Ada O'Hara") in relationships(api)


def test_export_of_nametag(api: Client) -> None:
    response = import_file(api, "nametag", orjson.dumps(NAMETAG))
    assert counts(response) == (2, 0, 1, 1)
    assert response["errorMessages"] == ["Person 3: this record has no name, and nothing else to call it by"]
    assert response["results"][-1]["reason"] == "1 of them name nobody and were left out"
    people = people_by_name(api)
    ada = people["Ada"]
    assert (ada["relationshipToUser"]["name"], ada["anniversary"]) == ("FRIEND", "1835-07-08")
    assert (ada["contactReminderInterval"], ada["contactReminderIntervalUnit"]) == (2, "WEEKS")
    assert [day["type"] for day in ada["importantDates"]] == ["BIRTHDAY"]
    assert [(entry["key"], entry["value"]) for entry in ada["customFields"]] == [("Diet", "vegan")]
    assert (ada["locations"][0]["latitude"], ada["imHandles"][0]["handle"]) == (51.5, "@ada")
    assert relationships(api) == {
        ("Ada Lovelace", "Pupil", "Mary Somerville"),
        ("Mary Somerville", "Tutor", "Ada Lovelace"),
    }
    assert interactions(api) == {("NOTE", "Walk", 2)}
    body = {"personId": ada["id"], "relatedPersonId": people["Mary"]["id"]}
    api.ok("POST", "/api/relationships", body)
    undone = api.ok("DELETE", f"/api/imports/{response['importId']}")
    assert (undone["removed"], len(undone["kept"])) == (0, 2)


@pytest.mark.parametrize(
    ("source", "data"),
    [
        ("monica", b"{}"),
        ("monica", b'{"account": {"data": [1, {"type": {}, "values": 3}]}}'),
        ("monica", b"[" * 100_000),
        ("monica", b"SELECT 1;"),
        ("monica", b"'" * 100_000),
        ("nametag", b'{"people": {}}'),
        ("nametag", b"\xff\xfe"),
    ],
)
def test_other_files_are_refused(api: Client, source: str, data: bytes) -> None:
    assert import_file(api, source, data, 400)["details"][0]["field"] == "file"


def test_invalid_records_do_not_stop_the_others(api: Client) -> None:
    contact = {"uuid": ADA, "properties": {"first_name": "Ada", "tags": {}, "birthdate": 3, "avatar": []}, "data": 5}
    odd = {"uuid": [], "properties": {"first_name": {}}, "data": [{"type": "call", "values": [3, {}]}]}
    document: Any = {"account": {"data": [monica_list("contact", contact, odd, 3), monica_list("relationship", {}, 3)]}}
    assert counts(import_file(api, "monica", orjson.dumps(document))) == (1, 0, 0, 1)
    people: list[Any] = [
        {"name": "Ada", "groups": 3, "emails": [3, {"email": {}}], "importantDates": "x", "relationships": [{}]},
        3,
    ]
    other: Any = {"exportDate": 1, "people": people, "relationshipTypes": [{}], "journalEntries": [{"peopleIds": [[]]}]}
    assert counts(import_file(api, "nametag", orjson.dumps(other)))[3] == 0


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t (a) VALUES " + "(" * 200_000,
        "INSERT INTO t (a) VALUES (1" + "," * 200_000,
        "INSERT INTO t (a) VALUES (" + "\n;a" * 100_000 + "'",
    ],
)
def test_statements_are_read_in_one_pass(text: str) -> None:
    assert not read_tables(io.BytesIO(text.encode()), frozenset({"t"}))["t"]
