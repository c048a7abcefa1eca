"""Several machines bring a new release at once: each runs `manage.py migrate`."""

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.databases import empty_database
from tests.workers import ROOT

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an instance on SQLite is one process's"),
]


def test_three_that_migrate_at_once_do_no_harm() -> None:
    with empty_database() as url:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "contacts_project.settings", "DATABASE_URL": url}
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        runs = [subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) for _ in "123"]
        said = [run.communicate(timeout=300)[1][-2000:] for run in runs]
        assert [run.returncode for run in runs] == [0, 0, 0], said
        check = subprocess.run([*command, "--check"], cwd=ROOT, env=environment, check=False)
        assert check.returncode == 0


def test_a_database_that_cannot_take_every_name_is_refused() -> None:
    with empty_database(options="ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0") as url:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "contacts_project.settings", "DATABASE_URL": url}
        for command, word in (("migrate", "holds LATIN1 and cannot take every name"), ("doctor", "holds LATIN1.")):
            done = subprocess.run(
                [sys.executable, "manage.py", command],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 1
            assert word in done.stdout + done.stderr
            assert "createdb --encoding UTF8 --template template0" in done.stdout + done.stderr
