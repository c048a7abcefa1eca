"""The upload of a file of cards into pending imports."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from carddav.models import PendingImport
from people.models import Person
from tests.carddav.builders import make_pending
from tests.client import Client
from tests.people.importing.uploads import counts, import_vcards, vcard

ADA = b"BEGIN:VCARD\r\nVERSION:4.0\r\nUID:1\r\nFN:Ada\r\nEND:VCARD\r\n"
BOB = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bob\r\nEND:VCARD\r\n"
BAD = b"BEGIN:VCARD\r\nNOTE:nobody\r\nEND:VCARD\r\n"
FAMILY = b"BEGIN:VCARD\r\nFN:Family\r\nKIND:group\r\nMEMBER:urn:uuid:1\r\nEND:VCARD\r\n"


def upload(client: Client, data: bytes, status: int = 200, kind: str = "text/vcard") -> Any:
    response = client.generic("POST", "/api/vcard/upload", data, kind)
    assert response.status_code == status, response.content
    return response.json()


def test_uploaded_cards_are_pending_and_listed(api: Client) -> None:
    response = upload(api, ADA + BAD + BOB)
    assert counts(response) == (2, 0, 0, 1)
    assert [result["status"] for result in response["results"]] == ["imported", "error", "imported"]
    assert response["errorMessages"][0].startswith("Card 2: ")
    assert api.ok("GET", "/api/carddav/pending-count") == {"count": 2}
    listed = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    assert {(row["uid"], row["displayName"]) for row in listed} == {("1", "Ada"), (None, "Bob")}
    assert not Person.unscoped.exists()


def test_repeated_upload_changes_nothing(api: Client) -> None:
    upload(api, ADA + BOB)
    before = api.ok("GET", "/api/carddav/pending-imports")
    assert counts(upload(api, ADA + BOB)) == (0, 0, 2, 0)
    assert api.ok("GET", "/api/carddav/pending-imports") == before


def test_newer_card_with_the_same_uid_replaces_the_older(api: Client) -> None:
    upload(api, ADA)
    assert counts(upload(api, ADA.replace(b"Ada", b"Countess"))) == (0, 1, 0, 0)
    [row] = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    assert row["displayName"] == "Countess"


def test_cards_with_the_same_uid_in_one_file_are_both_kept(api: Client) -> None:
    doubled = ADA + ADA.replace(b"Ada", b"Countess")
    assert counts(upload(api, doubled)) == (2, 0, 0, 0)
    assert counts(upload(api, doubled)) == (0, 0, 2, 0)


def test_group_cards_are_not_pending(api: Client) -> None:
    assert counts(upload(api, FAMILY)) == (0, 0, 1, 0)
    assert api.ok("GET", "/api/carddav/pending-count") == {"count": 0}


def test_file_is_uploaded_as_a_form(api: Client) -> None:
    form = {"file": SimpleUploadedFile("a.vcf", ADA, "text/vcard")}
    assert counts(api.post("/api/vcard/upload", form).json()) == (1, 0, 0, 0)
    assert api.post("/api/vcard/upload", {"other": "x"}).status_code == 400


def test_invalid_uploads_are_refused(api: Client, settings: Any) -> None:
    assert upload(api, b"hello", 400)["details"][0]["field"] == "file"
    assert upload(api, b"", 400)["details"]
    upload(api, b"{}", 415, "application/json")
    upload(api, b"{}", 400, "nonsense/nonsense")
    settings.MAX_VCARD_BYTES = 200
    assert upload(api, ADA * 10, 413)["code"] == "too_large"


def test_pending_imports_are_hidden_from_other_accounts(api: Client, stranger: Client) -> None:
    upload(api, ADA)
    assert stranger.ok("GET", "/api/carddav/pending-imports") == {"pendingImports": []}
    assert stranger.ok("GET", "/api/carddav/pending-count") == {"count": 0}
    assert counts(upload(stranger, ADA)) == (1, 0, 0, 0)


def test_uids_of_uploads_are_compared_as_uuids(api: Client) -> None:
    uid = "0f6a3c5e-8d1b-4c2a-9e7f-1a2b3c4d5e6f"
    upload(api, vcard(f"UID:{uid}", "FN:Ada"))
    assert counts(upload(api, vcard(f"UID:URN:UUID:{uid.upper()}", "FN:Ada L"))) == (0, 1, 0, 0)
    [row] = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    assert api.ok("POST", "/api/carddav/import", {"importIds": [row["id"]]})["imported"] == 1
    assert counts(upload(api, vcard(f"UID:{uid}", "FN:Ada"))) == (0, 0, 1, 0)


def test_an_imported_contact_joins_the_groups_that_wait_for_it(api: Client) -> None:
    uid = "0f6a3c5e-8d1b-4c2a-9e7f-1a2b3c4d5e6f"
    import_vcards(api, vcard("FN:Friends", "KIND:group", f"MEMBER:urn:uuid:{uid}"))
    upload(api, vcard(f"UID:{uid.upper()}", "FN:Ada"))
    [row] = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    api.ok("POST", "/api/carddav/import", {"importIds": [row["id"]]})
    [person] = api.ok("GET", "/api/people")["people"]
    assert [group["name"] for group in person["groups"]] == ["Friends"]


def test_groups_of_google_itself_in_an_uploaded_file_make_no_group(api: Client) -> None:
    upload(api, vcard("FN:Ada", "CATEGORIES:myContacts,starred,Choir"))
    [row] = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    api.ok("POST", "/api/carddav/import", {"importIds": [row["id"]]})
    [person] = api.ok("GET", "/api/people")["people"]
    assert ([group["name"] for group in person["groups"]], person["favourite"]) == (["Choir"], True)


@pytest.mark.parametrize("whose", ["a stranger's", "nobody's", "malformed"])
def test_unknown_or_foreign_keys_are_refused(alice: User, mallory: User, api: Client, whose: str) -> None:
    mine = make_pending(alice)
    keys = {"a stranger's": make_pending(mallory).pk, "nobody's": uuid4(), "malformed": "nonsense"}
    body = {"importIds": [str(mine.pk)], "perContactGroups": {str(keys[whose]): []}}
    response = api.ok("POST", "/api/carddav/import", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [f"perContactGroups.{keys[whose]}"]
    assert PendingImport.objects.owned_by(alice).exists()


def test_groups_of_a_pending_import_that_is_not_imported_are_ignored(alice: User, api: Client) -> None:
    mine, other = make_pending(alice), make_pending(alice)
    body = {"importIds": [str(mine.pk)], "perContactGroups": {str(other.pk): []}}
    assert api.ok("POST", "/api/carddav/import", body)["imported"] == 1
