"""Export and import of the connection: it is imported without its password and paused until it gets one."""

import pytest
from django.db import IntegrityError, connection

from accounts.models import User
from carddav.models import Connection
from tests.carddav.builders import make_connection
from tests.client import Client

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


def test_account_has_one_connection(alice: User) -> None:
    make_connection(alice)
    with pytest.raises(IntegrityError):
        make_connection(alice)


def test_password_is_encrypted_in_the_database(alice: User) -> None:
    make_connection(alice)
    with connection.cursor() as cursor:
        cursor.execute("SELECT password FROM carddav_connection")
        assert "secret" not in cursor.fetchone()[0]
