"""Tables of Outlook, Thunderbird and spreadsheets: files that were reported, and the headers in six languages."""

from pathlib import Path
from typing import Any

import pytest

from people.importing.sources.headers import outlook_columns, thunderbird_targets
from tests.client import Client
from tests.people.importing.uploads import counts, import_file, people_by_name, send_form

pytestmark = pytest.mark.sqlite_suffices

TABLES = Path(__file__).with_name("tables")
SOURCES = Path(__file__).parents[3] / "people/importing/sources"


def read_table(name: str) -> bytes:
    return (TABLES / f"{name}.csv").read_bytes()


def entries(person: Any, field: str, key: str) -> list[tuple[str, str]]:
    return [(entry["type"], entry[key]) for entry in person[field]]


def left_out(result: Any) -> list[str]:
    return [remark["params"]["column"] for remark in result["remarks"] if remark["code"] == "column_left_out"]


def product_names(product: str, language: int) -> tuple[list[str], list[str]]:
    """The columns of a product, and their names in a language (0 is English), each in its first spelling."""
    lines = (SOURCES / f"{product}_columns.txt").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if not line.startswith("#")]
    return [row[0] for row in rows], [row[language + 1].split(" ~ ")[0] for row in rows]


@pytest.mark.parametrize("name", sorted(path.stem for path in TABLES.glob("enc_*.csv")))
def test_reported_table_in_an_old_encoding(api: Client, name: str) -> None:
    text = read_table(name).decode(name.removeprefix("enc_"))
    assert counts(import_file(api, "csv", read_table(name))) == (3, 0, 0, 0)
    people = people_by_name(api).values()
    rows = {",".join((one["name"], one["surname"], one["addresses"][0]["locality"])) for one in people}
    assert rows == set(text.splitlines()[1:4])


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("birthday_words_de", ["1980-12-24", "1999-03-05", "1977-05-03", "2001-10-01"]),
        ("birthday_words_en", ["1980-12-24"] * 4),
        ("birthday_words_es", ["1980-12-24", "1999-03-05", "2001-01-01"]),
        ("birthdays_without_year", ["1985-01-15", "1604-01-01", "1604-12-31", "1604-12-24", "1604-12-24"]),
        ("contradicting_birthdays", ["1980-12-25", "1980-12-25", "1980-04-03"]),
        ("sparse_birthdays_200", ["1980-03-04", "1980-12-25"]),
    ],
)
def test_reported_table_with_birthdays(api: Client, name: str, days: list[str]) -> None:
    import_file(api, "csv", read_table(name))
    people = people_by_name(api)
    dates = [date for key in sorted(people) for date in people[key]["importantDates"]]
    assert [date["date"][:10] for date in dates] == days
    assert [date["yearUnknown"] for date in dates] == [day.startswith("1604") for day in days]


def test_guards_of_spreadsheets_are_removed(api: Client) -> None:
    import_file(api, "csv", read_table("excel_text_guard") + b"'t Hooft,,\n=1+1,,'=x\n'99 Club,'-12,\n")
    people = people_by_name(api)
    assert people.keys() == {"Mina", "Tom", "'t Hooft", "=1+1", "'99 Club"}
    for name, number in (("Mina", "+49151234567"), ("Tom", "+49 151 777")):
        assert people[name]["phoneNumbers"][0]["number"] == number
        assert people[name]["addresses"][0]["postalCode"] == "01067"
    assert people["=1+1"]["addresses"][0]["postalCode"] == "=x"
    assert people["'99 Club"]["phoneNumbers"][0]["number"] == "-12"


def test_reported_table_of_german_outlook(api: Client) -> None:
    [result] = import_file(api, "csv", read_table("outlook_de"))["results"]
    assert left_out(result) == ["Abteilung", "Partner"]
    erika = people_by_name(api)["Erika"]
    names = ("prefix", "middleName", "surname", "organization", "jobTitle", "gender", "anniversary", "notes")
    assert [erika[name] for name in names] == ["Frau", "Maria", "Beispiel", "Acme GmbH", "Leiterin", None, None, "Text"]
    assert entries(erika, "phoneNumbers", "number") == [
        ("work fax", "+49 221 1"),
        ("work", "+49 221 2"),
        ("home", "+49 228 3"),
        ("mobile", "+49 151 4"),
    ]
    assert entries(erika, "addresses", "streetLine1") == [("work", "Werkstr. 1"), ("home", "Heimweg 2")]
    assert [email["email"] for email in erika["emails"]] == ["erika@a.example", "erika2@a.example"]
    assert [date["date"][:10] for date in erika["importantDates"]] == ["1980-12-24"]
    assert {group["name"] for group in erika["groups"]} == {"Kunden", "Freunde"}
    assert entries(erika, "urls", "url") == [("other", "https://a.example")]


def test_reported_table_of_french_outlook(api: Client) -> None:
    [result] = import_file(api, "csv", read_table("outlook_fr"))["results"]
    assert left_out(result) == ["Service", "Conjoint(e)"]
    anne = people_by_name(api)["Anne"]
    names = ("prefix", "middleName", "surname", "organization", "jobTitle", "gender", "anniversary", "notes")
    assert [anne[name] for name in names] == ["Mme", "Claire", "Exemple", "Acme SARL", "Directrice", None, None, "txt"]
    assert entries(anne, "addresses", "locality") == [("work", "Paris"), ("home", "Lyon")]
    assert [date["date"][:10] for date in anne["importantDates"]] == ["1980-12-24"]


@pytest.mark.parametrize(("name", "custom"), [("outlook_de", "Abteilung"), ("outlook_fr", "Service")])
def test_source_outlook_takes_other_languages(api: Client, name: str, custom: str) -> None:
    [result] = import_file(api, "outlook", read_table(name))["results"]
    assert "reason" not in result
    [person] = people_by_name(api).values()
    assert [field["key"] for field in person["customFields"]] == [custom]
    assert [line["label"] for line in person["more"]] == ["spouse"]


@pytest.mark.parametrize("name", ["thunderbird_de", "thunderbird_en"])
def test_reported_table_of_thunderbird(api: Client, name: str) -> None:
    results = import_file(api, "csv", read_table(name))["results"]
    assert len(left_out(results[0])) == 6  # screen name, department, four fields of one's own
    people = people_by_name(api)
    mina = people["Mina"]
    assert [mina[key] for key in ("surname", "displayName", "nickname")] == ["Kowalska", "Mina K.", "Min"]
    assert [kind for kind, _ in entries(mina, "phoneNumbers", "number")] == ["work", "home", "fax", "pager", "mobile"]
    assert [email["email"] for email in mina["emails"]] == ["mina@a.example", "mina2@a.example"]
    assert [kind for kind, _ in entries(mina, "addresses", "locality")] == ["home", "work"]
    assert all(all(address[key] for key in ("streetLine2", "postalCode", "country")) for address in mina["addresses"])
    assert [date["date"][:10] for date in mina["importantDates"]] == ["1984-02-29"]
    assert len(mina["urls"]) == 2
    if name == "thunderbird_en":
        tom = people["Tom"]
        assert (tom["displayName"], tom["displayNameOverride"]) == ("Tom Noyear", None)
        [day] = tom["importantDates"]
        assert (day["date"][5:10], day["yearUnknown"]) == ("12-05", True)


@pytest.mark.parametrize("language", range(6))
def test_headers_of_outlook_in_each_language(language: int) -> None:
    columns, names = product_names("outlook", language)
    assert outlook_columns(names) == columns
    assert outlook_columns(["x", *names[:8]]) is None


@pytest.mark.parametrize("language", range(6))
def test_headers_of_thunderbird_in_each_language(api: Client, language: int) -> None:
    columns, names = product_names("thunderbird", language)
    targets = [column.replace("-", "") for column in columns]
    assert thunderbird_targets(names) == targets
    inspected = send_form(api, "/api/import/csv/inspect", "|".join(names) + "\n", delimiter="|").json()["columns"]
    assert [column["proposal"] for column in inspected] == [target or "ignore" for target in targets]


def test_proposals_are_a_mapping(api: Client) -> None:
    data = read_table("thunderbird_en")
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    pairs = ",".join(f'"{column["name"]}":"{column["proposal"]}"' for column in columns)
    import_file(api, "csv", data, mapping=f"{{{pairs}}}")
    assert people_by_name(api)["Mina"]["importantDates"][0]["date"].startswith("1984-02-29")


@pytest.mark.parametrize(
    ("year", "month", "day", "date", "code"),
    [
        ("1984", "2", "29", "1984-02-29", None),
        ("0", "02", "29", "1604-02-29", None),
        ("", "2", "9", "1604-02-09", None),
        ("1984", "February", "9", "1984-02-09", None),
        ("1984", "", "", None, "birthday_incomplete"),
        ("1984", "2", "30", None, "not_a_day"),
        ("", "2", "", None, "not_a_day"),
    ],
)
def test_birthday_in_three_columns(
    api: Client, year: str, month: str, day: str, date: str | None, code: str | None
) -> None:
    data = f"Name,Birth Year,Birth Month,Birthday\nAda,{year},{month},{day}\n"
    [result] = import_file(api, "csv", data)["results"]
    assert result.get("code") == code
    dates = people_by_name(api)["Ada"]["importantDates"]
    assert [one["date"][:10] for one in dates] == ([date] if date else [])


def test_parts_of_an_address_belong_to_the_one_before(api: Client) -> None:
    data = "Name,Home Street,City,Zip,Notes,Country\nAda,High Street 1,London,N1,,UK\n"
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    assert [column["proposal"] for column in columns[1:]] == [
        *("address.street:home", "address.city:home", "address.postalCode:home", "notes", "address.country"),
    ]
