"""A field that is added by CONTRIBUTING's recipe is everywhere, to the client in the browser: lines in a copy of the
source, a migration, and its words in six languages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.npm import TYPESCRIPT, WEB, install_packages

IGNORED = (".*", "node_modules", "data", "docs", "schema.ts", "personFields.ts", "searchedFields.ts", "openapi.json")
PRONOUNS = {
    "de-DE": "Pronomen",
    "es-ES": "Pronombres",
    "fr-FR": "Pronoms",
    "ja-JP": "代名詞",
    "nb-NO": "Pronomen",
}
LINES = {
    "people/field_table.py": (
        '    PersonField("jobTitle"',
        '    PersonField("pronouns", 100, index_name="pronouns", card_property="PRONOUNS", find=Find.TEXT),\n',
    ),
    "people/models/person.py": (
        "    job_title = ",
        "    pronouns = models.CharField(max_length=100, null=True, blank=True)\n",
    ),
    "people/vcard/card.py": ("    job_title: ", "    pronouns: str | None = None\n"),
    "clients/web/src/features/sync/describe.ts": ("    jobTitle: ", '    pronouns: t("Pronouns"),\n'),
    **{
        f"clients/web/src/texts/{language}/fields.json": ('  "Position": ', f'  "Pronouns": "{text}",\n')
        for language, text in PRONOUNS.items()
    },
}


def run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    # A database of its own beside that of the process which runs this test.
    environment = {**os.environ, "TEST_DATABASE_NAME": f"test_made_up_{os.getpid()}"}
    return subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


# PostgreSQL gets other statements for this field than for `job_title` in nothing but its name.
@pytest.mark.sqlite_suffices
@pytest.mark.django_db
def test_a_field_of_the_recipe_is_everywhere(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*IGNORED))
    for client in (TYPESCRIPT, WEB):
        install_packages(client)
        (copy / client.relative_to(ROOT) / "node_modules").symlink_to(client / "node_modules")
    for name, (before, line) in LINES.items():
        text = (copy / name).read_text()
        assert text.count(before) == 1
        (copy / name).write_text(text.replace(before, line + before))
    made = run(copy, "manage.py", "makemigrations", "people", "--name", "made_up")
    assert made.returncode == 0, made.stderr
    tested = run(copy, "-m", "pytest", "tests/people/fields/made_up_field.py", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout[-5000:] + tested.stderr[-2000:]
    assert "8 passed" in tested.stdout
