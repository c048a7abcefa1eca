"""A short soak on the database of this run, if TEST_SOAK_SECONDS is set."""

import os
import subprocess
import sys

import pytest

from tests import ROOT

SECONDS = os.environ.get("TEST_SOAK_SECONDS")


@pytest.mark.skipif(not SECONDS, reason="takes minutes; set TEST_SOAK_SECONDS to the seconds of load")
def test_nothing_that_was_acknowledged_is_lost(db: None) -> None:
    database = "postgresql" if "TEST_DATABASE_URL" in os.environ else "sqlite"
    command = [sys.executable, "-m", "tests.soak", "--db", database, "--seconds", str(SECONDS)]
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
