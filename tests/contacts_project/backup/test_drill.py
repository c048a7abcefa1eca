"""A backup is restored into the other kind of database, and from there back; all instances answer the same.

Each instance is one process, which runs tests.contacts_project.backup.probe.
"""

import datetime as dt
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings as project
from django.utils import timezone

from tests.builders import PASSWORD
from tests.contacts_project.backup.conftest import FullInstance
from tests.contacts_project.backup.files import photos_of, rows_of
from tests.databases import empty_database
from tests.workers import database_url, run_manage

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@dataclass
class Instance:
    """An instance that runs management commands only."""

    database: str
    data: Path

    def collect_responses(self, task: dict[str, Any]) -> dict[str, Any]:
        environment = {
            "DATABASE_URL": self.database,
            "DATA_DIR": str(self.data),
            "SECRET_KEY": project.SECRET_KEY,
            "ENCRYPTION_KEYS": ",".join(project.ENCRYPTION_KEYS),
            "BACKUP_KEY": KEY,
            "LOG_LEVEL": "ERROR",
        }
        self.data.mkdir(exist_ok=True)
        path = self.data / "responses"
        program = (
            f"from tests.contacts_project.backup.probe import write_responses; write_responses({task!r}, {str(path)!r})"
        )
        exit_code, output = run_manage(self.data, environment, "shell", "--no-imports", "-c", program)
        assert exit_code == 0, output
        responses: dict[str, Any] = orjson.loads(path.read_bytes())
        return responses


@pytest.fixture
def target_databases(tmp_path: Path) -> Iterator[list[str]]:
    """The URLs of two empty databases: one on SQLite, one on the PostgreSQL server of this run."""
    with empty_database("drill") as again:
        yield [f"sqlite:///{tmp_path}/other.sqlite3", again]


@pytest.fixture
def argon2_hasher(settings: Any) -> None:
    """Hash passwords as an instance does, because the restored instances check them."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="tests both directions from PostgreSQL")
def test_restore_into_sqlite_and_back_into_postgresql_loses_nothing(
    argon2_hasher: None,
    full_instance: FullInstance,
    target_databases: list[str],
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> None:
    folder = tmp_path_factory.mktemp("drill")
    first = Instance(database_url(), folder / "first")
    first.data.mkdir()
    (first.data / "media").symlink_to(project.MEDIA_ROOT)
    others = [Instance(url, folder / name) for url, name in zip(target_databases, ("second", "third"), strict=True)]
    files = [folder / str(number) for number in range(3)]
    now = timezone.now() + dt.timedelta(days=1)
    task = {
        "token": full_instance.token,
        "now": now.replace(hour=10, minute=0, second=0, microsecond=0).isoformat(),
        "sign-in": {
            full_instance.owner.email: {"password": PASSWORD, "code": full_instance.recovery_codes[0]},
            full_instance.demo.email: {"password": PASSWORD},
        },
    }
    responses = [first.collect_responses({**task, "commands": [["backup", str(files[0])]]})]
    for instance, before, after in zip(others, files, files[1:], strict=False):
        commands = [["restore", str(before)], ["backup", str(after)]]
        responses.append(instance.collect_responses({**task, "commands": commands}))
        assert "is restored: 2 accounts, " in responses[-1].pop("output")
    responses[0].pop("output")
    assert b"alice" not in files[0].read_bytes()
    first_rows, *later_rows = (rows_of(path, KEY, with_revisions=False) for path in files)
    assert later_rows == [first_rows, first_rows]
    assert photos_of(files[0], KEY) == photos_of(files[1], KEY) == photos_of(files[2], KEY)
    assert [response.pop("vendor") for response in responses] == ["postgresql", "sqlite", "postgresql"]
    assert responses[0] == responses[1] == responses[2]
    assert responses[0]["sign-in"] == {full_instance.owner.email: [200, None], full_instance.demo.email: [200, None]}
    # The reminder of Alice's date was sent before the backup, so it is not sent again.
    assert full_instance.owner.email not in {address for address, _ in responses[0]["mails"]}
    assert responses[0]["deliveries"].count("sent") >= 1
    assert sum(map(len, responses[0]["photos"].values())) > 5
    assert set(map(tuple, responses[0]["counts"].values())) == {()}
