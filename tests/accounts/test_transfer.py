"""Export of an account and import into another: complete, lossless and repeatable."""

import base64
import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import time_machine
from django.core.files.storage import default_storage
from django.test import override_settings

from accounts.models import User
from accounts.transfer.run import derived_id
from accounts.transfer.sections import excluded_tables, sections
from contacts_project.kernel.ids import new_id
from people.models import LookupKey, Person, RelationshipType
from relationships.models import Relationship
from tests.builders import make_user, set_plan_limits
from tests.client import Client, client_of
from tests.pictures import picture, upload
from tests.relationships.invariants import check_invariants
from tests.row_factory import account_models

pytestmark = pytest.mark.sqlite_suffices

TIMES = {"createdAt", "deletedAt", "discoveredAt"}


def export_document(client: Client) -> dict[str, Any]:
    document: dict[str, Any] = client.ok("GET", "/api/user/export")
    return document


def normalize_document(document: dict[str, Any]) -> Any:
    """The document with ids replaced by numbers in order of appearance, and times by whether they are set."""
    numbers: dict[str, int] = {}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        if key in TIMES:
            return value is not None
        if isinstance(value, str) and (key == "id" or key.endswith(("Id", "Ids"))):
            return numbers.setdefault(value, len(numbers))
        return value

    return walk(document)


@pytest.fixture(scope="module")
def shared_media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="module")
def full_account(shared_media: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[User]:
    """An account with a record of every kind, committed once; each test rolls back its changes to it."""
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=shared_media):
        owner = make_user("full@example.org", name="Alice")
        create_one_of_everything(client_of(owner), owner)
    yield owner
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=shared_media):
        owner.delete()


@pytest.fixture
def full(full_account: User, shared_media: Path, db: None, settings: Any) -> Client:
    """The client of `full_account`."""
    settings.MEDIA_ROOT = shared_media
    return client_of(User.objects.get(pk=full_account.pk))


def create_one_of_everything(api: Client, owner: User) -> None:
    """Create records of every kind through the API."""
    family = api.ok("POST", "/api/groups", {"name": "Family", "description": "kin", "color": "#112233"}, status=201)
    old = api.ok("POST", "/api/groups", {"name": "Old"}, status=201)["group"]["id"]
    size = {"name": "Size", "type": "SELECT", "options": ["S", "M"]}
    template = api.ok("POST", "/api/custom-field-templates", size, status=201)["customFieldTemplate"]["id"]
    types = {row["name"]: row["id"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    api.ok("PUT", f"/api/relationship-types/{types['FRIEND']}", {"name": "FRIEND", "label": "Pal", "color": "#ABCDEF"})
    api.ok("DELETE", f"/api/relationship-types/{types['COLLEAGUE']}")
    api.ok("POST", "/api/relationship-types", {"name": "mentor", "label": "Mentor", "inverseLabel": "Mentee"})
    for name, inverse in (("Boss", "Report"), ("Tutor", "Pupil")):
        kind = {"name": name, "label": name, "inverseLabel": inverse}
        kind = api.ok("POST", "/api/relationship-types", kind)["relationshipType"]
        api.ok("DELETE", f"/api/relationship-types/{kind['inverseId']}")
    api.ok("DELETE", f"/api/relationship-types/{kind['inverseId']}/permanent")
    ada = {
        "name": "Ada",
        "surname": "Lovelace",
        "notes": "# Notes\n\nüñí 👩‍🚀",
        "anniversary": "1835-07-08",
        "groupIds": [family["group"]["id"], old],
        "relationshipToUserId": types["FRIEND"],
        "phoneNumbers": [{"type": "home", "number": "+47 22 22 22 22"}],
        "emails": [{"email": "ada@example.org"}],
        "addresses": [{"streetLine1": "Road 1", "country": "NO"}],
        "urls": [{"url": "https://example.org"}],
        "imHandles": [{"type": "xmpp", "handle": "ada"}],
        "locations": [{"latitude": 59.9, "longitude": 10.7, "label": "Oslo"}],
        "customFields": [{"key": "Shoe", "value": ""}],
        "customFieldValues": [{"templateId": template, "value": "M"}],
        "importantDates": [
            {"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": True, "extraLeadDays": [14, 3]}
        ],
        "contactReminderEnabled": True,
        "contactReminderInterval": 2,
    }
    ada_id = api.ok("POST", "/api/people", ada, status=201)["person"]["id"]
    upload(api, f"/api/people/{ada_id}/photo", picture(color="red"))
    upload(api, "/api/user/photo", picture(color="blue"))
    bo = api.ok("POST", "/api/people", {"name": "Bo"}, status=201)["person"]["id"]
    gone = api.ok("POST", "/api/people", {"name": "Gone"}, status=201)["person"]["id"]
    relationship = {"personId": ada_id, "relatedPersonId": bo, "relationshipTypeId": types["PARENT"], "notes": "see"}
    api.ok("POST", "/api/relationships", relationship)
    api.ok("POST", "/api/relationships", {"personId": bo, "relatedPersonId": gone, "relationshipTypeId": None})
    dated = api.ok("POST", f"/api/people/{bo}/important-dates", {"title": "Met", "date": "2001-02-03"})
    api.ok("DELETE", f"/api/people/{bo}/important-dates/{dated['importantDate']['id']}")
    api.ok("POST", "/api/people/duplicates/dismiss", {"personAId": ada_id, "personBId": bo})
    api.ok("DELETE", f"/api/groups/{old}")
    api.ok("DELETE", f"/api/people/{gone}")
    api.ok("PUT", "/api/user/timezone", {"timezone": "Europe/Oslo"})
    api.ok("PUT", "/api/user/quiet-hours", {"from": "22:00", "to": "07:00"})
    api.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "all"})
    api.ok("PUT", "/api/user/language", {"language": "nb-NO"})
    api.ok("PUT", "/api/user/name-sort", {"nameSort": "SURNAME"})
    api.ok("PUT", "/api/user/saved-lists", {"savedLists": [{"name": "Neglected", "query": "sort=lastContact"}]})
    api.ok("PUT", "/api/user/me-person", {"personId": ada_id})
    api.ok("PUT", "/api/user/profile", {"name": "Alice", "surname": "A.", "nickname": "Al", "email": owner.email})
    card = b"BEGIN:VCARD\r\nVERSION:4.0\r\nUID:u1\r\nFN:Cy\r\nEND:VCARD\r\n"
    response = api.generic("POST", "/api/vcard/upload", card, "text/vcard")
    assert response.status_code == 200, response.content


@pytest.fixture
def importing_client(db: None) -> Client:
    return client_of(make_user("other@example.org", name="Other", language="de-DE"))


def test_an_export_of_before_keeps_which_dates_are_reminded_of(importing_client: Client) -> None:
    importing_client.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "birthdays"})
    document = export_document(importing_client)
    assert document["account"][0].pop("dateReminderDefault") == "birthdays"
    importing_client.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "all"})
    importing_client.ok("POST", "/api/user/import", document)
    assert export_document(importing_client)["account"][0]["dateReminderDefault"] == "all"


@pytest.mark.both_databases
def test_who_the_user_is_comes_along_from_the_trash_too(full: Client, importing_client: Client) -> None:
    def me(client: Client) -> Any:
        return client.ok("GET", "/api/user/profile")["user"]["mePersonId"]

    document = export_document(full)
    full.ok("DELETE", f"/api/people/{me(full)}")
    in_trash = export_document(full)
    assert in_trash["account"][0]["mePersonId"] == document["account"][0]["mePersonId"]
    importing_client.ok("POST", "/api/user/import", in_trash)
    assert me(importing_client) is None
    (ada,) = [
        row["id"] for row in importing_client.ok("GET", "/api/deleted?type=people")["deleted"] if row["name"] == "Ada"
    ]
    importing_client.ok("POST", f"/api/people/{ada}/restore")
    assert me(importing_client) == ada
    # Somebody else is named here meanwhile; a document that names nobody leaves it so.
    bo = importing_client.ok("GET", "/api/people/search?q=Bo")["people"][0]["id"]
    importing_client.ok("PUT", "/api/user/me-person", {"personId": bo})
    nobody = {**document, "account": [{**document["account"][0], "mePersonId": None}]}
    importing_client.ok("POST", "/api/user/import", nobody)
    assert me(importing_client) == bo
    receipt = importing_client.ok("POST", "/api/user/import", document)
    assert (receipt["updated"], me(importing_client)) == (1, ada)


def test_every_owned_table_is_exported_or_excluded_with_a_reason() -> None:
    """If this fails for a new table, register it in a section or leave it out (accounts.transfer.sections)."""
    carried = {model._meta.label for section in sections() for model in section.models}
    tables = {model._meta.label for model in account_models() if model._meta.app_label != "admin"}
    assert tables - carried == set(excluded_tables())
    assert all(excluded_tables().values())


def test_export_and_import_lose_nothing(full: Client, importing_client: Client) -> None:
    document = export_document(full)
    receipt = importing_client.ok("POST", "/api/user/import", document)
    assert receipt["success"], receipt["errorMessages"]
    assert receipt["errors"] == 0
    assert normalize_document(export_document(importing_client)) == normalize_document(document)
    names = [person["name"] for person in importing_client.ok("GET", "/api/people")["people"]]
    assert names == ["Ada", "Bo"]


def test_api_returns_the_same_for_both_accounts(full: Client, importing_client: Client) -> None:
    importing_client.ok("POST", "/api/user/import", export_document(full))
    for path in (
        "/api/people?includeAll=true",
        "/api/groups",
        "/api/custom-field-templates",
        "/api/people/search-index",
    ):
        assert strip_ids_and_times(importing_client.ok("GET", path)) == strip_ids_and_times(full.ok("GET", path)), path
    for path in ("/api/relationships", "/api/relationship-types"):
        lists = [next(iter(client.ok("GET", path).values())) for client in (full, importing_client)]
        assert sorted(map(str, map(strip_ids_and_times, lists[0]))) == sorted(
            map(str, map(strip_ids_and_times, lists[1]))
        ), path


def strip_ids_and_times(value: Any) -> Any:
    """A response without ids, times and names of files, which contain the id of the owner."""
    if isinstance(value, dict):
        return {
            key: strip_ids_and_times(inner)
            for key, inner in value.items()
            if key not in {"id", "photo", "createdAt", "updatedAt", "deletedAt"} and not key.endswith(("Id", "Ids"))
        }
    return [strip_ids_and_times(inner) for inner in value] if isinstance(value, list) else value


def test_a_second_import_changes_nothing(full: Client, importing_client: Client) -> None:
    document = export_document(full)
    first = importing_client.ok("POST", "/api/user/import", document)
    before = export_document(importing_client)
    second = importing_client.ok("POST", "/api/user/import", document)
    assert (second["imported"], second["updated"], second["errors"]) == (0, 0, 0)
    assert second["skipped"] == first["imported"] + first["updated"] + first["skipped"]
    assert {**export_document(importing_client), "exportedOn": 0} == {**before, "exportedOn": 0}


def test_importing_into_the_same_account_duplicates_nothing(full: Client) -> None:
    document = export_document(full)
    receipt = full.ok("POST", "/api/user/import", document)
    assert (receipt["imported"], receipt["updated"], receipt["errors"]) == (0, 0, 0)
    assert {**export_document(full), "exportedOn": 0} == {**document, "exportedOn": 0}


def test_validate_returns_the_receipt_of_an_import_and_writes_nothing(full: Client, importing_client: Client) -> None:
    document, before = export_document(full), export_document(importing_client)
    document["people"][0]["name"] = ""
    files = default_storage.listdir("photos") if default_storage.exists("photos") else None
    preview = importing_client.ok("POST", "/api/user/import/validate", document)
    assert {**export_document(importing_client), "exportedOn": 0} == {**before, "exportedOn": 0}
    assert files == (default_storage.listdir("photos") if default_storage.exists("photos") else None)
    assert preview == importing_client.ok("POST", "/api/user/import", document)


def test_an_invalid_record_is_reported_and_the_others_are_imported(full: Client, importing_client: Client) -> None:
    document = export_document(full)
    document["people"][1]["emails"] = [{"email": "nonsense"}]
    document["people"].append("not a record")
    receipt = importing_client.ok("POST", "/api/user/import", document)
    assert receipt["success"] is False
    wrong = [result for result in receipt["results"] if result["status"] == "error"]
    assert [(result["section"], result["index"]) for result in wrong] == [
        ("people", 1),
        ("people", 3),
        ("relationships", 0),
        ("relationships", 1),
        ("duplicateDismissals", 0),
    ]
    assert "emails.0.email" in wrong[0]["reason"]
    assert len(receipt["errorMessages"]) == receipt["errors"] == 5
    assert [person["name"] for person in importing_client.ok("GET", "/api/people")["people"]] == ["Ada"]


def test_an_export_contains_no_secret(full: Client, full_account: User) -> None:
    alice = User.objects.get(pk=full_account.pk)
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": "Correct-Horse-7"})
    text = orjson.dumps(export_document(full)).decode()
    alice.refresh_from_db()
    assert alice.password not in text
    assert full.bearer not in text
    assert "password" not in text.lower()


def test_photos_are_imported_byte_for_byte(full: Client, importing_client: Client) -> None:
    importing_client.ok("POST", "/api/user/import", export_document(full))
    ada = [client.ok("GET", "/api/people")["people"][0]["id"] for client in (full, importing_client)]
    photos = [
        client.call("GET", f"/api/photos/{key}").getvalue()
        for client, key in zip((full, importing_client), ada, strict=True)
    ]
    assert photos[0] == photos[1]
    assert (
        importing_client.call("GET", "/api/photos/user").getvalue() == full.call("GET", "/api/photos/user").getvalue()
    )


@pytest.mark.both_databases
def test_invalid_photo_is_refused(full: Client, importing_client: Client) -> None:
    document = export_document(full)
    document["people"][0]["photo"] = base64.b64encode(b"GIF89a nonsense").decode()
    receipt = importing_client.ok("POST", "/api/user/import", document)
    assert receipt["results"][-1]["status"]
    assert "photo_of_record_left_out" in [result.get("code") for result in receipt["results"]]
    assert len(receipt["errorMessages"]) == receipt["errors"] == 1


def test_records_found_by_name_are_not_duplicated(full: Client, importing_client: Client) -> None:
    group = importing_client.ok("POST", "/api/groups", {"name": "FAMILY"}, status=201)["group"]["id"]
    importing_client.ok("POST", "/api/people", {"name": "Zoe"}, status=201)
    importing_client.ok("POST", "/api/user/import", export_document(full))
    assert [row["name"] for row in importing_client.ok("GET", "/api/groups")["groups"]] == ["FAMILY"]
    ada = importing_client.ok("GET", "/api/people/search?q=Ada")["people"][0]
    assert ada["groupIds"] == [group]
    names = [row["name"] for row in importing_client.ok("GET", "/api/relationship-types")["relationshipTypes"]]
    assert len(names) == len(set(names))


@pytest.mark.both_databases
def test_plan_limits_apply_to_an_import(full: Client, importing_client: Client, settings: Any) -> None:
    set_plan_limits(settings, people=1, groups=1, reminders=5, templates=1)
    receipt = importing_client.ok("POST", "/api/user/import", export_document(full))
    reasons = [(result["code"], result.get("params")) for result in receipt["results"] if result["status"] == "error"]
    assert ("plan_people", {"limit": 1}) in reasons
    assert Person.objects.owned_by(User.objects.get(email="other@example.org")).active().count() == 1


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "format"),
        ({}, "format"),
        ({"format": "contact-network"}, "version"),
        ({"format": "contact-network", "version": 2}, "version"),
        ({"format": "contact-network", "version": 1, "people": {}}, "people"),
    ],
)
def test_a_document_of_another_format_is_400(api: Client, document: Any, field: str) -> None:
    for path in ("/api/user/import", "/api/user/import/validate"):
        assert api.ok("POST", path, document, status=400)["details"][0]["field"] == field


def test_document_has_at_most_20_mib(api: Client, settings: Any) -> None:
    body = {"format": "contact-network", "version": 1, "filling": "x" * (2 * 1024 * 1024)}
    api.ok("POST", "/api/user/import", body)
    settings.MAX_IMPORT_BYTES = 1024
    assert api.ok("POST", "/api/user/import", body, status=413)["code"] == "too_large"


@pytest.mark.both_databases
def test_imported_people_are_in_search_and_upcoming(full: Client, importing_client: Client) -> None:
    importing_client.ok("POST", "/api/user/import", export_document(full))
    owner = User.objects.get(email="other@example.org")
    assert LookupKey.objects.filter(owner=owner, key="ada@example.org").exists()
    dates = importing_client.ok("GET", "/api/upcoming?days=366")["events"]
    assert [event["title"] for event in dates if event["kind"] == "important_date"]


@pytest.mark.both_databases
def test_imported_relationships_and_types_have_their_inverses(full: Client, importing_client: Client) -> None:
    importing_client.ok("POST", "/api/user/import", export_document(full))
    owner = User.objects.get(email="other@example.org")
    for row in Relationship.objects.owned_by(owner).select_related("inverse"):
        assert row.inverse.inverse_id == row.pk
        assert (row.inverse.person_id, row.inverse.related_person_id) == (row.related_person_id, row.person_id)
    for kind in RelationshipType.objects.owned_by(owner).select_related("inverse"):
        assert kind.inverse is None or kind.inverse.inverse_id == kind.pk
    check_invariants(owner)


@pytest.mark.both_databases
def test_existing_type_gets_the_imported_inverse(full: Client, importing_client: Client) -> None:
    types = {
        row["name"]: row["id"] for row in importing_client.ok("GET", "/api/relationship-types")["relationshipTypes"]
    }
    for name in ("CHILD", "FRIEND"):
        importing_client.ok("DELETE", f"/api/relationship-types/{types[name]}")
    importing_client.ok("DELETE", f"/api/relationship-types/{types['CHILD']}/permanent")
    importing_client.ok("POST", "/api/people", {"name": "Zoe"}, status=201)
    importing_client.ok("POST", "/api/user/import", export_document(full))
    after = {row["name"]: row for row in importing_client.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    assert after["CHILD"]["inverseId"] == after["PARENT"]["id"] == types["PARENT"]
    assert len(importing_client.ok("GET", "/api/relationships")["relationships"]) == 2
    check_invariants(User.objects.get(email="other@example.org"))


@pytest.mark.both_databases
def test_an_imported_relationship_restores_its_type_from_the_trash(full: Client, full_account: User) -> None:
    document = export_document(full)
    for person in full.ok("GET", "/api/people")["people"]:
        full.ok("DELETE", f"/api/people/{person['id']}")
        full.ok("DELETE", f"/api/people/{person['id']}/permanent")
    for row in full.ok("GET", "/api/relationship-types")["relationshipTypes"]:
        full.ok("DELETE", f"/api/relationship-types/{row['id']}")
    full.ok("POST", "/api/user/import", document)
    names = {row["name"] for row in full.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    assert names == {"PARENT", "CHILD", "FRIEND"}
    check_invariants(full_account)


def test_export_reads_in_a_number_of_queries_that_does_not_grow(
    api: Client, alice: User, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for number in (1, 9):
        for index in range(number):
            api.ok("POST", "/api/people", {"name": f"P{index}"}, status=201)
        with CaptureQueriesContext(connection) as queries:
            export_document(api)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_unchanged_export_is_304(api: Client) -> None:
    response = api.call("GET", "/api/user/export")
    assert response["Content-Disposition"].startswith("attachment")
    again = api.call("GET", "/api/user/export", HTTP_IF_NONE_MATCH=response["ETag"])
    assert (again.status_code, again.content) == (304, b"")


def test_exports_with_one_etag_are_equal_byte_for_byte(api: Client) -> None:
    """A strong ETag names the bytes (RFC 9110, section 8.8.1). The document says on which day it was made."""
    exports: dict[str, bytes] = {}
    for day, hour in ((1, 8), (1, 20), (2, 8)):
        with time_machine.travel(dt.datetime(2026, 5, day, hour, tzinfo=dt.UTC), tick=False):
            response = api.call("GET", "/api/user/export")
        body = b"".join(response.streaming_content)
        assert exports.setdefault(response["ETag"], body) == body
    assert [orjson.loads(body)["exportedOn"] for body in exports.values()] == ["2026-05-01", "2026-05-02"]


def test_derived_ids_keep_their_order_and_differ_by_account() -> None:
    first, second = sorted(new_id() for _ in range(2))
    owner, stranger = new_id(), new_id()
    assert derived_id(owner, first) < derived_id(owner, second)
    assert derived_id(owner, first) == derived_id(owner, first) != derived_id(stranger, first)
    assert derived_id(owner, first).version == 7


def test_nobody_reads_another_accounts_records_by_importing_their_ids(full: Client, importing_client: Client) -> None:
    """A record with the id of another account's row gets a new id; that row is neither shown nor changed."""
    before = export_document(full)
    document = export_document(full)
    for person in document["people"]:
        person["name"] = "Taken"
    importing_client.ok("POST", "/api/user/import", document)
    assert {**export_document(full), "exportedOn": 0} == {**before, "exportedOn": 0}


@pytest.mark.both_databases
def test_dates_with_the_same_id_are_imported_separately(full: Client, importing_client: Client) -> None:
    document = export_document(full)
    ada = document["people"][0]
    date = {**ada["importantDates"][0], "type": None, "title": "Again"}
    ada["importantDates"].append(date)
    document["people"].append({**ada, "id": str(new_id()), "name": "Twin"})
    receipt = importing_client.ok("POST", "/api/user/import", document)
    assert receipt["errors"] == 0, receipt["errorMessages"]
    people = importing_client.ok("GET", "/api/people?includeAll=true")["people"]
    assert {person["name"]: len(person["importantDates"]) for person in people} == {"Ada": 2, "Bo": 0, "Twin": 2}


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-14:00", "soon", 5, "0001-01-01T00:00:00Z", "9999-01-01"])
def test_impossible_times_are_refused_or_clamped(importing_client: Client, moment: Any) -> None:
    person = {"id": str(new_id()), "name": "Ada", "createdAt": moment, "contactReminderEnabled": True}
    receipt = importing_client.ok(
        "POST", "/api/user/import", {"format": "contact-network", "version": 1, "people": [person]}
    )
    created = [row["createdAt"] for row in importing_client.ok("GET", "/api/people")["people"]]
    assert (receipt["imported"], len(created)) in {(1, 1), (0, 0)}
    assert all("1970" <= text < "2100" for text in created)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "section", [section.name for section in sections() if section.is_imported and section.name != "account"]
)
def test_invalid_records_are_errors(importing_client: Client, section: str) -> None:
    nonsense: list[Any] = [None, [], "x", {}, {"id": 5}, {"id": "x" * 36}, {"id": str(new_id())}]
    for record in nonsense:
        document = {"format": "contact-network", "version": 1, section: [record]}
        receipt = importing_client.ok("POST", "/api/user/import", document)
        assert (receipt["success"], receipt["errors"], receipt["imported"]) == (False, 1, 0), record
