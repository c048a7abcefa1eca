"""The programs of docs/clients.md, as they stand there, against a running instance."""

import re
import sys
from pathlib import Path

import pytest

from accounts.models import User
from tests.builders import make_token, make_user
from tests.clients.generator import NODE, PYTHON, TYPESCRIPT, run
from tests.contacts_project.server.server_thread import Running

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = Path(__file__).parents[2] / "docs/clients.md"


def programs(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def environment(server: Running, db: None) -> dict[str, str]:
    ada: User = make_user("ada@example.org")
    ada.set_password("Analytical-1843")
    ada.save()
    return {"BASE": server.base, "TOKEN": make_token(ada), "PYTHONPATH": str(PYTHON)}


def test_python(environment: dict[str, str], tmp_path: Path) -> None:
    printed = [
        run([sys.executable, "-c", program], tmp_path, **environment).split("\n") for program in programs("python")
    ]
    assert printed == [
        ["Charles Babbage", "True", ""],
        ["Hopper", "2 0", ""],
        ["True", ""],
        ["[201, 201]", ""],
        ["Birthday: Konrad 1906-12-09 YEARLY", ""],
        ["['pagination', 'people']", ""],
    ]


@pytest.mark.skipif(not (TYPESCRIPT / "node_modules").exists(), reason="tests/clients/test_clients.py installs it")
def test_typescript(environment: dict[str, str]) -> None:
    folder = TYPESCRIPT / "build/docs"
    folder.mkdir(parents=True, exist_ok=True)
    for number, program in enumerate(programs("typescript")):
        path = folder / f"{number}.ts"
        path.write_text(program)
        assert run([NODE, str(path)], TYPESCRIPT, **environment) == "0\n"
