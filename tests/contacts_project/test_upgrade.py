"""What commit b8b56eaa left goes on: its database by `migrate` and `serve`, its backup by `restore`.

b8b56eaa has the tables of `0001_tables`. A database or backup of before, which has only some of what that replaced, is
refused with one line.
"""

import gzip
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django_celery_beat.models import PeriodicTask

from accounts.models import User
from contacts_project.backup import container
from contacts_project.backup.container import Frame
from contacts_project.backup.contents import all_migrations, applied_migrations, migration_names, parse_header
from contacts_project.backup.restorer import load_with_old_schema, migrate_to
from contacts_project.backup.rows import reset_sequences
from contacts_project.kernel.database.migrations import REPLACED_MIGRATIONS
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.kernel.invariants import find_violations
from contacts_project.management.commands import serve
from contacts_project.operation import invariants as _of_all_tables  # noqa: F401 - registers them
from people.counts import wrong_counts
from people.models import Person
from tests.client import client_of
from tests.contacts_project.backup.files import frames_of, photos_of, rows_of, write_frames
from tests.contacts_project.schema import schema_of
from tests.databases import on_empty_database
from tests.loopback import closed_port
from tests.relationships.invariants import check_invariants
from tests.workers import run_manage

pytestmark = pytest.mark.django_db(transaction=True)

#: An instance of b8b56eaa with a record of every kind, `full_instance` of backup/conftest.py: its backup, and
#: the SQLite database into which b8b56eaa has restored it, as SQL. Its secrets are encrypted with KEY.
BACKUP = Path(__file__).parent / "b8b56eaa.backup"
DATABASE = Path(__file__).parent / "b8b56eaa.sql.gz"
KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
#: Their contents in both; what later migrations drop is not among them.
KEPT_TABLES = ("accounts_user", "people_person", "people_group", "relationships_relationship", "notifications_delivery")

#: Some people of the full instance were written without them, outside of a write of their account.
KNOWN_VIOLATIONS = {
    "people have look-up keys that do not match their names, addresses and numbers",
    "rows have a revision below 1 or above that of their account",
}
NO_SCHEDULE = "periodic tasks are missing from the schedule"
NO_PHOTOS = "photo files are missing, damaged, or referenced by no row"

REFUSED_DATABASE = r"The database is of a version before b8b56eaa: run manage\.py migrate of b8b56eaa first"
REFUSED_BACKUP = r"The backup is of a version before b8b56eaa: restore it with b8b56eaa"


@pytest.fixture(autouse=True)
def keys(settings: Any, media: Path) -> None:
    settings.ENCRYPTION_KEYS = [KEY]


def load_the_database() -> None:
    """The database of b8b56eaa. On PostgreSQL made of the backup: the tables of b8b56eaa with its rows."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database:
            database.executescript(gzip.decompress(DATABASE.read_bytes()).decode())
        return
    load_with_old_schema(BACKUP, "")
    reset_sequences()
    recorder = MigrationRecorder(connection)
    for app, name in frozenset[tuple[str, str]]().union(*REPLACED_MIGRATIONS.values()):
        recorder.record_applied(app, name)


@pytest.mark.split
@pytest.mark.parametrize("command", ["migrate", "serve"])
def test_database_goes_on_with_all_its_rows_in_the_schema_of_a_new_one(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(serve, "bind", lambda *address: "listener")
    monkeypatch.setattr(serve, "exec_supervisor", started.append)
    expected = schema_of(connection)
    with on_empty_database(tmp_path):
        load_the_database()
        call_command(command, verbosity=0, stdout=StringIO())
        assert started == (["listener"] if command == "serve" else [])
        executor = MigrationExecutor(connection)
        assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
        assert applied_migrations() == all_migrations()
        replaced = {("migration", *key): 1 for names in REPLACED_MIGRATIONS.values() for key in names}
        found = schema_of(connection)
        found.subtract(replaced)
        assert (sorted(found - expected), sorted(expected - found)) == ([], [])
        check_instance(tmp_path, NO_PHOTOS)


@pytest.mark.split
@pytest.mark.parametrize("is_older", [False, True])
def test_backup_is_restored(tmp_path: Path, media: Path, *, is_older: bool) -> None:
    """Also one of which a migration is missing for another reason than ours: it passes through an upgrade."""
    PeriodicTask.objects.all().delete()  # the migrations of the test database have filled it, if no test was before
    backup = without(BACKUP, tmp_path, last_of_the_schedule()) if is_older else BACKUP
    out = StringIO()
    for options in (["--verify"], []):
        call_command("restore", str(backup), *options, stdout=out, stderr=StringIO())
    assert "is restored: 2 accounts, 20 people, 453 rows, 10 photos" in out.getvalue()
    check_instance(tmp_path, NO_SCHEDULE)  # which the scheduler fills; no migration ran
    photos = photos_of(BACKUP)
    assert len(photos) == 10
    shown = {
        person.photo: client_of(person.owner).call("GET", f"/api/photos/{person.pk}").content
        for person in Person.unscoped.filter(deleted_at=None).exclude(photo=None).exclude(photo="")
    }
    assert shown.items() <= photos.items()
    assert len(shown) >= 8


def test_backup_is_restored_into_empty_tables_of_an_older_version(tmp_path: Path) -> None:
    with on_empty_database(tmp_path):
        names = header_of(BACKUP).current_migrations
        migrate_to(names - {last_of_the_schedule()})
        call_command("restore", str(BACKUP), stdout=StringIO(), stderr=StringIO())
        assert applied_migrations() == all_migrations()
        check_instance(tmp_path)


def check_instance(folder: Path, *violations: str) -> None:
    """All rows are there, and the instance works."""
    after = folder / "after"
    call_command("backup", str(after), stdout=StringIO(), stderr=StringIO())
    old, new = rows_of(BACKUP), rows_of(after)
    for table in KEPT_TABLES:
        assert old[table]
        assert {row[0] for row in new[table]} == {row[0] for row in old[table]}
    assert missing_triggers() == []
    assert {found.broken for found in find_violations()} == KNOWN_VIOLATIONS | {*violations}
    for user in User.objects.all():
        assert user.date_reminder_default == "none"
        assert wrong_counts(user.pk) == []
        check_invariants(user)
        client = client_of(user)
        people = client.ok("GET", "/api/user/export")["people"]
        assert {person["id"] for person in people} == {
            str(key) for key in Person.objects.owned_by(user).values_list("pk", flat=True)
        }
        client.ok("POST", "/api/people", {"name": "New"}, status=201)


def header_of(path: Path) -> Any:
    [header] = [frame for frame in frames_of(path) if frame.kind == container.HEADER]
    return parse_header(header.data)


def last_of_the_schedule() -> str:
    return max(name for name in all_migrations() if name.startswith("django_celery_beat."))


def without(path: Path, folder: Path, *names: str) -> Path:
    """The backup, as if some of its migrations had not been applied."""

    def changed(frame: Frame) -> Frame:
        if frame.kind != container.HEADER:
            return frame
        header = orjson.loads(frame.data)
        assert set(names) <= set(header["migrations"])
        return Frame(frame.kind, orjson.dumps({**header, "migrations": sorted({*header["migrations"]} - {*names})}))

    return write_frames(folder / "changed", list(map(changed, frames_of(path))))


def test_new_migrations_take_no_name_of_a_replaced_one() -> None:
    for names in REPLACED_MIGRATIONS.values():
        assert all_migrations().isdisjoint(migration_names(names))


#: Changes of what b8b56eaa has recorded: to databases that have only some of the steps, or the tables of fewer steps.
OLDER = {
    "some steps of people": "app = 'people' AND (name = '0001_tables' OR name > '0040')",
    "all steps of people": "app = 'people' AND name = '0001_tables'",
    "tables that replaced fewer": "(app = 'dav' AND name > '0006') OR (app = 'people' AND name > '0043')",
    "one app alone": "app <> 'accounts' OR name > '0012'",
}


@pytest.fixture(params=OLDER.values(), ids=list(OLDER))
def older_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database with tables of before b8b56eaa, as far as its migrations say; yields its name."""
    with on_empty_database(tmp_path):
        migrate_to(header_of(BACKUP).current_migrations)
        recorder = MigrationRecorder(connection)
        for app, name in frozenset[tuple[str, str]]().union(*REPLACED_MIGRATIONS.values()):
            recorder.record_applied(app, name)
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM django_migrations WHERE {request.param}")
            assert cursor.rowcount > 0
        yield str(connection.settings_dict["NAME"])


@pytest.mark.split
@pytest.mark.usefixtures("older_database")
def test_older_database_is_refused() -> None:
    before = recorded_and_existing()
    for command in (["migrate"], ["migrate", "--check"], ["restore", str(BACKUP)]):
        with pytest.raises(CommandError, match=REFUSED_DATABASE) as refusal:
            call_command(*command, stdout=StringIO(), stderr=StringIO())
        assert "\n" not in str(refusal.value)
    assert recorded_and_existing() == before
    assert not User.objects.exists()


def recorded_and_existing() -> tuple[Any, list[str]]:
    return set(MigrationRecorder(connection).applied_migrations()), connection.introspection.table_names()


@pytest.mark.one_database
def test_serve_refuses_an_older_database(older_database: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    connection.close()
    shutil.copy(older_database, data / "contacts.sqlite3")
    environment = {"DATA_DIR": str(data), "DATABASE_URL": "", "PORT": str(closed_port())}
    exit_code, output = run_manage(tmp_path, environment, "serve")
    assert exit_code == 1
    assert sum("b8b56eaa" in line for line in output.splitlines()) == 1
    assert "Traceback" not in output


@pytest.mark.one_database
@pytest.mark.parametrize("name", ["people.0045_triggers_of_changed_rows", "accounts.0001_initial"])
def test_older_backup_is_refused(tmp_path: Path, name: str) -> None:
    older = without(BACKUP, tmp_path, name)
    for options in (["--verify"], []):
        with pytest.raises(CommandError, match=REFUSED_BACKUP) as refusal:
            call_command("restore", str(older), *options, stdout=StringIO(), stderr=StringIO())
        assert "\n" not in str(refusal.value)
    assert not User.objects.exists()
