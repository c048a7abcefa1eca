"""The TypeScript kit's own tests, in node (clients/typescript/tests), with a running service."""

import datetime as dt
import os
from pathlib import Path

import pytest

from accounts.models import User
from meetings.models import CalendarSource
from tests.builders import make_person, make_token, make_user
from tests.clients.generator import generate_typescript
from tests.contacts_project.server.server_thread import RunningServer
from tests.meetings.builders import make_proposal
from tests.npm import NODE, TYPESCRIPT, check_types, run

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNTS = 100  # each test uses one or two
MEETINGS = 10  # each test of answers uses one
RANDOM_ACTIONS = TYPESCRIPT / "tests/randomActions.test.ts"


def make_meetings(owner: User) -> None:
    """Ada, and five meetings with her and somebody unknown that a calendar proposes."""
    ada = make_person(owner, name="Ada")
    source = CalendarSource.objects.create(owner=owner, name="Work", kind="ics", url="https://example.org/a.ics")
    for number in range(5):
        at = dt.datetime(2026, 5, 1 + number, 12, tzinfo=dt.UTC)
        guest = {"email": "grace@example.org", "name": "Grace Hopper"}
        end = at + dt.timedelta(hours=1)
        make_proposal(source, ada, title=f"Lunch {number}", starts_at=at, ends_at=end, unknown=[guest])


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
    busy = [make_user(f"busy{number}@example.org") for number in range(MEETINGS)]
    for user in busy:
        make_meetings(user)
    tokens = " ".join(make_token(user) for user in busy)
    assert run_tests(server, files, ACCOUNTS, MEETINGS_TOKENS=tokens) > 80


def test_random_edits_and_faults_lose_nothing(server: RunningServer) -> None:
    given = {name: os.environ[name] for name in ("OFFLINE_ROUNDS", "OFFLINE_SEED") if name in os.environ}
    assert run_tests(server, [RANDOM_ACTIONS], 1, **given) == 1
