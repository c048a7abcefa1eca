"""The drill: an instance is restored into the other database, and from there back, and answers as before.

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
from tests.contacts_project.backup.conftest import Source
from tests.contacts_project.backup.files import photos_of, rows_of
from tests.databases import empty_database
from tests.workers import database_url, run_manage

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@dataclass
class Instance:
    """An instance that is reached by commands alone."""

    database: str
    data: Path

    def answers(self, task: dict[str, Any]) -> dict[str, Any]:
        environment = {
            "DATABASE_URL": self.database,
            "DATA_DIR": str(self.data),
            "SECRET_KEY": project.SECRET_KEY,
            "ENCRYPTION_KEYS": ",".join(project.ENCRYPTION_KEYS),
            "BACKUP_KEY": KEY,
            "LOG_LEVEL": "ERROR",
        }
        self.data.mkdir(exist_ok=True)
        path = self.data / "answers"
        program = (
            f"from tests.contacts_project.backup.probe import write_answers; write_answers({task!r}, {str(path)!r})"
        )
        exit_code, output = run_manage(self.data, environment, "shell", "--no-imports", "-c", program)
        assert exit_code == 0, output
        answers: dict[str, Any] = orjson.loads(path.read_bytes())
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
