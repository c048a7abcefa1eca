"""Merging two people, and importing a card into somebody: each line of the table of docs/entries.md."""

from typing import Any

import pytest

from tests.client import Client
from tests.people.importing.uploads import counts, import_file, import_vcards
from tests.people.merging.steps import merge_people, read_person
from tests.people.same_entries import DIFFERENT, SAME, Case, card_with
from tests.people.steps import create_person

pytestmark = pytest.mark.sqlite_suffices


def with_entry(field: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {field: [entry]}


@pytest.mark.parametrize("case", SAME, ids=str)
def test_merging_keeps_the_one_that_was_there_first(api: Client, case: Case) -> None:
    primary = create_person(api, "Ada", **with_entry(case.field, case.one))
    stored = read_person(api, primary)[case.field]
    secondary = create_person(api, "Ada", **with_entry(case.field, case.other))
    assert merge_people(api, primary, secondary)["person"][case.field] == stored


@pytest.mark.parametrize("case", DIFFERENT, ids=str)
def test_merging_adds_another(api: Client, case: Case) -> None:
    primary, secondary = (
        create_person(api, "Ada", **with_entry(case.field, entry)) for entry in (case.one, case.other)
    )
    both = [read_person(api, person)[case.field][0]["id"] for person in (primary, secondary)]
    assert [entry["id"] for entry in merge_people(api, primary, secondary)["person"][case.field]] == both


@pytest.mark.parametrize("case", SAME, ids=str)
def test_importing_keeps_the_one_that_was_there_first(api: Client, case: Case) -> None:
    person = create_person(api, "Ada", **with_entry(case.field, case.one))
    before = read_person(api, person)
    card = card_with(case.other, case.field, "Ada", before["uid"]).encode()
    import_vcards(api, card)
    assert read_person(api, person)[case.field] == before[case.field]
    assert counts(import_vcards(api, card)) == (0, 0, 1, 0)


@pytest.mark.parametrize("case", DIFFERENT, ids=str)
def test_importing_adds_another(api: Client, case: Case) -> None:
    person = create_person(api, "Ada", **with_entry(case.field, case.one))
    before = read_person(api, person)
    card = card_with(case.other, case.field, "Ada", before["uid"]).encode()
    assert counts(import_vcards(api, card)) == (0, 1, 0, 0)
    after = read_person(api, person)[case.field]
    assert (len(after), after[0]) == (2, before[case.field][0])
    assert counts(import_vcards(api, card)) == (0, 0, 1, 0)


def test_a_table_with_the_national_form_of_a_number_adds_none(api: Client) -> None:
    number = {"type": "mobile", "number": "+49 151 23456789"}
    person = create_person(api, "Ada", "Lovelace", **with_entry("phoneNumbers", number))
    receipt = import_file(api, "csv", "First name,Last name,Phone\nAda,Lovelace,0151 23456789\n")
    assert counts(receipt) == (0, 0, 1, 0)
    assert [entry["number"] for entry in read_person(api, person)["phoneNumbers"]] == ["+49 151 23456789"]


def test_the_same_file_in_decomposed_letters_changes_nothing(api: Client) -> None:
    lines = (
        "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Mu\u0308ller;Zoe\u0308;;;\r\nFN:Zoe\u0308 Mu\u0308ller\r\nTITLE:Cafe\u0301\r\n"
    )
    decomposed = f"{lines}EMAIL:a@x.org\r\nCATEGORIES:Cafe\u0301\r\nNOTE:e\u0301\r\nEND:VCARD\r\n"
    composed = decomposed.replace("u\u0308", "\u00fc").replace("e\u0308", "\u00eb").replace("e\u0301", "\u00e9")
    assert counts(import_vcards(api, composed.encode())) == (1, 0, 0, 0)
    assert counts(import_vcards(api, decomposed.encode())) == (0, 0, 1, 0)
