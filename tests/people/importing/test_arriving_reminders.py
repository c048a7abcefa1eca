"""Which dates that an import brings get a reminder: by what the file says, the import's choice, or the account's."""

from typing import Any

import orjson
import pytest

from accounts.models import User
from people.models import ImportantDate
from tests.builders import make_user, set_plan_limits
from tests.client import Client, client_of
from tests.people.importing.test_account_imports import monica_list
from tests.people.importing.test_address_book_imports import LINKEDIN, OUTLOOK, table
from tests.people.importing.test_monica import export_of, record, special_date
from tests.people.importing.uploads import counts, import_file, import_vcards, people_by_name, send_form, vcard

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

CHOICES = ("none", "birthdays", "all")
YEARLY = {"reminderType": "RECURRING", "reminderInterval": 1, "reminderIntervalUnit": "YEARS"}
ADA_CARD = vcard(
    "FN:Ada", "N:;Ada;;;", "UID:ada", "BDAY:1815-12-10", "item1.X-ABDATE:2001-02-03", "item1.X-ABLabel:Met"
)
# The file of each source, and how many dates it has beside one birthday.
FILES: dict[str, tuple[bytes, int]] = {
    "vcard": (ADA_CARD, 1),
    "csv": (b"Given name,Birthday\nAda,1815-12-10\n", 0),
    "google": (b"Name,Given Name,Birthday,Event 1 - Type,Event 1 - Value\nAda,Ada,1815-12-10,Met,2001-02-03\n", 1),
    "outlook": (table(OUTLOOK).encode(), 0),
    "monica": (export_of(birthdate=special_date("1815-12-10"), first_met_date=special_date("2001-02-03")), 1),
    "nametag": (
        orjson.dumps(
            {
                "exportDate": "2026-01-01",
                "people": [
                    {
                        "id": "1",
                        "name": "Ada",
                        "importantDates": [
                            {"title": "Birthday", "date": "1815-12-10"},
                            {"title": "Passed away", "type": "MEMORIAL", "date": "1852-11-27"},
                        ],
                    }
                ],
            }
        ),
        1,
    ),
}


def send(client: Client, source: str, data: bytes, **fields: str) -> Any:
    path = "/api/vcard/import" if source == "vcard" else f"/api/import/{source}"
    response = send_form(client, path, data, **fields)
    assert response.status_code == 200, response.content[:2000]
    return response.json()


def reminded(client: Client) -> list[tuple[str, str]]:
    """The dates with a reminder, as the person's name and the type or title."""
    return [
        (name, day["type"] or day["title"])
        for name, person in people_by_name(client).items()
        for day in person["importantDates"]
        if day["reminderEnabled"]
    ]


def choose(client: Client, choice: str) -> None:
    client.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": choice})


@pytest.mark.both_databases
@pytest.mark.parametrize("by", ["account", "import"])
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("source", FILES)
def test_each_kind_of_import_by_each_choice(api: Client, source: str, choice: str, by: str) -> None:
    data, others = FILES[source]
    choose(api, choice if by == "account" else next(other for other in CHOICES if other != choice))
    fields = {"remind": choice} if by == "import" else {}
    expected = {"none": 0, "birthdays": 1, "all": 1 + others}[choice]
    if source != "vcard":
        dry = send(api, source, data, dryRun="true", **fields)
        assert (dry["birthdays"], dry["reminders"]) == (1, expected)
    receipt = send(api, source, data, **fields)
    assert (receipt["birthdays"], receipt["reminders"]) == (1, expected)
    [ada] = people_by_name(api).values()
    dates = {day["type"] or day["title"]: day for day in ada["importantDates"]}
    assert len(dates) == 1 + others
    for name, day in dates.items():
        if choice == "all" or (choice == "birthdays" and name == "BIRTHDAY"):
            assert day.items() >= {"reminderEnabled": True, **YEARLY}.items()
            assert ImportantDate.unscoped.rows().get(pk=day["id"]).next_due_at
        else:
            assert day.items() >= {"reminderEnabled": False, **dict.fromkeys(YEARLY)}.items()
    # All of it is there already: nothing more arrives, and what is there keeps its own.
    again = send(api, source, data, remind="all")
    assert (again["birthdays"], again["reminders"]) == (0, 0)
    assert len(reminded(api)) == expected


def test_linkedin_brings_no_dates(api: Client) -> None:
    receipt = import_file(api, "linkedin", LINKEDIN, remind="all")
    assert (receipt["imported"], receipt["birthdays"], receipt["reminders"]) == (2, 0, 0)


def test_an_account_of_before_and_one_made_now(alice: User, api: Client) -> None:
    assert import_vcards(api, ADA_CARD)["reminders"] == 0
    new = Client()
    body = {"email": "new@example.org", "password": "Correct-Horse-7", "name": "New"}
    new.ok("POST", "/api/auth/register", body, status=201)
    assert import_vcards(new, ADA_CARD)["reminders"] == 1
    assert reminded(new) == [("Ada", "BIRTHDAY")]


def test_choice_in_the_query_and_a_wrong_one(api: Client) -> None:
    for path in ("/api/vcard/import?remind=some", "/api/vcard/import?remind=BIRTHDAYS"):
        response = api.generic("POST", path, ADA_CARD, "text/vcard")
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "remind")
    assert send_form(api, "/api/import/csv", FILES["csv"][0], remind="some").status_code == 400
    assert people_by_name(api) == {}
    assert api.generic("POST", "/api/vcard/import?remind=all", ADA_CARD, "text/vcard").json()["reminders"] == 2
    assert (
        send_form(api, "/api/import/csv?remind=all", b"Given name,Birthday\nBo,1990-01-02\n").json()["reminders"] == 1
    )


def test_a_date_that_was_here_keeps_its_own(api: Client) -> None:
    import_vcards(api, ADA_CARD)
    [ada] = people_by_name(api).values()
    later = ADA_CARD.replace(b"1815-12-10", b"1815-12-11").replace(b"Met", b"Engaged")
    receipt = send(api, "vcard", later, remind="all")
    # The birthday moves, and the other one is new.
    assert (receipt["updated"], receipt["birthdays"], receipt["reminders"]) == (1, 0, 1)
    assert reminded(api) == [("Ada", "Engaged")]
    [moved] = [day for day in api.ok("GET", f"/api/people/{ada['id']}")["person"]["importantDates"] if day["type"]]
    assert (moved["date"][:10], moved["reminderEnabled"]) == ("1815-12-11", False)


def test_what_monica_says_of_a_reminder_holds(api: Client) -> None:
    reminder = record(title="Fair", initial_date="2020-02-03", frequency_type="year", frequency_number=1)
    off = record(title="Exam", initial_date="2020-03-04", frequency_type="year", frequency_number=1, inactive=True)
    own = [
        record(title="Birthday", initial_date="1815-12-10", delible=False, frequency_type="year", inactive=True),
        record(title="Met", initial_date="2001-02-03", delible=False, frequency_type="year"),
    ]
    dates = {"birthdate": special_date("1815-12-10"), "first_met_date": special_date("2001-02-03")}
    data = export_of(monica_list("reminder", reminder, off, *own), **dates)
    assert send(api, "monica", data, remind="none")["reminders"] == 2
    assert {title for _, title in reminded(api)} == {"Fair", "First met"}
    other = client_of(make_user("other@example.org"))
    assert send(other, "monica", data, remind="all")["reminders"] == 2
    assert {title for _, title in reminded(other)} == {"Fair", "First met"}


def test_what_nametag_says_of_a_reminder_holds(api: Client) -> None:
    dates = [
        {"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": False},
        {"title": "Visit", "date": "2020-02-03", "reminderEnabled": True, "reminderType": "ONCE"},
        {
            "title": "Check",
            "date": "2020-02-04",
            "reminderEnabled": True,
            "reminderType": "RECURRING",
            "reminderInterval": 6,
            "reminderIntervalUnit": "MONTHS",
        },
        {"title": "Odd", "date": "2020-02-05", "reminderEnabled": True, "reminderInterval": 1_000},
        {"title": "Silent", "date": "2020-02-06"},
    ]
    data = orjson.dumps({"exportDate": "x", "people": [{"id": "1", "name": "Ada", "importantDates": dates}]})
    assert send(api, "nametag", data, remind="none")["reminders"] == 3
    [ada] = people_by_name(api).values()
    found = {day["title"] or day["type"]: day for day in ada["importantDates"]}
    assert {name: day["reminderEnabled"] for name, day in found.items()} == {
        "BIRTHDAY": False,
        "Visit": True,
        "Check": True,
        "Odd": True,
        "Silent": False,
    }
    assert found["Visit"]["reminderType"] == "ONCE"
    assert (found["Check"]["reminderInterval"], found["Check"]["reminderIntervalUnit"]) == (6, "MONTHS")
    assert found["Odd"].items() >= YEARLY.items()


def birthdays(number: int) -> str:
    names = (chr(ord("A") + index) for index in range(number))
    return "Given name,Birthday\n" + "".join(f"{name},1990-01-{day + 10}\n" for day, name in enumerate(names))


@pytest.mark.both_databases
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_beyond_the_plan_the_rest_is_without_and_named_in_the_files_order(
    api: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr("people.importing.vcards._BATCH_CARDS", batch)
    set_plan_limits(settings, people=50, groups=10, reminders=3, templates=1)
    api.ok("POST", "/api/people", {"name": "Zoe", "contactReminderEnabled": True}, status=201)
    dry, receipt = (
        import_file(api, "csv", birthdays(5), dryRun=flag, remind="birthdays") for flag in ("true", "false")
    )
    for found in (dry, receipt):
        assert (found["imported"], found["birthdays"], found["reminders"]) == (5, 5, 2)
        assert [result.get("code") for result in found["results"]] == [None, None, *["reminder_limit"] * 3]
        assert found["results"][2]["reason"] == "your plan allows 3 reminders: those of its dates are off"
        assert found["results"][2]["params"] == {"limit": 3}
    assert reminded(api) == [("A", "BIRTHDAY"), ("B", "BIRTHDAY")]
    # Who is there already takes none.
    again = import_file(api, "csv", birthdays(6), remind="all")
    assert [result.get("code") for result in again["results"]] == [*["nothing_new"] * 5, "reminder_limit"]


def test_a_full_plan_is_no_matter_where_no_reminder_is_wanted(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=50, groups=10, reminders=0, templates=1)
    receipt = import_file(api, "csv", birthdays(2))
    assert (receipt["reminders"], ["code" in result for result in receipt["results"]]) == (0, [False, False])


@pytest.mark.parametrize("language", ["en", "de-DE", "es-ES", "fr-FR", "ja-JP", "nb-NO"])
def test_the_remark_is_in_the_language_of_the_account(db: None, settings: Any, language: str) -> None:
    set_plan_limits(settings, people=50, groups=10, reminders=0, templates=1)
    client = client_of(make_user("new@example.org", language=language))
    [result] = import_file(client, "csv", birthdays(1), remind="all")["results"]
    assert result["code"] == "reminder_limit"
    assert ("your plan" in result["reason"]) == (language == "en")


def test_lead_days_of_the_groups_of_the_person(api: Client) -> None:
    group = api.ok("POST", "/api/groups", {"name": "Family", "leadDays": 7}, status=201)["group"]["id"]
    api.ok(
        "POST", "/api/people", {"name": "Ada", "groupIds": [group], "emails": [{"email": "a@example.org"}]}, status=201
    )
    cards = vcard("FN:Ada", "N:;Ada;;;", "EMAIL:a@example.org", "BDAY:1815-12-10") + vcard(
        "FN:Bo", "N:;Bo;;;", "CATEGORIES:Family", "BDAY:1815-12-10"
    )
    assert counts(send(api, "vcard", cards, remind="birthdays")) == (1, 1, 0, 0)
    days = {name: person["importantDates"][0]["reminderLeadDays"] for name, person in people_by_name(api).items()}
    assert days == {"Ada": 7, "Bo": 7}


@pytest.mark.both_databases
def test_undo_takes_them_back_unless_edited(api: Client) -> None:
    api.ok("POST", "/api/people", {"name": "Ada", "emails": [{"email": "a@example.org"}]}, status=201)
    cards = vcard("FN:Ada", "N:;Ada;;;", "EMAIL:a@example.org", "BDAY:1815-12-10") + b"".join(
        vcard(f"FN:{name}", f"N:;{name};;;", "BDAY:1815-12-10") for name in ("Bo", "Cy")
    )
    receipt = send(api, "vcard", cards, remind="birthdays")
    assert receipt["reminders"] == 3
    cy = people_by_name(api)["Cy"]
    [day] = cy["importantDates"]
    body = {"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": False}
    api.ok("PUT", f"/api/people/{cy['id']}/important-dates/{day['id']}", body)
    undone = api.ok("DELETE", f"/api/imports/{receipt['importId']}")
    assert [kept["personName"] for kept in undone["kept"]] == ["Cy"]
    assert {name: len(person["importantDates"]) for name, person in people_by_name(api).items()} == {"Ada": 0, "Cy": 1}
    taken = ImportantDate.unscoped.rows().get(person=people_by_name(api)["Ada"]["id"])
    assert (taken.next_due_at, taken.is_deleted) == (None, True)
