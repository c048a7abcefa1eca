"""People through the API: create, read, update, delete and restore."""

from accounts.models import User
from people.models import Person
from tests.client import Client

FULL_BODY = {
    "name": "Ada",
    "surname": "Lovelace",
    "middleName": "Augusta",
    "nickname": "Countess",
    "anniversary": "1835-07-08",
    "notes": "  First *programmer*\r\n",
    "phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0000"}, {"number": "110 22 33"}],
    "emails": [{"type": "work", "email": "Ada@Example.org"}],
    "addresses": [{"type": "home", "streetLine1": "St James's Square 12", "locality": "London"}],
    "urls": [{"type": "blog", "url": "https://example.org"}],
    "imHandles": [{"type": "matrix", "handle": "@ada:example.org"}],
    "locations": [{"type": "birth", "latitude": 51.5, "longitude": 0, "label": "London"}],
    "customFields": [{"key": "Machine", "value": ""}],
    "importantDates": [{"type": "birthday", "date": "1815-12-10"}],
}


def test_create_returns_the_whole_person(api: Client) -> None:
    person = api.ok("post", "/api/people", FULL_BODY, status=201)["person"]
    assert person == api.ok("get", f"/api/people/{person['id']}")["person"]
    assert person["displayName"] == 'Ada Augusta "Countess" Lovelace'
    assert person["notes"] == "First *programmer*"
    assert [(entry["type"], entry["number"]) for entry in person["phoneNumbers"]] == [
        ("mobile", "+44 20 7946 0000"),
        ("other", "110 22 33"),
    ]
    assert person["imHandles"][0]["protocol"] == "matrix"
    assert person["customFields"][0]["type"] is None
    assert person["addresses"][0]["latitude"] is None
    assert person["importantDates"][0]["date"] == "1815-12-10T00:00:00.000Z"
    assert person["contactReminderEnabled"] is False
    assert person["cardDavSyncEnabled"] is True
    assert person["deletedAt"] is None


def test_update_keeps_what_it_does_not_name(api: Client) -> None:
    before = api.ok("post", "/api/people", FULL_BODY, status=201)["person"]
    after = api.ok("put", f"/api/people/{before['id']}", {"surname": "King", "nickname": ""})["person"]
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"surname", "nickname", "displayName", "updatedAt"}
    assert after["nickname"] is None


def test_put_of_what_was_read_changes_nothing_but_the_time(api: Client) -> None:
    before = api.ok("post", "/api/people", FULL_BODY, status=201)["person"]
    after = api.ok("put", f"/api/people/{before['id']}", before)["person"]
    assert {key for key in before if before[key] != after[key]} <= {"updatedAt", "importantDates"}
    assert [date["id"] for date in before["importantDates"]] == [date["id"] for date in after["importantDates"]]


def test_the_trash(api: Client, alice: User) -> None:
    person = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]
    path = f"/api/people/{person['id']}"
    assert api.call("post", f"{path}/restore").json()["code"] == "not_deleted"
    assert api.call("delete", f"{path}/permanent").json()["code"] == "not_deleted"
    assert "message" in api.ok("delete", path)
    assert api.call("get", path).status_code == 404
    assert api.ok("get", "/api/people")["people"] == []
    assert api.ok("post", f"{path}/restore")["person"]["deletedAt"] is None
    api.ok("delete", path)
    assert api.ok("delete", f"{path}/permanent") == {"success": True}
    assert api.call("post", f"{path}/restore").status_code == 404
    assert not Person.objects.owned_by(alice).exists()
