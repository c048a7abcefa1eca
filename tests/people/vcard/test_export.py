"""The export of all people as vCard, and its import into another account."""

from typing import Any

import pytest
import vobject

from people.models import Person
from people.vcard import read_cards
from tests.client import Client, client_of
from tests.people.importing.test_vcard_import import ADA, get_only_person
from tests.people.importing.uploads import counts, import_vcards, vcard
from tests.people.steps import create_person, list_people
from tests.queries import count_queries

pytestmark = pytest.mark.sqlite_suffices


def export(client: Client, query: str = "", **headers: Any) -> Any:
    response: Any = client.get(f"/api/vcard/export{query}", **headers)
    response.body = b"".join(response.streaming_content) if response.streaming else response.content
    return response


def without_account_values(people: Any) -> Any:
    """The people without the values that belong to their account."""
    own = {"id", "personId", "createdAt", "updatedAt", "groupIds", "photo", "color"}
    if isinstance(people, list):
        return [without_account_values(entry) for entry in people]
    if isinstance(people, dict):
        return {key: without_account_values(value) for key, value in people.items() if key not in own}
    return people


FULL_BODY = {
    "name": "Ana",
    "surname": "Gómez",
    "secondLastName": "Pérez",
    "middleName": "María; de",
    "nickname": "Anita, la",
    "prefix": "Dra.",
    "suffix": "PhD",
    "displayNameOverride": "Ana",
    "organization": "ACME, Inc.",
    "jobTitle": "Chief",
    "gender": "female",
    "anniversary": "2001-02-03",
    "lastContact": "2026-01-02",
    "notes": "one\ntwo, \\three; — ñ😀",
    "phoneNumbers": [{"type": "mobile", "number": "+34 600 000 000"}, {"type": "work fax", "number": "123"}],
    "emails": [{"type": "Casa", "email": "ana@example.org"}],
    "addresses": [{"type": "home", "streetLine2": "Piso 2", "locality": "Madrid", "country": "ES"}],
    "urls": [{"type": "homepage", "url": "https://example.org/?a=1,2;3"}],
    "imHandles": [{"type": "work", "protocol": "Telegram", "handle": "@ana"}],
    "locations": [{"type": "other", "latitude": 40.4168, "longitude": -3.7038, "label": "Sol; centro"}],
    "customFields": [{"key": "Talla", "value": "M\n2", "type": "ropa"}, {"key": "K", "value": "V"}],
    "importantDates": [
        {"type": "BIRTHDAY", "date": "2000-02-29", "yearUnknown": True},
        {"title": "Boda", "date": "2010-05-06"},
        {"type": "NAMEDAY", "date": "1999-07-26"},
    ],
}

#: Properties in the syntax of vCard 2.1, which the export converts.
VERSION_21_CARD = b"""BEGIN:VCARD
VERSION:2.1
N:Babbage;Charles
X-MS-TEL;VOICE;CALLBACK:555
LABEL;WORK;ENCODING=QUOTED-PRINTABLE:222 Broadway=0D=0A=
New York
KEY;X509;ENCODING=BASE64:
 MIIB/jCCAWugAwIBAgIQDdkWkvA2

END:VCARD
"""


def photo_of(client: Client, person: Any) -> bytes | None:
    if not person["photo"]:
        return None
    content: bytes = client.get(f"/api/photos/{person['id']}").getvalue()
    return content


@pytest.mark.parametrize("version", ["4.0", "3.0"])
def test_export_and_import_into_another_account_lose_nothing(api: Client, stranger: Client, version: str) -> None:
    api.ok("POST", "/api/people", FULL_BODY, status=201)
    import_vcards(api, ADA)
    response = export(api, f"?version={version}")
    assert response["Content-Type"] == "text/vcard; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    assert response.body.count(f"VERSION:{version}".encode()) == 2
    assert counts(import_vcards(stranger, response.body)) == (2, 0, 0, 0)
    assert without_account_values(list_people(stranger)) == without_account_values(list_people(api))
    photos = [[photo_of(client, person) for person in list_people(client)] for client in (api, stranger)]
    assert photos[0] == photos[1]
    assert [bool(photo) for photo in photos[1]] == [True, False]


@pytest.mark.both_databases
@pytest.mark.parametrize("version", ["4.0", "3.0"])
def test_an_export_imported_into_its_own_account_changes_nothing(api: Client, version: str) -> None:
    api.ok("POST", "/api/people", FULL_BODY, status=201)
    import_vcards(api, ADA)
    import_vcards(api, VERSION_21_CARD)
    body = export(api, f"?version={version}").body
    before = list_people(api)
    assert counts(import_vcards(api, body)) == (0, 0, 3, 0)
    assert list_people(api) == before


def test_other_libraries_read_the_export(api: Client) -> None:
    import_vcards(api, ADA)
    [card] = vobject.readComponents(export(api, "?version=3.0").body.decode())
    assert (card.n.value.given, card.n.value.family) == ("Ada", "Lovelace")
    assert card.photo.value.startswith(b"\xff\xd8")
    assert card.contents["x-unknown"][0].value == "kept, as it is"


def test_person_has_a_uid_from_its_creation(api: Client) -> None:
    person = api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]
    [card] = read_cards(export(api).body)
    assert card.card
    assert person["uid"] == card.card.uid == f"urn:uuid:{person['id']}"
    import_vcards(api, vcard("FN:Bob"))
    assert all(person["uid"] == f"urn:uuid:{person['id']}" for person in list_people(api))


@pytest.mark.both_databases
def test_uid_of_a_card_replaces_the_generated_one(api: Client) -> None:
    """The export of that one person still contains it."""
    person = api.ok("POST", "/api/people", {"name": "Ada", "emails": [{"email": "ada@example.org"}]}, status=201)
    exported = export(api).body
    card = vcard("UID:phone-1", "FN:Ada", "EMAIL:ada@example.org", "TITLE:Analyst")
    assert [counts(import_vcards(api, card)) for _ in range(2)] == [(0, 1, 0, 0), (0, 0, 1, 0)]
    ada = get_only_person(api)
    assert (ada["id"], ada["uid"], ada["jobTitle"]) == (person["person"]["id"], "phone-1", "Analyst")
    assert counts(import_vcards(api, vcard("UID:phone-1", "FN:Ada", "EMAIL:ada@example.org", "TITLE:Boss"))) == (
        0,
        1,
        0,
        0,
    )
    assert counts(import_vcards(api, exported)) == (0, 1, 0, 0)
    assert [one["id"] for one in list_people(api)] == [ada["id"]]


def test_unchanged_export_is_304(api: Client) -> None:
    import_vcards(api, vcard("FN:Ada"))
    etag = export(api)["ETag"]
    repeated = export(api, HTTP_IF_NONE_MATCH=etag)
    assert (repeated.status_code, repeated.body) == (304, b"")
    assert export(api, "?version=3.0")["ETag"] != etag
    import_vcards(api, vcard("FN:Bob"))
    assert export(api, HTTP_IF_NONE_MATCH=etag).status_code == 200


@pytest.mark.parametrize("accept", ["text/vcard", "application/json", "text/html"])
def test_accept_header_is_ignored(api: Client, accept: str) -> None:
    assert export(api, HTTP_ACCEPT=accept)["Content-Type"].startswith("text/vcard")


def test_unknown_versions_are_refused(api: Client) -> None:
    response = export(api, "?version=2.1")
    assert response.status_code == 400
    assert response.json()["details"][0]["field"] == "version"


def test_export_contains_no_foreign_and_no_deleted_people(api: Client, stranger: Client) -> None:
    import_vcards(api, ADA)
    assert export(stranger).body == b""
    api.ok("DELETE", f"/api/people/{get_only_person(api)['id']}", {})
    assert export(api).body == b""


@pytest.mark.both_databases
def test_number_of_queries_does_not_grow(api: Client, alice: Any) -> None:
    import_vcards(api, vcard("FN:P", "UID:p", "CATEGORIES:G", "BDAY:2000-01-01"))
    before = count_queries(export, client_of(alice))
    import_vcards(api, b"".join(vcard(f"FN:P{n}", f"UID:{n}", "CATEGORIES:G", "BDAY:2000-01-01") for n in range(49)))
    assert Person.unscoped.count() == 50
    assert count_queries(export, client_of(alice)) == before


@pytest.mark.both_databases
def test_export_of_some_people(api: Client, stranger: Client) -> None:
    foreign = create_person(stranger, "Mallory")
    group = api.ok("POST", "/api/groups", {"name": "Friends"}, status=201)["group"]["id"]
    ada, bob, gone, _ = (create_person(api, name, groupIds=[group]) for name in ("Ada", "Bob", "Gone", "Other"))
    api.ok("POST", f"/api/people/{ada}/important-dates", {"type": "BIRTHDAY", "date": "1815-12-10"})
    api.ok("DELETE", f"/api/people/{gone}")

    def names(query: str) -> list[str]:
        body = export(api, f"?{query}").body.decode()
        assert body.count("CATEGORIES:Friends") == body.count("BEGIN:VCARD")
        assert body.count("BDAY") == body.count("FN:Ada")
        return [line.removeprefix("FN:") for line in body.splitlines() if line.startswith("FN:")]

    assert names(f"version=3.0&personIds={bob},{ada},{gone},{foreign},nonsense") == ["Ada", "Bob"]
    assert names(f"personIds={foreign}") == names("personIds=nonsense") == []
    assert names("personIds=") == ["Ada", "Bob", "Other"]
