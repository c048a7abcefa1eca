"""docs/settings.md names every variable that the service reads, and no other. None has to be set."""

import os
import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings

READ = re.compile(r'(?:env\.\w+|environ\.get)\(\s*"([A-Z_]+)"')


def variables() -> set[str]:
    """The names that the code reads."""
    return {
        name
        for folder in ("contacts_project", "accounts", "people", "relationships", "carddav", "notifications")
        for file in (settings.BASE_DIR / folder).rglob("*.py")
        for name in READ.findall(file.read_text())
    }


def test_every_variable_is_described() -> None:
    page = (settings.BASE_DIR / "docs" / "settings.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    described = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert described == variables()


def test_an_empty_variable_is_one_that_is_not_set(tmp_path: Path) -> None:
    """Compose files and filled-in templates of .env leave them so."""
    empty = dict.fromkeys(variables() - {"DATA_DIR"}, "")
    environment = {
        **os.environ,
        **empty,
        "DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
    }
    told = (
        "from django.conf import settings as s; print(s.PORT, s.ENCRYPTION_KEYS != [], s.DATABASES['default']['NAME'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", told],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.stdout.split()) == ("", ["8000", "True", str(tmp_path / "contacts.sqlite3")])
