"""Runs the programs of docs/clients.md unchanged, with a running instance."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from tests.builders import make_token, make_user, verify_email
from tests.clients.generator import PYTHON
from tests.contacts_project.server.server_thread import RunningServer
from tests.npm import NODE, TYPESCRIPT, install_packages, run
from tests.oidc_provider import oidc_provider, use_provider

# On one database only, because it writes into the source tree.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

# Follows redirects and keeps cookies, like a browser.
BROWSER = "import sys, httpx; httpx.Client(follow_redirects=True).get(sys.argv[1]).raise_for_status()"
# All programs in one process, each as its main module: loading the client takes most of the time.
RUN_ALL = "import sys\nfor program in sys.argv[1:]: exec(program, {'__name__': '__main__'}); print('--')"
PAGE = Path(__file__).parents[2] / "docs/clients.md"


def programs(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def environment(
    server: RunningServer, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[dict[str, str]]:
    ada: User = make_user("ada@example.org")
    ada.set_password("Analytical-1843")
    ada.save()
    verify_email(ada)
    monkeypatch.setattr("accounts.oidc.provider._documents", {})
    settings.BASE_URL, settings.OIDC_APP_REDIRECT_URIS = server.base, ["http://127.0.0.1/callback"]
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER)
    with oidc_provider() as provider:
        use_provider(provider, settings)
        yield {
            "BASE": server.base,
            "TOKEN": make_token(ada),
            "PYTHONPATH": str(PYTHON),
            "BROWSER": f"{sys.executable} {browser} %s",
        }


def test_python_programs_of_the_docs_work(environment: dict[str, str], tmp_path: Path) -> None:
    printed = run([sys.executable, "-c", RUN_ALL, *programs("python")], tmp_path, **environment)
    assert [part.split("\n") for part in printed.split("--\n")] == [
        ["Charles Babbage", "True", ""],
        ["ada@example.org", ""],
        ["True", ""],
        ["[201, 201]", ""],
        ["Birthday: Konrad 1906-12-09 YEARLY", ""],
        ["['pagination', 'people']", ""],
        [""],
    ]


def test_typescript_programs_of_the_docs_work(environment: dict[str, str]) -> None:
    install_packages(TYPESCRIPT)
    folder = TYPESCRIPT / "build/docs"
    folder.mkdir(parents=True, exist_ok=True)
    printed = []
    for number, program in enumerate(programs("typescript")):
        path = folder / f"{number}.ts"
        path.write_text(program.replace('"contacts-client"', '"../../src/index.ts"'))  # as if it were installed
        printed.append(run([NODE, str(path)], TYPESCRIPT, **environment))
    assert printed == ["0\n", "Hopper\n2 0\n"]
