"""Dates of tables: whether the day or the month comes first is decided by the whole column."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from people.importing.sources.days import DayReader
from tests.client import Client
from tests.people.importing.uploads import import_file, import_vcards, people_by_name, send_form, vcard

pytestmark = pytest.mark.sqlite_suffices


def birthdays(client: Client) -> list[str]:
    """The days of all people by name, a year that is unknown as `--`."""
    people = people_by_name(client)
    days = [people[name]["importantDates"][0] for name in sorted(people) if people[name]["importantDates"]]
    return [day["date"][:10].replace("1604-", "--") if day["yearUnknown"] else day["date"][:10] for day in days]


def table(*dates: str) -> str:
    return "\n".join(["Name,Birthday", *(f'P{number:03},"{date}"' for number, date in enumerate(dates)), ""])


def date_order(client: Client, data: str, **fields: str) -> Any:
    return send_form(client, "/api/import/csv/inspect", data, **fields).json()["columns"][1]["dateOrder"]


def codes(receipt: Any) -> list[Any]:
    return [result.get("code") for result in receipt["results"]]


def test_a_date_far_down_decides_the_order(api: Client) -> None:
    # csv rows beyond the 200 of the sample
    data = table("4/3/1980", *[""] * 300, "12/25/1980")
    assert date_order(api, data) == "MDY"
    assert set(codes(import_file(api, "csv", data))) == {None}
    assert birthdays(api) == ["1980-04-03", "1980-12-25"]


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        (["25/12/1980", "4/3/1980"], "DMY"),
        (["12/25/1980", "4/3/1980"], "MDY"),
        (["12/31", "4/3"], "MDY"),
        (["25-12-80"], "DMY"),
        (["1980-12-25", "1980/3/4"], "YMD"),
        (["80/12/25"], "YMD"),
        (["4.3.1980"], "DMY"),
        (["4 March 1980"], "DMY"),
        (["March 4, 1980"], "MDY"),
        (["1980年3月4日"], "YMD"),
        (["4/3/1980"], "ambiguous"),
        (["12/25/1980", "25/12/1980"], "ambiguous"),
        (["1980-12-25", "4/3/1980"], "ambiguous"),
        (["soon"], "ambiguous"),
    ],
)
def test_order_of_a_column(api: Client, dates: list[str], order: str) -> None:
    assert date_order(api, table(*dates)) == order


def test_columns_without_dates_have_no_order(api: Client) -> None:
    columns = send_form(api, "/api/import/csv/inspect", table("4/3/1980")).json()["columns"]
    assert ["dateOrder" in column for column in columns] == [False, True]


def test_a_column_of_days_without_a_proposal_has_its_own_order(api: Client) -> None:
    """The owner may map it to a birthday, and then needs its order. What is not imported decides nothing."""
    data = "Name,Birthday,Since,Code\nAda,4/3/1980,25/12/2001,7\nBob,5/3/1980,,8\n"
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    assert [column["proposal"] for column in columns] == ["name", "birthday", "ignore", "ignore"]
    assert [column.get("dateOrder") for column in columns] == [None, "ambiguous", "DMY", None]


@pytest.mark.parametrize("heading", ["Geb", "Geb.", "GebDatum", "Geb.-Datum"])
def test_a_shortened_german_heading_is_proposed_as_a_birthday(api: Client, heading: str) -> None:
    columns = send_form(api, "/api/import/csv/inspect", f"Name;{heading}\nAda;25.12.1980\n").json()["columns"]
    assert (columns[1]["proposal"], columns[1]["dateOrder"]) == ("birthday", "DMY")


@pytest.mark.parametrize("date_format", ["MDY", "DMY"])
def test_rows_that_no_date_decides_are_told_and_read_as_the_account_writes_dates(
    api: Client, alice: User, date_format: str
) -> None:
    User.objects.filter(pk=alice.pk).update(date_format=date_format)
    receipt = import_file(api, "csv", table("4/3/1980", "5/5/1980", "1 May 1980", ""))
    assert codes(receipt) == ["date_order_uncertain", None, None, None]
    day = {"MDY": "1980-04-03", "DMY": "1980-03-04"}[date_format]
    assert receipt["results"][0]["params"]["day"] == day
    assert birthdays(api) == [day, "1980-05-05", "1980-05-01"]


def test_a_contradiction_is_told_and_the_majority_decides(api: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(date_format="DMY")
    receipt = import_file(api, "csv", table("12/25/1980", "12/26/1980", "25/12/1980", "4/3/1980"))
    assert codes(receipt) == [None, None, None, "date_order_uncertain"]
    assert birthdays(api) == ["1980-12-25", "1980-12-26", "1980-12-25", "1980-04-03"]


def test_a_column_is_written_like_the_other_one_of_the_file(api: Client) -> None:
    data = "Name,Birthday,Anniversary\nAda,4/3/1980,12/25/2001\n"
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    assert [column.get("dateOrder") for column in columns] == [None, "MDY", "MDY"]
    assert codes(import_file(api, "csv", data)) == [None]
    assert birthdays(api) == ["1980-04-03"]


def test_each_column_has_its_own_order(api: Client) -> None:
    data = "Name,Birthday,Anniversary\nAda,25/12/1980,\nBob,4/3/1980,12/25/2001\nCyd,,5/4/2002\n"
    assert codes(import_file(api, "csv", data)) == [None, None, None]
    assert birthdays(api) == ["1980-12-25", "1980-03-04"]
    people = people_by_name(api)
    assert [people[name]["anniversary"] for name in ("Bob", "Cyd")] == ["2001-12-25", "2002-05-04"]


@pytest.mark.parametrize(
    ("order", "days", "first_code"),
    [
        ("DMY", ["1980-03-04", "1980-12-25", "1980-03-04", "2005-04-03"], None),
        ("MDY", ["1980-04-03", "1980-12-25", "1980-04-03", "2005-03-04"], None),
        ("YMD", ["1980-04-03", "1980-12-25", "1980-03-04", "2003-04-05"], "date_order_uncertain"),
    ],
)
def test_a_client_may_name_the_order(api: Client, order: str, days: list[str], first_code: str | None) -> None:
    data = table("4/3/1980", "12/25/1980", "4.3.1980", "3/4/05")
    assert date_order(api, data, dateOrder=order) == order
    receipt = import_file(api, "csv", data, dateOrder=order)
    assert codes(receipt) == [first_code, None, None, None]
    assert birthdays(api) == days


@pytest.mark.parametrize("order", ["YDM", "dmy", "ambiguous", "1"])
def test_another_order_is_refused(api: Client, order: str) -> None:
    for path in ("/api/import/csv", "/api/import/csv/inspect"):
        response = send_form(api, path, table("4/3/1980"), dateOrder=order)
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "dateOrder")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "tab", "comma"])
def test_a_client_may_name_the_delimiter(api: Client, delimiter: str) -> None:
    mark = {"tab": "\t", "comma": ","}.get(delimiter, delimiter)
    data = f"Name{mark}Notes;,|x\nAda{mark}one\n"
    response = send_form(api, "/api/import/csv/inspect", data, delimiter=delimiter).json()
    assert (response["delimiter"], response["columns"][0]["samples"]) == (mark, ["Ada"])


@pytest.mark.parametrize("delimiter", [":", ",,", "x", "\n"])
def test_another_delimiter_is_refused(api: Client, delimiter: str) -> None:
    for path in ("/api/import/csv", "/api/import/csv/inspect", "/api/import/outlook"):
        response = send_form(api, path, "Name,Notes\nAda,\n", delimiter=delimiter)
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "delimiter")


@pytest.mark.one_database
@pytest.mark.parametrize(
    "text",
    [
        *("24 December 1980", "December 24th, 1980", "the 24th of December, 1980", "Wednesday, December 24, 1980"),
        *("24. Dezember 1980", "Mi., 24. Dez. 1980", "24 décembre 1980", "mercredi 24 déc. 1980", "24 DECEMBRE 1980"),
        *("24 de diciembre de 1980", "miércoles, 24 de dic de 1980", "24. desember 1980", "onsdag 24. des. 1980"),
        *("1980年12月24日", "1980年12月24日(水)", "昭和55年12月24日", "１９８０年１２月２４日", "1980년 12월 24일"),
        *("24-Dec-80", "1980.12.24", "1980. 12. 24.", "24. 12. 1980", "1980-12-24 00:00:00", "12/24/1980 12:00:00 AM"),
    ],
)
def test_ways_of_writing_a_day(text: str) -> None:
    found = DayReader(is_month_first=False, this_year=2026).read(text)
    assert (found and found[0].isoformat(), found and found[1]) == ("1980-12-24", False)


@pytest.mark.one_database
@pytest.mark.parametrize(
    "text",
    [
        *("Fr, 26.11.1971", "Fr. 26.11.1971", "Freitag, 26.11.1971", "Freitag, den 26.11.1971", "Friday, 11/26/1971"),
        *("Fri 26/11/1971", "Fri, 1971-11-26", "1971-11-26 (Fri)", "26.11.1971 (Fr.)", "26/11/1971, Friday"),
        *("vendredi 26/11/1971", "ven. 26/11/1971", "le vendredi 26/11/1971", "viernes, 26/11/1971", "vie 26/11/1971"),
        *("fredag 26.11.1971", "fre. 26.11.1971", "金, 1971/11/26", "1971/11/26(金)", "1971/11/26 (金曜日)"),
        *("venerdì 26/11/1971", "sexta-feira, 26/11/1971", "vrijdag 26-11-1971", "perjantai 26.11.1971"),
        *("pt., 26.11.1971", "piątek, 26.11.1971", "pátek 26.11.1971", "пт, 26.11.1971", "п’ятниця, 26.11.1971"),
        *("cuma, 26.11.1971", "Παρασκευή, 26/11/1971", "péntek, 1971.11.26.", "금 1971.11.26", "周五 1971/11/26"),
        *("Fr, 26. 11. 1971", "Fri, 26/11/71", "Fri 11/26/1971 00:00:00"),
    ],
)
def test_a_weekday_beside_a_day_in_digits(text: str) -> None:
    found = DayReader(is_month_first=False, this_year=2026).read(text)
    assert (found and found[0].isoformat(), found and found[1]) == ("1971-11-26", False)


@pytest.mark.one_database
def test_a_weekday_says_which_number_is_the_month(api: Client) -> None:
    data = 'Name,Birthday\nAda,"Friday, 11/12/1971"\nBob,"Sunday, 12/12/1971"\n'
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    assert columns[1]["dateOrder"] == "MDY"


@pytest.mark.one_database
@pytest.mark.parametrize("text", ["um 26.11.1971", "ca. 26.11.1971", "vor 26.11.1971", "Fr, ", "Fr, 1971", "xy 3/4"])
def test_a_word_that_is_no_weekday_makes_no_day(text: str) -> None:
    assert DayReader(is_month_first=False, this_year=2026).read(text) is None


@pytest.mark.one_database
@pytest.mark.parametrize(
    "text", ["24.12", "24.12.", "12/24", "24 Dec", "December 24th", "24. des", "12月24日", "--12-24"]
)
def test_ways_of_writing_a_day_without_a_year(text: str) -> None:
    found = DayReader(is_month_first=False, this_year=2026).read(text)
    assert (found and found[0].isoformat(), found and found[1]) == ("1604-12-24", True)


@pytest.mark.one_database
def test_every_month_in_words_of_the_six_languages() -> None:
    languages = (
        "January February March April May June July August September October November December",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "januar februar mars april mai juni juli august september oktober november desember",
        "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
    )
    reader = DayReader(is_month_first=True, this_year=2026)
    for months in languages:
        for number, month in enumerate(months.split(), start=1):
            found = reader.read(f"{month}5日" if month.endswith("月") else f"5 {month} 1999")
            assert found is not None, month
            assert (found[0].month, found[0].day) == (number, 5)


@pytest.mark.one_database
@pytest.mark.parametrize(
    "text", ["14 jui 1980", "32 May", "Sam 5", "5", "1980", "31.4.1980", "May", "1/2/3/4", "5 May 6 1980"]
)
def test_what_is_no_day(text: str) -> None:
    assert DayReader(is_month_first=True, this_year=2026).read(text) is None


def test_a_birthday_in_the_future_gets_a_remark(api: Client) -> None:
    tomorrow = timezone.now().date() + dt.timedelta(days=2)
    data = f"Name,Birthday,Anniversary\nAda,{tomorrow},\nBob,1980-12-24,{tomorrow}\nCleo,--12-31,\n"
    results = import_file(api, "csv", data)["results"]
    assert [result.get("code") for result in results] == ["birthday_in_future", None, None]
    assert results[0]["params"] == {"date": tomorrow.isoformat()}
    assert people_by_name(api)["Ada"]["importantDates"][0]["date"][:10] == tomorrow.isoformat()
    card = vcard("FN:Dora", f"BDAY:{tomorrow}")
    assert import_vcards(api, card)["results"][0]["code"] == "birthday_in_future"
    google = f"Given Name,Family Name,Birthday\nEve,Tabe,{tomorrow}\n"
    assert import_file(api, "google", google)["results"][0]["code"] == "birthday_in_future"
