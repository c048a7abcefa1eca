"""Import: a phone's file is taken, its people are shown, and the import is undone."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from people.models import Person
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

CARDS = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\nUID:a\r\nEND:VCARD\r\n"
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Babbage;Charles;;;\r\nFN:Charles Babbage\r\nUID:b\r\nEND:VCARD\r\n"
)


def test_a_file_of_a_phone_is_imported_and_the_import_undone(web: Web, tmp_path: Path) -> None:
    file = tmp_path / "phone.vcf"
    file.write_text(CARDS)
    page = web.open("/account/data")
    page.get_by_role("link", name="Import people").click()
    page.get_by_role("button", name="The file").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="What the import did")).to_be_visible()
    expect(page.get_by_text("2 people added.").first).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="To the people").click()
    expect(page.get_by_role("row", name="Charles Babbage")).to_be_visible()
    page.goto("/app/import")
    page.get_by_role("button", name="Undo this import: phone.vcf").click()
    expect(page.get_by_text("undone")).to_be_visible()
    web.eventually(page, lambda: not Person.unscoped.filter(deleted_at=None).exists())


def test_a_table_is_looked_at_before_it_is_taken(web: Web, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name,surname,birthday\nAda,Lovelace,1815-12-10\nBob,Builder,31.02.1990\n")
    page = web.open("/import")
    page.get_by_label("Where the file comes from").select_option(label="Another table (CSV)")
    page.get_by_role("button", name="The file").set_input_files(file)
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.get_by_role("heading", name="What the import would do")).to_be_visible()
    assert not Person.unscoped.exists()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="What the import did")).to_be_visible()
    assert Person.unscoped.count() == 2


def test_a_card_without_a_name_is_named_by_its_place(web: Web) -> None:
    cards = b"BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nNOTE:nobody\nEND:VCARD\n"
    page = web.open("/import")
    page.get_by_role("button", name="The file").set_input_files(
        {"name": "two.vcf", "mimeType": "text/vcard", "buffer": cards}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Entry 2 of the file")).to_be_visible()
