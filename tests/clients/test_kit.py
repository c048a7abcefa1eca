"""The TypeScript kit's own tests, in node (clients/typescript/tests), with a running service."""

import pytest

from tests.builders import make_token, make_user
from tests.clients.generator import generate_typescript
from tests.contacts_project.server.server_thread import RunningServer
from tests.npm import NODE, TYPESCRIPT, check_types, run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

ACCOUNTS = 40  # each test uses one or two


def test_kit_passes_its_tests(server: RunningServer) -> None:
    generate_typescript()
    assert check_types(TYPESCRIPT, "tests") == ""
    tokens = [make_token(make_user(f"user{number}@example.org")) for number in range(ACCOUNTS)]
    files = sorted(str(path) for path in TYPESCRIPT.glob("tests/*.test.ts"))
    # In one process, so that no two files use the same accounts.
    options = ["--test", "--test-isolation=none", "--test-reporter=spec", "--test-timeout=120000", "--test-force-exit"]
    told = run([NODE, *options, *files], TYPESCRIPT, BASE=server.base, TOKENS=" ".join(tokens))
    passed = int(told.partition("ℹ pass ")[2].split()[0])
    assert passed > 30, told
