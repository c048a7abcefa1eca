"""`manage.py import_contacts` and `manage.py import_vcards`."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from people.models import ContactImport, ImportantDate, Person
from tests.people.importing.uploads import vcard


def run(command: str, file: Path, *options: str, user: str = "alice@example.org") -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(command, str(file), "--user", user, *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def import_contacts(file: Path, *options: str, user: str = "alice@example.org") -> tuple[str, str]:
    return run("import_contacts", file, "--source", "csv", *options, user=user)


def import_vcards(file: Path, user: str = "alice@example.org") -> tuple[str, str]:
    return run("import_vcards", file, user=user)


def test_contacts_come_in_with_a_progress_bar_and_omissions(alice: User, tmp_path: Path) -> None:
    file = tmp_path / "contacts.csv"
    file.write_text("A,Shoe size\nAda,44\n,45\n")
    out, err = import_contacts(file, "--mapping", '{"A": "name"}', "--dry-run")
    assert out == "1 imported, 0 updated, 0 skipped, 1 errors\nNothing was written: this was a dry run.\n"
    assert not Person.objects.owned_by(alice).exists()
    out, err = import_contacts(file, "--mapping", '{"A": "name"}')
    assert out.startswith("1 imported, 0 updated, 0 skipped, 1 errors\nImport ")
    assert "Importing: 100%" in err
    assert "Row 1 (Ada): the column “Shoe size” was left out" in err
    assert "Row 2: " in err
    assert Person.objects.owned_by(alice).count() == 1


def test_both_commands_take_which_dates_are_reminded_of(alice: User, tmp_path: Path) -> None:
    cards, contacts = tmp_path / "a.vcf", tmp_path / "a.csv"
    cards.write_bytes(vcard("FN:Ada", "BDAY:1815-12-10"))
    contacts.write_text("Given name,Birthday\nBo,1990-01-02\n")
    run("import_vcards", cards, "--remind", "birthdays")
    import_contacts(contacts, "--remind", "all")
    assert ImportantDate.objects.owned_by(alice).filter(reminder_enabled=True).count() == 2


def test_command_names_the_kinds_of_data_that_it_leaves_out(alice: User, tmp_path: Path) -> None:
    file = tmp_path / "monica.json"
    kinds = '{"type": "contact", "values": []}, {"type": "ritual", "values": [{}, {}]}'
    file.write_text(f'{{"account": {{"data": [{kinds}]}}}}')
    _, err = import_contacts(file, "--source", "monica")
    assert "ritual: 2 of them have no place here and were left out" in err


def test_invalid_arguments_are_reported(alice: User, tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.touch()
    for options, words in (((file,), "no row"), ((tmp_path / "none.csv",), "no file")):
        with pytest.raises(CommandError, match=words):
            import_contacts(*options)
    with pytest.raises(CommandError, match="no account"):
        import_contacts(file, user="nobody@example.org")


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "phone.vcf"
    path.write_bytes(vcard("FN:Ada") + vcard("NOTE:?") + vcard("FN:Bob"))
    return path


def test_cards_come_in_with_a_progress_bar_and_failures(alice: User, cards: Path) -> None:
    out, err = import_vcards(cards, "ALICE@example.org")
    row = ContactImport.objects.owned_by(alice).get()
    assert out == f"2 imported, 0 updated, 0 skipped, 1 errors\nImport {row.pk}\n"
    assert (row.source, row.file_name, row.imported, row.errors) == ("vcard", "phone.vcf", 2, 1)
    assert "Importing: 100%" in err
    assert "Card 2: the card has no name" in err
    assert Person.objects.owned_by(alice).count() == 2
    assert import_vcards(cards)[0] == "0 imported, 0 updated, 2 skipped, 1 errors\n"


def test_missing_file_or_user_is_reported(alice: User, cards: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no account"):
        import_vcards(cards, "nobody@example.org")
    with pytest.raises(CommandError, match="no file"):
        import_vcards(tmp_path / "missing.vcf")


def test_file_with_only_bad_cards_fails(alice: User, tmp_path: Path) -> None:
    (tmp_path / "bad.vcf").write_bytes(vcard("NOTE:?"))
    with pytest.raises(CommandError, match="No card"):
        import_vcards(tmp_path / "bad.vcf")


def test_file_without_cards_fails(alice: User, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada,")
    with pytest.raises(CommandError, match=r"There is no vCard in .*letter\.txt"):
        import_vcards(tmp_path / "letter.txt")
