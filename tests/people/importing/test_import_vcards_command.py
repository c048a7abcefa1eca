"""`manage.py import_vcards`."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from people.models import ContactImport, Person
from tests.people.importing.uploads import vcard


def run(file: Path, user: str = "alice@example.org") -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_vcards", str(file), "--user", user, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "phone.vcf"
    path.write_bytes(vcard("FN:Ada") + vcard("NOTE:?") + vcard("FN:Bob"))
    return path


def test_command_imports_with_a_progress_bar_and_reports_failures(alice: User, file: Path) -> None:
    out, err = run(file, "ALICE@example.org")
    row = ContactImport.objects.owned_by(alice).get()
    assert out == f"2 imported, 0 updated, 0 skipped, 1 errors\nImport {row.pk}\n"
    assert (row.source, row.file_name, row.imported, row.errors) == ("vcard", "phone.vcf", 2, 1)
    assert "Importing: 100%" in err
    assert "Card 2: the card has no name" in err
    assert Person.objects.owned_by(alice).count() == 2
    assert run(file)[0].startswith("0 imported, 0 updated, 2 skipped, 1 errors\nImport ")


def test_missing_file_or_user_is_reported(alice: User, file: Path, tmp_path: Any) -> None:
    with pytest.raises(CommandError, match="no account"):
        run(file, "nobody@example.org")
    with pytest.raises(CommandError, match="no file"):
        run(tmp_path / "missing.vcf")


def test_file_with_only_bad_cards_fails(alice: User, tmp_path: Path) -> None:
    (tmp_path / "bad.vcf").write_bytes(vcard("NOTE:?"))
    with pytest.raises(CommandError, match="No card"):
        run(tmp_path / "bad.vcf")


def test_file_without_cards_fails(alice: User, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada,")
    with pytest.raises(CommandError, match=r"There is no vCard in .*letter\.txt"):
        run(tmp_path / "letter.txt")
