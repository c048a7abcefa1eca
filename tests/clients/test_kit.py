"""The TypeScript kit's own tests, in node (clients/typescript/tests), with a running service."""

import os
from pathlib import Path

import pytest

from tests.builders import make_token, make_user
from tests.clients.generator import generate_typescript
from tests.contacts_project.server.server_thread import RunningServer
from tests.npm import NODE, TYPESCRIPT, check_types, run

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNTS = 100  # each test uses one or two
RANDOM_ACTIONS = TYPESCRIPT / "tests/randomActions.test.ts"


def run_tests(server: RunningServer, files: list[Path], accounts: int, **environment: str) -> int:
    """Run test files, and return how many tests have passed."""
    generate_typescript()
    tokens = [make_token(make_user(f"user{number}@example.org")) for number in range(accounts)]
    # In one process, so that no two files use the same accounts.
    options = ["--test", "--test-isolation=none", "--test-reporter=spec", "--test-timeout=240000", "--test-force-exit"]
    command = [NODE, *options, *map(str, files)]
    told = run(command, TYPESCRIPT, BASE=server.base, TOKENS=" ".join(tokens), **environment)
    print(told)
    return int(told.partition("ℹ pass ")[2].split()[0])


@pytest.mark.one_database
def test_kit_passes_its_tests(server: RunningServer) -> None:
    generate_typescript()
    assert check_types(TYPESCRIPT, "tests") == ""
    files = sorted(path for path in TYPESCRIPT.glob("tests/*.test.ts") if path != RANDOM_ACTIONS)
    assert run_tests(server, files, ACCOUNTS) > 70


def test_random_edits_and_faults_lose_nothing(server: RunningServer) -> None:
    given = {name: os.environ[name] for name in ("OFFLINE_ROUNDS", "OFFLINE_SEED") if name in os.environ}
    assert run_tests(server, [RANDOM_ACTIONS], 1, **given) == 1
