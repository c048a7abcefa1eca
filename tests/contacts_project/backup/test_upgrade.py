"""A backup of an older version is upgraded and restored without loss."""

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
from tests.relationships.invariants import check_invariants

#: Made by `manage.py backup`, format 1, before accounts.0014 and people.0015, of `seed_demo`; with two of its photos.
OLDER_BACKUP = Path(__file__).parent / "older.backup"


# The upgrade always runs in SQLite. test_drill.py restores a backup of SQLite into PostgreSQL.
@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_backup_of_an_older_version_is_upgraded_and_restored(media: Path, tmp_path: Path) -> None:
    out, warnings = StringIO(), StringIO()
    call_command("restore", str(OLDER_BACKUP), "--verify", stdout=out, stderr=warnings)
    call_command("restore", str(OLDER_BACKUP), stdout=out, stderr=warnings)
    assert "is restored: 1 account, 60 people, 923 rows, 2 photos" in out.getvalue()
    demo = User.objects.get()
    before, after = rows_of(OLDER_BACKUP), back_up_and_read_rows(tmp_path)
    assert ids_of(before["people_person"]) == ids_of(after["people_person"])
    assert ids_of(before["relationships_relationship"]) == ids_of(after["relationships_relationship"])
    assert (missing_triggers(), wrong_counts(demo.pk)) == ([], [])
    check_invariants(demo)
    client = client_of(demo)
    assert len(client.ok("GET", "/api/user/export")["people"]) == 60
    for name, jpeg in photos_of(OLDER_BACKUP).items():
        person = Person.objects.owned_by(demo).get(photo=name)
        assert client.call("GET", f"/api/photos/{person.pk}").content == jpeg


def back_up_and_read_rows(folder: Path) -> dict[str, list[Any]]:
    call_command("backup", str(folder / "after"), stdout=StringIO(), stderr=StringIO())
    return rows_of(folder / "after")


def ids_of(rows: list[Any]) -> set[str]:
    return {row[0] for row in rows}
