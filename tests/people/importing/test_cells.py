"""Cells of tables: numbers that a spreadsheet destroyed, several values in one, spellings of addresses and links."""

import csv
import io
from typing import Any

import pytest

from tests.client import Client
from tests.people.find.test_find import found_names
from tests.people.importing.uploads import counts, import_file, import_vcards, people_by_name, vcard

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def table(*rows: tuple[str, ...]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def import_cells(api: Client, column: str, cells: list[str], source: str = "csv") -> tuple[list[Any], dict[str, Any]]:
    """The results of a file with a person for each cell, and the people by name (P0, P1 ...)."""
    names = ("Given Name", "Family Name") if source == "google" else ("First Name", "Last Name")
    rows = [(f"P{number}", "Tabe", cell) for number, cell in enumerate(cells)]
    receipt = import_file(api, source, table((*names, column), *rows))
    assert counts(receipt) == (len(cells), 0, 0, 0)
    return receipt["results"], people_by_name(api)


LOST = ["4.91512E+11", "4,91512E+11", "4.91512e+11", "4.91512E11", "5E+10", "4.91512 E+11"]
ERRORS = ["#N/A", "#NV", "#REF!", "#BEZUG!", "#VALUE!", "#WERT!", "#VALEUR!", "#¡VALOR!", "#NAME?", "#DIV/0!", "#NUM!"]
ERRORS += ["#NOM?", "#¿NOMBRE?", "#VERDI!", "#I/T", "########", "#ERROR!", "#SPILL!", "Err:502", "#N/D", "#NULL!"]
NOTHING = ["NULL", "null", "(null)", "\\N", "NaN", "N/A", "None", "-", "?"]


@pytest.mark.parametrize(("column", "source"), [("Mobile Phone", "csv"), ("Phone 1 - Value", "google")])
def test_numbers_that_a_spreadsheet_destroyed_are_left_out_with_a_remark(api: Client, column: str, source: str) -> None:
    cells = LOST + ERRORS + NOTHING
    results, people = import_cells(api, column, cells, source)
    assert [people[f"P{number}"]["phoneNumbers"] for number in range(len(cells))] == [[]] * len(cells)
    codes = [result["code"] for result in results]
    assert codes == ["number_lost_its_digits"] * len(LOST) + ["cell_without_value"] * (len(ERRORS) + len(NOTHING))
    assert all(cell in result["reason"] for cell, result in zip(cells, results, strict=True))


@pytest.mark.parametrize("column", ["Email", "Website", "Company", "City", "Birthday", "Group"])
def test_errors_and_missing_values_are_left_out_of_every_column(api: Client, column: str) -> None:
    results, people = import_cells(api, column, ["#N/A", "NULL", "#REF!"])
    assert {result["code"] for result in results} == {"cell_without_value"}
    for person in people.values():
        assert not person["organization"]
        assert not any(
            person[key] for key in ("emails", "urls", "addresses", "importantDates", "groups", "customFields")
        )


def test_a_postal_code_that_a_spreadsheet_destroyed_is_left_out(api: Client) -> None:
    [result], people = import_cells(api, "Zip", ["1.23457E+08"])
    assert result["code"] == "number_lost_its_digits"
    assert people["P0"]["addresses"] == []


def test_somebody_may_be_called_null(api: Client) -> None:
    receipt = import_file(api, "csv", table(("First Name", "Last Name"), ("Jennifer", "Null"), ("Null", "Tabe")))
    assert counts(receipt) == (2, 0, 0, 0)
    assert {(person["name"], person["surname"]) for person in people_by_name(api).values()} == {
        ("Jennifer", "Null"),
        ("Null", "Tabe"),
    }


def test_an_error_is_no_name(api: Client) -> None:
    receipt = import_file(api, "csv", table(("First Name", "Last Name"), ("#N/A", "Tabe"), ("#REF!", "#N/A")))
    assert counts(receipt) == (1, 0, 0, 1)
    assert list(people_by_name(api)) == ["Tabe"]


WHOLE_NUMBERS = ["+49 151 2345678", "0170/1112233", "030/123456-78", "+49 30 123456 ext. 12", "030 123456,,12", "112"]


def test_numbers_stay_as_they_are_typed(api: Client) -> None:
    results, people = import_cells(api, "Phone", WHOLE_NUMBERS)
    assert [[entry["number"] for entry in people[f"P{number}"]["phoneNumbers"]] for number in range(6)] == [
        [number] for number in WHOLE_NUMBERS
    ]
    assert not any("reason" in result for result in results)


def test_decimals_of_a_program_are_no_digits_of_a_number(api: Client) -> None:
    _, people = import_cells(api, "Phone", ["491512345678.0", "491512345679,0"])
    assert [people[name]["phoneNumbers"][0]["number"] for name in ("P0", "P1")] == ["491512345678", "491512345679"]


SEVERAL = ["{}; {}", "{} / {}", "{}/{}", "{}, {}", "{}\n{}", "{}|{}", "{} ::: {}"]


@pytest.mark.parametrize(("column", "source"), [("Phone", "csv"), ("Phone 1 - Value", "google")])
def test_several_numbers_in_a_cell_each_find_the_person(api: Client, column: str, source: str) -> None:
    numbers = [(f"+346001112{number}1", f"+346001112{number}2") for number in range(len(SEVERAL))]
    cells = [cell.format(*pair) for cell, pair in zip(SEVERAL, numbers, strict=True)]
    results, people = import_cells(api, column, cells, source)
    assert not any("reason" in result for result in results)
    for index, pair in enumerate(numbers):
        assert [entry["number"] for entry in people[f"P{index}"]["phoneNumbers"]] == list(pair)
        for number in pair:
            assert found_names(api, number) == [f"P{index} Tabe"]


SPELLINGS = {
    "Ana Tabe <ana@example.org>": ["ana@example.org"],
    "mailto:ana@example.org": ["ana@example.org"],
    "MAILTO:ana%2Bx@example.org?subject=Hello": ["ana+x@example.org"],
    '"Dora" <dora@example.org>': ["dora@example.org"],
    '"Tabe, Ana" <ana@example.org>; Ben <ben@example.org>': ["ana@example.org", "ben@example.org"],
    "Tabe, Ana <ana@example.org>": ["ana@example.org"],
    "<ana@example.org>": ["ana@example.org"],
    "SMTP:ana@example.org": ["ana@example.org"],
    "Ana <mailto:ana@example.org>, <ben@example.org>": ["ana@example.org", "ben@example.org"],
    "mailto:ana@example.org,mailto:ben@example.org": ["ana@example.org", "ben@example.org"],
    "ana@example.org; ben@example.org": ["ana@example.org", "ben@example.org"],
    "ana@example.org ben@example.org": ["ana@example.org", "ben@example.org"],
    "ana@example.org\nben@example.org": ["ana@example.org", "ben@example.org"],
    "ana@example.org": ["ana@example.org"],
}


@pytest.mark.parametrize(("column", "source"), [("Email", "csv"), ("E-mail 1 - Value", "google")])
def test_addresses_with_a_name_or_a_scheme_are_addresses(api: Client, column: str, source: str) -> None:
    results, people = import_cells(api, column, list(SPELLINGS), source)
    assert not any("reason" in result for result in results)
    found = [[entry["email"] for entry in people[f"P{number}"]["emails"]] for number in range(len(SPELLINGS))]
    assert found == list(SPELLINGS.values())


@pytest.mark.parametrize("cell", ["no address", "ana@example.org; not@an address", "Ana <not an address>"])
def test_what_is_no_address_is_kept_as_a_custom_field(api: Client, cell: str) -> None:
    [result], people = import_cells(api, "Email", [cell])
    assert "reason" in result
    assert [entry["value"] for entry in people["P0"]["customFields"]] == [cell]


LINKS = {
    "www.example.org": ["https://www.example.org"],
    "WWW.Example.org/a?b#c": ["https://WWW.Example.org/a?b#c"],
    "http://example.org": ["http://example.org"],
    "www.example.org https://example.net/a,b": ["https://www.example.org", "https://example.net/a,b"],
    "example.org": ["example.org"],
}


@pytest.mark.parametrize(("column", "source"), [("Website", "csv"), ("Website 1 - Value", "google")])
def test_www_is_a_link(api: Client, column: str, source: str) -> None:
    _, people = import_cells(api, column, list(LINKS), source)
    found = [[entry["url"] for entry in people[f"P{number}"]["urls"]] for number in range(len(LINKS))]
    assert found == list(LINKS.values())


def test_a_link_that_was_here_without_its_scheme_is_the_same(api: Client) -> None:
    import_vcards(api, vcard("FN:Ana Tabe", "N:Tabe;Ana;;;", "EMAIL:ana@example.org", "URL:www.example.org"))
    cells = ("First Name", "Last Name", "Email", "Website"), ("Ana", "Tabe", "ana@example.org", "www.example.org")
    assert counts(import_file(api, "csv", table(*cells))) == (0, 0, 1, 0)
    assert [entry["url"] for entry in people_by_name(api)["Ana"]["urls"]] == ["www.example.org"]
