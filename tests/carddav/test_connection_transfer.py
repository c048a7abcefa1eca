"""The connection in the export of an account: it comes back without its password, and rests until it has one."""

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


def test_a_connection_moves_to_another_account_without_its_password(
    api: Client, stranger: Client, alice: User, mallory: User
) -> None:
    make_connection(alice, **SETTINGS)
    document = api.ok("GET", "/api/user/export")
    assert "secret" not in str(document)
    receipt = stranger.ok("POST", "/api/user/import", document)
    assert [line["status"] for line in receipt["results"] if line["section"] == "cardDavConnections"] == ["imported"]
    row = Connection.objects.owned_by(mallory).get()
    assert {name: getattr(row, name) for name in SETTINGS} == SETTINGS
    assert (row.username, row.password, row.pause, row.book_url) == ("ada", "", "auth", "")


def test_the_connection_that_is_there_stays(api: Client, alice: User) -> None:
    row = make_connection(alice)
    document = api.ok("GET", "/api/user/export")
    document["cardDavConnections"][0]["id"] = "0199c1a0-0000-7000-8000-000000000000"
    api.ok("POST", "/api/user/import", document)
    assert Connection.objects.owned_by(alice).get().password == row.password == "secret"


def test_an_account_has_one_connection(alice: User) -> None:
    make_connection(alice)
    with pytest.raises(IntegrityError):
        make_connection(alice)


def test_the_password_is_encrypted_at_rest(alice: User) -> None:
    make_connection(alice)
    with connection.cursor() as cursor:
        cursor.execute("SELECT password FROM carddav_connection")
        assert "secret" not in cursor.fetchone()[0]
