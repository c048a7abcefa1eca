"""Nothing that is looked up depends on the collation of the database."""

import os
import subprocess
import sys

import psycopg
import pytest

from tests.turkish_server import turkish_server

#: Files whose tests compare texts with capital letters.
FILES = (
    "tests/accounts/test_address_spellings.py",
    "tests/people/find/test_find.py",
    "tests/people/test_groups.py",
    "tests/people/test_normal_forms.py",
    "tests/relationships/test_types.py",
)


@pytest.mark.one_database
def test_letters_without_case_are_the_same_under_a_turkish_collation() -> None:
    with turkish_server() as url:
        with psycopg.connect(url) as server:
            assert server.execute("SELECT lower('I'), upper('i')").fetchone() == ("ı", "İ")
        # Not TEST_CLAIMS: the other processes of this run have claimed these files.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TEST_"))}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *FILES],
            env={**environment, "TEST_DATABASE_URL": url, "TEST_ROUNDS": "2"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
