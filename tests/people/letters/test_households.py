"""Households: who gets one letter together, its name, and the files and the page that show them."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from people.letters.households import Household, find_households, households_csv
from people.letters.sheets import SHEETS, labels_css
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.people.importing.uploads import import_vcards, vcard
from tests.people.steps import create_person
from tests.queries import count_queries, count_work
from tests.relationships.steps import relate

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

ROOT = Path(__file__).parents[3]
HOME = {"type": "home", "streetLine1": "Hauptstraße 5", "postalCode": "1010", "locality": "Wien", "country": "AT"}
LINES = ["Hauptstraße 5", "1010 Wien"]


def households(api: Client, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("GET", f"/api/people/addresses{query}")["households"]
    return found


def names(api: Client, query: str = "") -> list[str]:
    return [household["name"] for household in households(api, query)]


def add(api: Client, name: str, surname: str | None = None, **fields: Any) -> str:
    return create_person(api, name, surname, **{"addresses": [HOME], **fields})


def test_letters_of_some_people_alone(api: Client, stranger: Client) -> None:
    anna, ben = add(api, "Anna", "Meier"), add(api, "Ben", "Meier")
    add(api, "Dora", "Huber")
    assert names(api, f"?personIds={anna},{ben}") == ["Anna and Ben Meier"]
    assert names(api, f"?personIds={anna}") == ["Anna Meier"]
    assert names(stranger, f"?personIds={anna}") == []


@pytest.mark.both_databases
def test_those_who_share_an_address_and_a_surname_get_one_letter(api: Client) -> None:
    anna = add(api, "Anna", "Meier")
    ben = add(api, "Ben", "MEIER", addresses=[{**HOME, "type": "work", "streetLine1": "hauptstrasse 5"}])
    add(api, "Carl", "Meier", addresses=[{**HOME, "streetLine2": "Top 2"}])
    add(api, "Dora", "Huber")
    found = households(api)
    assert found[0] == {
        "name": "Anna and Ben Meier",
        "lines": LINES,
        "personIds": [anna, ben],
        "address": {
            key: HOME.get(key) for key in ("streetLine1", "streetLine2", "locality", "region", "postalCode", "country")
        },
    }
    assert [household["name"] for household in found[1:]] == ["Carl Meier", "Dora Huber"]


def test_those_who_share_an_address_and_are_related_get_one_letter(api: Client) -> None:
    anna, ben = add(api, "Anna", "Meier"), add(api, "Ben", "Huber")
    far = add(api, "Far", "Away", addresses=[{"locality": "Graz", "country": "AT"}])
    relate(api, anna, ben)
    relate(api, anna, far)
    assert names(api) == ["Anna Meier and Ben Huber", "Far Away"]
    add(api, "Cleo", "Huber")
    assert names(api) == ["Meier and Huber family", "Far Away"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("language", "order", "expected"),
    [
        ("en", "WESTERN", ["Anna and Ben Meier", "Meier family"]),
        ("de-DE", "WESTERN", ["Anna und Ben Meier", "Familie Meier"]),
        ("fr-FR", "WESTERN", ["Anna et Ben Meier", "Famille Meier"]),
        ("es-ES", "EASTERN", ["Meier Anna y Ben", "Familia Meier"]),
        ("nb-NO", "WESTERN", ["Anna og Ben Meier", "Familien Meier"]),
        ("ja-JP", "EASTERN", ["Meier Anna・Ben", "Meier家"]),
    ],
)
def test_a_household_is_named_in_the_language_and_order_of_the_account(
    api: Client, alice: User, language: str, order: str, expected: list[str]
) -> None:
    User.objects.filter(pk=alice.pk).update(language=language, name_order=order)
    add(api, "Anna", "Meier")
    add(api, "Ben", "Meier")
    assert names(api) == expected[:1]
    add(api, "Cleo", "Meier")
    assert names(api) == expected[1:]


def test_people_without_surname_are_not_one_household(api: Client) -> None:
    add(api, "Anna")
    add(api, "Ben")
    assert names(api) == ["Anna", "Ben"]


@pytest.mark.both_databases
def test_the_preferred_address_is_the_marked_one_then_home_then_the_first(api: Client) -> None:
    work = {"type": "work", "locality": "Work", "country": "AT"}
    add(api, "Home", addresses=[work, HOME])
    add(api, "First", addresses=[work, {"type": "other", "locality": "Other"}])
    add(api, "Empty", addresses=[{"type": "home"}, work])
    add(api, "Nobody", addresses=[{"type": "home"}])
    card = ("FN:Marked", "N:;Marked;;;", "ADR;TYPE=home:;;A 1;Home;;;", "ADR;TYPE=work,pref:;;B 2;Marked;;;")
    import_vcards(api, vcard(*card))
    card = ("FN:Ranked", "N:;Ranked;;;", "ADR;TYPE=home;PREF=2:;;A 1;Home;;;", "ADR;TYPE=work;PREF=1:;;B 2;First;;;")
    import_vcards(api, vcard(*card, version="4.0"))
    found = {household["name"]: household["address"]["locality"] for household in households(api)}
    assert found == {"Home": "Wien", "First": "Work", "Empty": "Work", "Marked": "Marked", "Ranked": "First"}


@pytest.mark.both_databases
def test_quiet_and_deceased_people_get_no_letter(api: Client) -> None:
    add(api, "Anna", "Meier")
    add(api, "Ben", "Meier", quiet=True)
    add(api, "Cleo", "Meier", deathday="2020-01-01")
    assert names(api) == ["Anna Meier"]


@pytest.mark.both_databases
def test_only_people_of_the_groups_are_in(api: Client) -> None:
    group = api.ok("POST", "/api/groups", {"name": "Xmas"}, status=201)["group"]["id"]
    add(api, "Anna", "Meier", groupIds=[group])
    add(api, "Ben", "Meier")
    assert names(api, f"?groupIds={group}") == ["Anna Meier"]
    assert names(api, "?groupIds=unknown") == []


def test_the_country_stands_where_it_is_not_the_most_frequent_one(api: Client) -> None:
    add(api, "A", addresses=[{"locality": "Wien", "country": "AT"}])
    add(api, "B", addresses=[{"locality": "Bern", "country": "Schweiz"}])
    assert [household["lines"] for household in households(api)] == [["Wien", "Austria"], ["Bern", "Schweiz"]]
    add(api, "C", addresses=[{"locality": "Graz", "country": "Austria"}], quiet=True)
    add(api, "D", addresses=[{"locality": "Linz"}])
    assert [household["lines"] for household in households(api)] == [["Wien"], ["Bern", "Schweiz"], ["Linz"]]


@pytest.mark.parametrize(
    ("language", "name"), [("de-DE", "Schweiz"), ("fr-FR", "Suisse"), ("nb-NO", "Sveits"), ("ja-JP", "Switzerland")]
)
def test_code_of_a_country_is_its_name_for_the_post_that_sends_the_letter(
    api: Client, alice: User, language: str, name: str
) -> None:
    User.objects.filter(pk=alice.pk).update(language=language)
    add(api, "A", addresses=[{"locality": "Wien", "country": "Österreich"}])
    add(api, "B", addresses=[{"locality": "Bern", "country": "ch"}])
    assert households(api)[1]["lines"] == ["Bern", name]


def test_a_csv_file_has_a_mark_and_no_formulas(api: Client) -> None:
    lines = "\n".join(f"L{number}" for number in range(1, 10))
    add(api, "=Anna", addresses=[{"streetLine1": "-1+2", "locality": "@x"}])
    add(api, "Ben", addresses=[{"streetLine1": lines, "locality": "Wien"}])
    response = api.call("GET", "/api/people/addresses?format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    assert rows[0] == ["name", *(f"line{number}" for number in range(1, 9))]
    assert rows[1] == ["'=Anna", "'-1+2", "'@x", *[""] * 6]
    assert rows[2] == ["Ben", *(f"L{number}" for number in range(1, 8)), "L8, L9, Wien"]
    assert api.ok("GET", "/api/people/addresses?format=xml", status=400)["details"][0]["field"] == "format"


@pytest.mark.parametrize(
    ("cell", "guarded"),
    [
        ("Wien;=1+1", "Wien;'=1+1"),
        ("Wien; =1+1", "Wien;' =1+1"),
        ('Wien;"=1+1', "Wien;'\"=1+1"),
        ("Wien,@SUM(A1)", "Wien,'@SUM(A1)"),
        ("Wien|-1", "Wien|'-1"),
        ("Wien\t+1", "Wien\t'+1"),
        (" =1", "' =1"),
        *((f"{sign}1", f"'{sign}1") for sign in "=+-@＝＋－＠﹦﹢﹣﹫"),
        *((f"a;{sign}1", f"a;'{sign}1") for sign in "=+-@＝＋－＠﹦﹢﹣﹫"),
        ("\t=1", "'\t'=1"),
        ("\r1", "'\r1"),
        ("Bahnhofstr. 1-3", "Bahnhofstr. 1-3"),
        ("Baden-Baden; West", "Baden-Baden; West"),
        ("", ""),
    ],
)
def test_no_cell_holds_a_formula_for_any_spreadsheet(cell: str, guarded: str) -> None:
    content = households_csv([Household(cell, [cell], [], {})]).decode()
    quoted = '"' + guarded.replace('"', '""') + '"'
    assert content.split("\r\n", 1)[1] == ",".join([quoted, quoted, *['""'] * 7]) + "\r\n"


def test_every_cell_is_quoted_also_those_of_the_header(api: Client) -> None:
    add(api, "Anna", addresses=[{"locality": "Wien"}])
    lines = api.call("GET", "/api/people/addresses?format=csv").content.decode("utf-8-sig").splitlines()
    assert lines == ['"name",' + ",".join(f'"line{number}"' for number in range(1, 9)), '"Anna","Wien"' + ',""' * 7]


def test_the_page_of_labels_is_for_a_session(api: Client, signed_in: Client) -> None:
    for number in range(22):
        add(api, f"P{number:02}", addresses=[{"locality": "<Wien>"}])
    html = signed_in.call("GET", "/people/labels?sheet=l7160").content.decode()
    assert (html.count('class="labels"'), html.count('class="label"')) == (2, 22)
    assert "&lt;Wien&gt;" in html
    assert "sheet-l7160" in html
    assert signed_in.call("GET", "/people/labels").status_code == 200
    assert signed_in.call("GET", "/people/labels?sheet=x").status_code == 404
    assert Client().call("GET", "/people/labels").status_code == 302


@pytest.mark.parametrize("name", SHEETS)
def test_labels_fill_their_sheet(name: str) -> None:
    sheet = SHEETS[name]
    width = 2 * sheet.left + sheet.columns * sheet.width + (sheet.columns - 1) * sheet.gap
    height = 2 * sheet.top + sheet.rows * sheet.height
    assert (width, height) == pytest.approx(sheet.page)
    assert {key: sheet.labels for key, sheet in SHEETS.items()} == {
        "l7160": 21, "l7163": 14, "l7159": 24, "5160": 30, "5163": 10,
    }  # fmt: skip


def test_the_styles_of_the_page_are_those_of_the_table() -> None:
    assert (ROOT / "contacts_project/static/pages/labels.css").read_text() == labels_css()


def test_the_command_writes_the_same(api: Client, alice: User, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    group = api.ok("POST", "/api/groups", {"name": "Xmas"}, status=201)["group"]["id"]
    add(api, "Anna", "Meier", groupIds=[group])
    add(api, "Ben", "Huber")

    def run(*args: str) -> bytes:
        call_command("letters", alice.email, *args)
        return capfdbinary.readouterr().out

    assert run("--groups", "xmas") == api.call("GET", f"/api/people/addresses?groupIds={group}&format=csv").content
    assert b'"name":"Ben Huber"' in run("--format", "json")
    page = run("--format", "html", "--sheet", "5163")
    assert b"sheet-5163" in page
    assert b"<style>" in page
    with pytest.raises(CommandError):
        run("--groups", "None")
    with pytest.raises(CommandError):
        call_command("letters", "nobody@example.org")


@pytest.mark.both_databases
def test_the_work_is_linear_in_the_people(alice: User) -> None:
    """Two thousand households of five people have the same statements as two hundred, and ten times their work."""

    def measure(count: int) -> tuple[int, int]:
        while (number := Person.objects.owned_by(alice).count()) < count:
            address = {**HOME, "id": str(number), "streetLine2": f"Top {number // 5}"}
            make_person(alice, name=f"P{number}", surname=f"S{number // 5}", addresses=[address])
        queries = count_queries(find_households, alice, None)
        with count_work() as work:
            found = find_households(alice, None)
            done = work()
        assert len(found) == count // 5
        return queries, done

    few_queries, few = measure(50)
    many_queries, many = measure(500)
    assert few_queries == many_queries <= 4
    assert many <= 12 * few
