"""The backup of an older version is restored, and the data stays."""

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
OLDER = Path(__file__).parent / "older.backup"


# It is brought up to date in SQLite, whatever it is restored into; what that fills PostgreSQL with, the drill sees.
@pytest.mark.one_database
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
