"""The long histories of shares: after the load, whose time decides how many there are."""

import os
import subprocess
import sys

from tests import ROOT

FILES = ["tests/sharing/test_histories.py", "tests/sharing/test_long_histories.py"]
SECONDS_PER_ROUND = 60


def run_histories(database: str, seconds: int) -> int:
    """Run them with a TEST_ROUNDS for each minute of load; returns the exit status."""
    rounds = max(2, seconds // SECONDS_PER_ROUND)
    print(f"\n### {database}, histories of shares with TEST_ROUNDS={rounds}", flush=True)
    # What a pytest around this one has set is not for this one, which has a server and databases of its own.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    left_out = {"TEST_DATABASE_URL", "DJANGO_SETTINGS_MODULE"}
    environment = {name: value for name, value in kept.items() if name not in left_out}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.run", "--db", database, "-q", "-n0", *FILES],
        cwd=ROOT,
        env={**environment, "TEST_ROUNDS": str(rounds)},
    )
    try:
        return process.wait()
    finally:
        process.terminate()  # it ends its pytest and its server
        process.wait()
