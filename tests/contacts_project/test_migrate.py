"""`manage.py migrate` runs concurrently on several machines, as when they deploy a release together."""

from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from tests.databases import empty_database
from tests.fork_targets import run_command
from tests.workers import start_fork

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an instance on SQLite is one process's"),
]


def test_concurrent_migrate_commands_succeed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with empty_database() as url:
        migrate = partial(start_fork, run_command, log, {"DATABASE_URL": url}, "migrate", "--verbosity", "0")
        runs = [migrate() for _ in range(3)]
        for run in runs:
            run.join(300)
        assert [run.exitcode for run in runs] == [0, 0, 0], log.read_text()
        check = migrate("--check")
        check.join(300)
        assert check.exitcode == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("migrate", "The encoding LATIN1 of the database cannot store every name"),
        ("doctor", "The encoding of the database is LATIN1."),
    ],
)
def test_database_without_utf8_is_refused(tmp_path: Path, command: str, words: str) -> None:
    with empty_database(options="ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0") as url:
        refused = start_fork(run_command, tmp_path / "log", {"DATABASE_URL": url}, command)
        refused.join(300)
        assert refused.exitcode == 1
    output = (tmp_path / "log").read_text()
    assert words in output
    assert "createdb --encoding UTF8 --template template0" in output
