"""What older versions left: their databases are migrated, their backups restored, and the data stays."""

import gzip
import os
import sqlite3
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from contacts_project.kernel.database.triggers import missing_triggers
from people.counts import wrong_counts
from people.models import Person
from tests.client import client_of
from tests.contacts_project.backup.files import photos_of, rows_of
from tests.contacts_project.backup.test_drill import KEY, Instance
from tests.relationships.invariants import check_invariants

FOLDER = Path(__file__).parent
#: Made by `manage.py backup`, format 1, before accounts.0014 and people.0015, of `seed_demo`; with two of its photos.
OLDER = FOLDER / "older.backup"
#: The SQLite database of the first version after `seed_demo --people 8`, as SQL.
FIRST_VERSION = FOLDER / "first_version.sql.gz"


# It is brought up to date in SQLite, whatever it is restored into; what that fills PostgreSQL with, the drill sees.
@pytest.mark.skipif("TEST_DATABASE_URL" in os.environ, reason="the same work, done with SQLite")
@pytest.mark.django_db(transaction=True)
def test_an_older_backup_is_brought_up_to_date(media: Path, tmp_path: Path) -> None:
    out, complaints = StringIO(), StringIO()
    call_command("restore", str(OLDER), "--verify", stdout=out, stderr=complaints)
    call_command("restore", str(OLDER), stdout=out, stderr=complaints)
    assert "is restored: 1 account, 60 people, 923 rows, 2 photos" in out.getvalue()
    demo = User.objects.get()
    before, after = rows_of(OLDER), _rows(tmp_path)
    assert _ids(before["people_person"]) == _ids(after["people_person"])
    assert _ids(before["relationships_relationship"]) == _ids(after["relationships_relationship"])
    assert (missing_triggers(), wrong_counts(demo.pk)) == ([], [])
    check_invariants(demo)
    client = client_of(demo)
    assert len(client.ok("GET", "/api/user/export")["people"]) == 60
    for name, jpeg in photos_of(OLDER).items():
        person = Person.objects.owned_by(demo).get(photo=name)
        assert client.call("GET", f"/api/photos/{person.pk}").content == jpeg


def _rows(folder: Path) -> dict[str, list[Any]]:
    call_command("backup", str(folder / "after"), stdout=StringIO(), stderr=StringIO())
    return rows_of(folder / "after")


def _ids(rows: list[Any]) -> set[str]:
    return {row[0] for row in rows}


def test_the_first_version_is_migrated(tmp_path: Path) -> None:
    instance = Instance(f"sqlite:///{tmp_path}/data/contacts.sqlite3", tmp_path / "data")
    instance.data.mkdir()
    database = sqlite3.connect(instance.data / "contacts.sqlite3")
    database.executescript(gzip.decompress(FIRST_VERSION.read_bytes()).decode())
    people = {row[0] for row in database.execute("SELECT id FROM people_person")}
    ties = {row[0] for row in database.execute("SELECT id FROM relationships_relationship")}
    database.close()
    instance.manage("migrate", "-v0")
    instance.manage("backup", str(tmp_path / "after"))
    rows = rows_of(tmp_path / "after", KEY)
    assert {key.replace("-", "") for key in _ids(rows["people_person"])} == people
    assert {key.replace("-", "") for key in _ids(rows["relationships_relationship"])} == ties
    assert len(people) == 8
    assert len(ties) > 8
