"""The generated clients compile, include every operation, and work with a running instance."""

import re
import sys
from typing import Any

import pytest
from contacts_client import connection

from accounts.models import User
from tests.builders import make_token
from tests.clients.generator import PYTHON, ROUTES, generate_python, generate_typescript
from tests.npm import NODE, TYPESCRIPT, check_types, run
from tests.routes.openapi import document, operations

pytestmark = pytest.mark.one_database


@pytest.fixture(scope="module")
def generated() -> None:
    """Generate the clients as `make clients` does."""
    generate_typescript()
    generate_python()


@pytest.mark.usefixtures("generated")
def test_typescript_client_is_complete_and_works(live_server: Any, alice: User) -> None:
    assert check_types(TYPESCRIPT) == ""
    environment = {"BASE": live_server.url, "TOKEN": make_token(alice)}
    assert run([NODE, "examples/routes.ts"], TYPESCRIPT, **environment) == "ok\n"


@pytest.mark.usefixtures("generated")
def test_python_client_is_complete_and_works(live_server: Any, alice: User) -> None:
    endpoints = [path for path in (ROUTES / "api").glob("*/*.py") if path.name != "__init__.py"]
    assert len(endpoints) == len(operations())
    environment = {"BASE": live_server.url, "TOKEN": make_token(alice), "PYTHONPATH": str(PYTHON)}
    assert run([sys.executable, "examples/routes.py"], PYTHON, **environment) == "ok\n"


def test_clients_know_the_routes_without_idempotency_key() -> None:
    """Clients repeat a POST whose response was lost, unless it does not accept an Idempotency-Key."""
    source = (TYPESCRIPT / "src/retrying.ts").read_text()
    listed = re.findall(r'^  "(/api/.*)",$', source, re.MULTILINE)
    assert tuple(listed) == connection.PATHS_WITHOUT_KEY
    for path, item in document()["paths"].items():
        if "post" in item:
            takes_key = any(
                parameter.get("name") == "Idempotency-Key" for parameter in item["post"].get("parameters", ())
            )
            assert takes_key or path.startswith(connection.PATHS_WITHOUT_KEY), path
