"""What is generated from the API description compiles, leaves nothing out, and works against a running instance."""

import os
import sys
from typing import Any

import pytest

from accounts.models import User
from tests.builders import make_token
from tests.clients.generator import NODE, PYTHON, TYPESCRIPT, generate_python, generate_typescript, run
from tests.routes.openapi import operations

pytestmark = pytest.mark.skipif("TEST_DATABASE_URL" in os.environ, reason="clients do not see the database")


def test_typescript(live_server: Any, alice: User) -> None:
    generate_typescript()
    assert run([NODE, "program.ts"], TYPESCRIPT, BASE=live_server.url, TOKEN=make_token(alice)) == "ok\n"


def test_python(live_server: Any, alice: User) -> None:
    generate_python()
    endpoints = [path for path in (PYTHON / "contacts_client/api").glob("*/*.py") if path.name != "__init__.py"]
    assert len(endpoints) == len(operations())
    assert run([sys.executable, "program.py"], PYTHON, BASE=live_server.url, TOKEN=make_token(alice)) == "ok\n"
