"""docs/settings.md names every variable that the service reads, and no other."""

import re

from django.conf import settings

READ = re.compile(r'(?:env\.\w+|environ\.get)\(\s*"([A-Z_]+)"')


def test_every_variable_is_described() -> None:
    read = {
        name
        for folder in ("contacts_project", "accounts", "people", "relationships", "carddav", "notifications")
        for file in (settings.BASE_DIR / folder).rglob("*.py")
        for name in READ.findall(file.read_text())
    }
    page = (settings.BASE_DIR / "docs" / "settings.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    described = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert described == read
