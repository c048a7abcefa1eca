"""The drill: an instance is restored into the other database, and from there back, and answers as before.

Each instance is one process of tests.contacts_project.backup.probe: starting one takes longer than what it does here.
"""

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings as project
from django.utils import timezone

from tests.builders import PASSWORD
from tests.contacts_project.backup.conftest import Source
from tests.contacts_project.backup.files import photos_of, rows_of
from tests.databases import empty_database
from tests.workers import database_url

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@dataclass
class Instance:
    """An instance that is reached by commands alone."""

    database: str
    data: Path
    media: Path | None = None

    def run(self, *arguments: str) -> str:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
            "DATABASE_URL": self.database,
            "DATA_DIR": str(self.data),
            "SECRET_KEY": project.SECRET_KEY,
            "ENCRYPTION_KEYS": ",".join(project.ENCRYPTION_KEYS),
            "BACKUP_KEY": KEY,
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, env=environment, cwd=project.BASE_DIR, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def manage(self, *arguments: str) -> str:
        return self.run("manage.py", *arguments)

    def answers(self, task: dict[str, Any]) -> dict[str, Any]:
        told = self.run("-m", "tests.contacts_project.backup.probe", orjson.dumps(task).decode())
        answers: dict[str, Any] = orjson.loads(told)
        return answers


@pytest.fixture
def other_databases(tmp_path: Path) -> Iterator[list[str]]:
    """The URLs of two new databases: of SQLite, and of this server's kind."""
    with empty_database("drill") as again:
        yield [f"sqlite:///{tmp_path}/other.sqlite3", again]


@pytest.fixture
def hasher(settings: Any) -> None:
    """That of an instance: those of the drill check the passwords."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="sees both directions from PostgreSQL")
def test_there_and_back_again(
    hasher: None, source: Source, other_databases: list[str], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    folder = tmp_path_factory.mktemp("drill")
    first = Instance(database_url(), folder / "first")
    first.data.mkdir()
    (first.data / "media").symlink_to(project.MEDIA_ROOT)
    others = [Instance(url, folder / name) for url, name in zip(other_databases, ("second", "third"), strict=True)]
    files = [folder / str(number) for number in range(3)]
    now = timezone.now() + dt.timedelta(days=1)
    task = {
        "token": source.token,
        "now": now.replace(hour=10, minute=0, second=0, microsecond=0).isoformat(),
        "sign-in": {
            source.owner.email: {"password": PASSWORD, "code": source.recovery_codes[0]},
            source.demo.email: {"password": PASSWORD},
        },
    }
    answers = [first.answers({**task, "commands": [["backup", str(files[0])]]})]
    for instance, before, after in zip(others, files, files[1:], strict=False):
        commands = [["migrate", "-v0"], ["restore", str(before)], ["backup", str(after)]]
        answers.append(instance.answers({**task, "commands": commands}))
        assert "is restored: 2 accounts, " in answers[-1].pop("told")
    answers[0].pop("told")
    assert b"alice" not in files[0].read_bytes()
    first_rows, *later_rows = (rows_of(path, KEY, with_revisions=False) for path in files)
    assert later_rows == [first_rows, first_rows]
    assert photos_of(files[0], KEY) == photos_of(files[1], KEY) == photos_of(files[2], KEY)
    assert [answer.pop("vendor") for answer in answers] == ["postgresql", "sqlite", "postgresql"]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["sign-in"] == {source.owner.email: [200, None], source.demo.email: [200, None]}
    # Of the date of alice a mail was sent before the backup.
    assert source.owner.email not in {address for address, _ in answers[0]["mails"]}
    assert answers[0]["deliveries"].count("sent") >= 1
    assert sum(map(len, answers[0]["photos"].values())) > 5
    assert set(map(tuple, answers[0]["counts"].values())) == {()}
