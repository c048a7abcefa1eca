"""Writes docs/settings.md from the table: `python -m contacts_project.environment.page > docs/settings.md`."""

import sys
from collections.abc import Iterator

from contacts_project.environment.table import SECTIONS, Setting

INTRODUCTION = """\
# Settings

Every setting is an environment variable, or a line `NAME=value` of `.env` beside `manage.py`. Nothing has to be set,
and an empty variable is one that is not set. A value that is not allowed stops whatever is started, `manage.py`, the
web server or Celery, with one line that names it; `manage.py doctor` says what else is not right.

This page is made from `contacts_project/environment/table.py` by
`python -m contacts_project.environment.page > docs/settings.md`.
"""
TESTS = """
## Tests

`TEST_DATABASE_URL` and `TEST_REDIS_URL` have the tests run against servers of yours instead of their own.
"""


def lines() -> Iterator[str]:
    yield INTRODUCTION
    for title, settings in SECTIONS.items():
        yield f"\n## {title}\n\n| variable | default | allowed | meaning |\n|---|---|---|---|\n"
        yield from map(row, settings)
    yield TESTS


def row(setting: Setting) -> str:
    default = setting.unset or f"`{setting.default}`"
    allowed = setting.kind.allowed.replace("|", "\\|")
    return f"| `{setting.name}` | {default} | {allowed} | {setting.meaning} |\n"


if __name__ == "__main__":
    sys.stdout.writelines(lines())
