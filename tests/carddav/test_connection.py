"""The connection: created, changed, removed, exported and imported; its password is in no response. Without one, writes
send no statement to carddav (User.is_mirrored)."""

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from carddav.models import Connection, Mapping, PendingImport
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.client import Client

PATH = "/api/carddav/connection"
BODY = {"serverUrl": "https://dav.example.org/", "username": "ada", "password": "  secret "}


def test_new_connection_has_defaults_and_hides_its_password(api: Client, alice: User) -> None:
    made = api.ok("POST", PATH, BODY)["connection"]
    assert {key: made[key] for key in made if key not in {"id", "createdAt", "updatedAt"}} == {
        "serverUrl": "https://dav.example.org/",
        "username": "ada",
        "provider": None,
        "syncEnabled": True,
        "autoExportNew": True,
        "autoSyncInterval": 43200,
        "importMode": "manual",
        "cardDavNameFormat": "FULL",
        "addressBookUrl": None,
        "addressBookName": None,
        "lastSyncAt": None,
        "lastError": None,
        "lastErrorAt": None,
        "heldBack": 0,
    }
    assert api.ok("GET", PATH) == {"connection": made}
    assert Connection.objects.owned_by(alice).get().password == "  secret "


def test_account_has_one_connection(api: Client, stranger: Client) -> None:
    assert stranger.call("GET", PATH).status_code == 404
    api.ok("POST", PATH, BODY)
    assert api.call("POST", PATH, BODY).status_code == 409
    assert stranger.call("GET", PATH).status_code == 404
    stranger.ok("POST", PATH, BODY)


def test_update_changes_only_given_fields(api: Client, alice: User) -> None:
    api.ok("POST", PATH, BODY)
    changes = {"syncEnabled": False, "autoSyncInterval": 60, "importMode": "auto", "cardDavNameFormat": "SHORT"}
    changed = api.ok("PUT", PATH, {**BODY, "password": None, "provider": "nextcloud", **changes})["connection"]
    assert changes.items() <= changed.items()
    assert changed["provider"] == "nextcloud"
    assert Connection.objects.owned_by(alice).get().password == "  secret "
    api.ok("PUT", PATH, {"password": "other"})
    row = Connection.objects.owned_by(alice).get()
    assert (row.password, row.server_url, row.sync_enabled) == ("other", "https://dav.example.org/", False)
    read = api.ok("GET", PATH)["connection"]
    assert api.ok("PUT", PATH, read)["connection"].items() >= {**read, "updatedAt": None}.items() - {
        ("updatedAt", None)
    }


def test_changing_server_or_user_forgets_the_book(api: Client, alice: User) -> None:
    row = make_connection(alice, sync_token="t", ctag="c", home_urls=["http://127.0.0.1:1/ada/"], pause="auth")
    mapping = Mapping.objects.create(owner=alice, connection=row, person=make_person(alice), href="/1", href_key="/1")
    api.ok("PUT", PATH, {"syncEnabled": True, "serverUrl": row.server_url})
    row.refresh_from_db()
    assert (row.is_resolved, row.sync_token, row.pause) == (True, "t", "auth")
    api.ok("PUT", PATH, {"username": "grace"})
    row.refresh_from_db()
    assert (row.is_resolved, row.sync_token, row.ctag, row.home_urls, row.pause) == (False, "", "", [], "")
    assert Mapping.objects.owned_by(alice).get() == mapping


def test_new_password_ends_the_pause(api: Client, alice: User) -> None:
    row = make_connection(alice, pause="auth", last_error="refused", last_error_code="auth")
    assert api.ok("GET", PATH)["connection"]["lastError"] == "refused"
    assert api.ok("PUT", PATH, {"password": "new"})["connection"]["lastError"] is None
    row.refresh_from_db()
    assert (row.pause, row.book_url) == ("", "http://127.0.0.1:1/ada/book/")


def test_changed_name_format_is_sent_by_the_next_run(api: Client, alice: User) -> None:
    row = make_connection(alice)
    Mapping.objects.create(owner=alice, connection=row, person=make_person(alice), href="/1", href_key="/1")
    api.ok("PUT", PATH, {"cardDavNameFormat": "FULL"})
    assert Mapping.objects.owned_by(alice).get().status == "clean"
    api.ok("PUT", PATH, {"cardDavNameFormat": "SHORT"})
    assert Mapping.objects.owned_by(alice).get().status == "dirty"


def test_removing_the_connection_keeps_people_and_uploaded_cards(api: Client, alice: User) -> None:
    row = make_connection(alice)
    person = make_person(alice)
    Mapping.objects.create(owner=alice, connection=row, person=person, href="/1", href_key="/1")
    for origin, href in ((row, "/2"), (None, "")):
        PendingImport.objects.create(
            owner=alice, connection=origin, href=href or None, href_key=href, display_name="B", raw="x", digest=href
        )
    assert api.ok("DELETE", PATH) == {"success": True}
    assert api.call("DELETE", PATH).status_code == 404
    assert not Mapping.objects.owned_by(alice).exists()
    assert PendingImport.objects.owned_by(alice).get().connection_id is None
    api.ok("GET", f"/api/people/{person.pk}")


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"serverUrl": "file:///etc/passwd"}, "serverUrl"),
        ({"serverUrl": "https://ada:secret@dav.example.org/"}, "serverUrl"),
        ({"serverUrl": "https://dav example.org/"}, "serverUrl"),
        ({"serverUrl": "https://0x7f.1/"}, "serverUrl"),
        ({"serverUrl": "nas"}, "serverUrl"),
        ({"serverUrl": "nas:5232"}, "serverUrl"),
        ({"serverUrl": "localhost:5232/ada"}, "serverUrl"),
        ({"serverUrl": "ada@nas"}, "serverUrl"),
        ({"serverUrl": 5}, "serverUrl"),
        ({"serverUrl": ""}, "serverUrl"),
        ({"username": None}, "username"),
        ({"username": "a" * 256}, "username"),
        ({"password": ""}, "password"),
        ({"password": 5}, "password"),
        ({"provider": "yahoo"}, "provider"),
        ({"syncEnabled": "true"}, "syncEnabled"),
        ({"autoExportNew": 1}, "autoExportNew"),
        ({"autoSyncInterval": 59}, "autoSyncInterval"),
        ({"autoSyncInterval": 86401}, "autoSyncInterval"),
        ({"autoSyncInterval": "60"}, "autoSyncInterval"),
        ({"importMode": "always"}, "importMode"),
        ({"cardDavNameFormat": "full"}, "cardDavNameFormat"),
    ],
)
def test_invalid_fields_are_reported_and_change_nothing(api: Client, change: dict[str, object], field: str) -> None:
    for method in ("POST", "PUT"):
        if method == "PUT":
            api.ok("POST", PATH, BODY)
        response = api.call(method, PATH, {**BODY, **change})
        assert response.status_code == 400
        assert [detail["field"] for detail in response.json()["details"]] == [field]
    assert api.ok("GET", PATH)["connection"]["serverUrl"] == BODY["serverUrl"]


@pytest.mark.parametrize("missing", ["serverUrl", "username", "password"])
def test_url_user_name_and_password_are_required(api: Client, missing: str) -> None:
    response = api.call("POST", PATH, {key: value for key, value in BODY.items() if key != missing})
    assert [detail["field"] for detail in response.json()["details"]] == [missing]


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:8443/dav",
        "http://nas:5232/",
        "dav.example.org",
        "dav.example.org:5232",
        "ada@example.org",
        "例え。example",
        "https://münchen.example/",
    ],
)
def test_address_policy_is_checked_when_the_server_is_called(api: Client, url: str) -> None:
    assert api.ok("POST", PATH, {**BODY, "serverUrl": url})["connection"]["serverUrl"] == url


def is_mirrored(user: User) -> bool:
    return User.objects.get(pk=user.pk).is_mirrored


def test_account_is_mirrored_while_it_has_a_connection(api: Client, alice: User, mallory: User) -> None:
    assert not is_mirrored(alice)
    api.ok("POST", PATH, BODY)
    assert is_mirrored(alice)
    assert not is_mirrored(mallory)
    api.ok("DELETE", PATH)
    assert not is_mirrored(alice)


def count_carddav_statements(api: Client, alice: User) -> int:
    """The number of statements on tables of carddav from the creation of a person to its merge."""
    people = [str(make_person(alice, name=name).pk) for name in "AB"]
    with CaptureQueriesContext(connection) as captured:
        made = api.ok("POST", "/api/people", {"name": "C"}, status=201)["person"]["id"]
        api.ok("PUT", f"/api/people/{made}", {"name": "D"})
        api.ok("DELETE", f"/api/people/{made}")
        api.ok("POST", f"/api/people/{made}/restore")
        api.ok("POST", "/api/people/merge", {"primaryId": people[0], "secondaryId": people[1]})
    return sum("carddav_" in query["sql"] for query in captured)


@pytest.mark.django_db(transaction=True)
def test_writes_without_connection_do_not_use_carddav_tables(api: Client, alice: User) -> None:
    assert count_carddav_statements(api, alice) == 0
    make_connection(alice)
    assert count_carddav_statements(api, alice) > 0


SETTINGS = {
    "provider": "nextcloud",
    "sync_enabled": False,
    "auto_export_new": False,
    "auto_sync_interval": 60,
    "import_mode": "notify",
    "name_format": "SHORT",
}


def test_connection_is_imported_without_its_password(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    make_connection(alice, **SETTINGS)
    document = api.ok("GET", "/api/user/export")
    assert "secret" not in str(document)
    receipt = stranger.ok("POST", "/api/user/import", document)
    assert [line["status"] for line in receipt["results"] if line["section"] == "cardDavConnections"] == ["imported"]
    row = Connection.objects.owned_by(mallory).get()
    assert {name: getattr(row, name) for name in SETTINGS} == SETTINGS
    assert (row.username, row.password, row.pause, row.book_url) == ("ada", "", "auth", "")


def test_existing_connection_is_kept(api: Client, alice: User) -> None:
    row = make_connection(alice)
    document = api.ok("GET", "/api/user/export")
    document["cardDavConnections"][0]["id"] = "0199c1a0-0000-7000-8000-000000000000"
    api.ok("POST", "/api/user/import", document)
    assert Connection.objects.owned_by(alice).get().password == row.password == "secret"


def test_database_allows_one_connection(alice: User) -> None:
    make_connection(alice)
    with pytest.raises(IntegrityError):
        make_connection(alice)


def test_password_is_encrypted_in_the_database(alice: User) -> None:
    make_connection(alice)
    with connection.cursor() as cursor:
        cursor.execute("SELECT password FROM carddav_connection")
        assert "secret" not in cursor.fetchone()[0]
