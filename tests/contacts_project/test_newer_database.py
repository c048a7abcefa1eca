"""An older program on the database of a newer one: it does not start, and says why in one line."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from contacts_project.backup.container import BackupError
from contacts_project.backup.restorer import _check_tables
from contacts_project.kernel.database import migrations
from contacts_project.kernel.database.migrations import NewerDatabaseError, check_not_newer
from tests import ROOT
from tests.client import Client
from tests.loopback import closed_port

pytestmark = pytest.mark.django_db

REASON = "The database is of a newer version than this program, which does not know its migration people.0999_more"


@pytest.fixture
def newer_database(db: None) -> None:
    MigrationRecorder(connection).record_applied("people", "0999_more")


def test_what_0001_tables_replaced_and_other_packages_are_not_newer(db: None) -> None:
    recorder = MigrationRecorder(connection)
    for app, name in frozenset[tuple[str, str]]().union(*migrations.REPLACED_MIGRATIONS.values()):
        recorder.record_applied(app, name)
    recorder.record_applied("auth", "0999_of_django")
    recorder.record_applied("removed_package", "0001_initial")
    check_not_newer(connection)
    recorder.record_applied("dav", "0999_more")
    with pytest.raises(NewerDatabaseError, match=r"its migration dav\.0999_more: run that version"):
        check_not_newer(connection)


@pytest.mark.parametrize("options", [{}, {"app_label": "people"}, {"fake": True}])
def test_migrate_refuses(newer_database: None, options: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match=REASON) as refused:
        call_command("migrate", verbosity=0, **options)
    assert "\n" not in str(refused.value)
    call_command("migrate", plan=True, stdout=StringIO())


def test_backup_and_restore_refuse(newer_database: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=REASON):
        call_command("backup", str(tmp_path / "file"))
    assert not (tmp_path / "file").exists()
    with pytest.raises(BackupError, match=REASON):
        _check_tables()


def test_health_doctor_and_home_page_say_it(newer_database: None) -> None:
    body = Client().ok("GET", "/api/health", status=503)
    assert (body["status"], body["checks"]["migrations"]) == ("unfit", "newer")
    page = Client().get("/", HTTP_ACCEPT_LANGUAGE="de").content.decode()
    assert "Konto anlegen" not in page
    assert 'role="alert"' in page
    output = StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=output)
    assert f"ERROR  {REASON}" in output.getvalue()
    assert "Migrations have not been applied" not in output.getvalue()


@pytest.fixture(scope="module")
def newer_instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of an instance on SQLite that a newer version has migrated."""
    data = tmp_path_factory.mktemp("newer")
    assert run(data, "manage.py", "migrate", "--verbosity", "0").returncode == 0
    with closing(sqlite3.connect(data / "contacts.sqlite3")) as database, database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('people', '0999_more', '2099-01-01')"
        )
    return data


def run(data: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    names = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"DATA_DIR": str(data), "PORT": str(closed_port()), "HOST": "127.0.0.1"}
    command = (sys.executable, *command)
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.sqlite_suffices
@pytest.mark.parametrize(
    "command",
    [
        ("manage.py", "serve"),
        ("-m", "contacts_project.server"),
        ("-m", "contacts_project.processes.background"),
        ("-m", "celery", "-A", "contacts_project", "beat"),
        ("-m", "celery", "-A", "contacts_project", "worker"),
    ],
    ids=" ".join,
)
def test_no_process_starts(newer_instance: Path, command: tuple[str, ...]) -> None:
    done = run(newer_instance, *command)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if REASON in line] == [done.stderr.splitlines()[-1]]
    assert "Ready" not in done.stdout
