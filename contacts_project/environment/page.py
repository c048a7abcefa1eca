"""Generates docs/settings.md from the table: `python -m contacts_project.environment.page > docs/settings.md`."""

import sys
from collections.abc import Iterator

from contacts_project.environment.table import SECTIONS, Setting

INTRODUCTION = """\
# Settings

Every setting is an environment variable, or a line `NAME=value` in the file `.env` beside `manage.py`. No setting is
required. An empty variable counts as not set. If a value is not allowed, the start of `manage.py`, the web server or
Celery fails with one line that names the setting; `manage.py doctor` reports other problems.

This page is generated from `contacts_project/environment/table.py` by
`python -m contacts_project.environment.page > docs/settings.md`.
"""
TESTS = """
## Tests

With `TEST_DATABASE_URL` and `TEST_REDIS_URL` the tests use your servers instead of starting their own.
"""


def lines() -> Iterator[str]:
    yield INTRODUCTION
    for title, settings in SECTIONS.items():
        yield f"\n## {title}\n\n| variable | default | allowed | meaning |\n|---|---|---|---|\n"
        yield from map(format_row, settings)
    yield TESTS


def format_row(setting: Setting) -> str:
    default = setting.unset or f"`{setting.default}`"
    allowed = setting.kind.allowed.replace("|", "\\|")
    return f"| `{setting.name}` | {default} | {allowed} | {setting.meaning} |\n"


if __name__ == "__main__":
    sys.stdout.writelines(lines())
