"""`manage.py import_contacts`."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from people.models import Person


def run(file: Path, *options: str, user: str = "alice@example.org") -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_contacts", str(file), "--user", user, "--source", "csv", *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_command_imports_with_a_progress_bar_and_reports_omissions(alice: User, tmp_path: Any) -> None:
    file = tmp_path / "contacts.csv"
    file.write_text("A,Shoe size\nAda,44\n,45\n")
    out, err = run(file, "--mapping", '{"A": "name"}', "--dry-run")
    assert out == "1 imported, 0 updated, 0 skipped, 1 errors\nNothing was written: this was a dry run.\n"
    assert not Person.objects.owned_by(alice).exists()
    out, err = run(file, "--mapping", '{"A": "name"}')
    assert out.startswith("1 imported, 0 updated, 0 skipped, 1 errors\nImport ")
    assert "Importing: 100%" in err
    assert "Row 1 (Ada): the column “Shoe size” was left out" in err
    assert "Row 2: " in err
    assert Person.objects.owned_by(alice).count() == 1


def test_command_names_the_kinds_of_data_that_it_leaves_out(alice: User, tmp_path: Any) -> None:
    file = tmp_path / "monica.json"
    kinds = '{"type": "contact", "values": []}, {"type": "ritual", "values": [{}, {}]}'
    file.write_text(f'{{"account": {{"data": [{kinds}]}}}}')
    _, err = run(file, "--source", "monica")
    assert "ritual: 2 of them have no place here and were left out" in err


def test_invalid_arguments_are_reported(alice: User, tmp_path: Any) -> None:
    file = tmp_path / "empty.csv"
    file.touch()
    for options, words in (((file,), "no row"), ((tmp_path / "none.csv",), "no file")):
        with pytest.raises(CommandError, match=words):
            run(*options)
    with pytest.raises(CommandError, match="no account"):
        run(file, user="nobody@example.org")
