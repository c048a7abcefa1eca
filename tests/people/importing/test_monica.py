"""Leaving Monica whole: each kind of record of its export arrives, or the receipt names it with its number."""

import datetime as dt
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import User
from people.dates.upcoming import count_upcoming
from people.field_table import MAX_ENTRIES
from people.importing.sources import monica
from people.models import ImportantDate
from tests.client import Client
from tests.people.importing.test_account_imports import ADA, BYRON, interactions, monica_list, relationships
from tests.people.importing.uploads import counts, import_file, people_by_name

FIDELITY = Path(__file__).parent / "files" / "monica_fidelity.json"
JOB, CLIMB, SIGNAL, TELEGRAM, FEMALE = (f"0a1b2c3d-0000-4000-8000-0000000001{number:02}" for number in range(5))
DEED, BEACH, TEA = (f"0a1b2c3d-0000-4000-8000-0000000002{number:02}" for number in range(3))


def record(**properties: Any) -> dict[str, Any]:
    return {"uuid": "r", "created_at": "2021-05-01T10:00:00Z", "properties": properties}


def special_date(day: str, **flags: bool) -> dict[str, Any]:
    return {"is_age_based": False, "is_year_unknown": False, "date": f"{day}T00:00:00Z", **flags}


def all_interactions(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.ok("GET", "/api/interactions")["interactions"]
    return found


def names_of(receipt: Any) -> dict[str, str]:
    """What the receipt says was left out, by kind."""
    return {result["name"]: result["reason"] for result in receipt["results"] if result["status"] == "skipped"}


def dates_by_title(person: Any) -> dict[str, Any]:
    return {day["title"] or day["type"]: day for day in person["importantDates"]}


def test_nothing_of_a_small_export_is_made_up_or_lost(api: Client) -> None:
    data = FIDELITY.read_bytes()
    dry = import_file(api, "monica", data, dryRun="true")
    response = import_file(api, "monica", data)
    assert counts(dry) == counts(response) == (2, 0, 0, 0)
    people = people_by_name(api)
    mina = people["Mina"]
    assert mina["notes"].split("\n\n") == [
        "Born about 1984",
        "2012: New job\nAt the harbour office",
        "2015-06-03: Moved to Bergen (New job)\nWith the cat",
        "2020-02-03: Reminder, switched off: Ask about the exam\nThe one in harbour law",
        "2020-02-03: Reminder: Water her plants\nKey is at number 7",
    ]
    dates = dates_by_title(mina)
    assert dates.keys() == {"Moved to Bergen", "Ask about the exam", "Water her plants"}
    keys = ("reminderEnabled", "reminderType", "reminderInterval", "reminderIntervalUnit")
    assert [dates["Ask about the exam"][key] for key in keys] == [False, "ONCE", None, None]
    assert [dates["Water her plants"][key] for key in keys] == [True, "RECURRING", 2, "WEEKS"]
    assert not dates["Moved to Bergen"]["reminderEnabled"]
    found = {row["kind"]: row for row in all_interactions(api)}
    assert (found["CALL"]["title"], found["CALL"]["notes"]) == (None, "Long talk\nFeelings: joy, relief")
    assert found["MEETING"]["title"] == "Climbing hall"
    assert found["MEETING"]["notes"] == "Fell twice\nKind: Did sport\nFeelings: joy"
    assert relationships(api) == {("Mina Okafor", "Parent", "Tobe"), ("Tobe", "Child", "Mina Okafor")}
    assert counts(import_file(api, "monica", data)) == (0, 0, 2, 0)
    assert len(all_interactions(api)) == 2
    assert api.ok("DELETE", f"/api/imports/{response['importId']}") == {"removed": 2, "kept": []}


def build_export() -> dict[str, Any]:
    """Every kind of record of Monica's JSON export, one unknown kind of a contact, and one of the account."""
    data = [
        monica_list(
            "contact_field", record(data="+47 1", type=SIGNAL), record(data="@ada", type=TELEGRAM), record(data="x")
        ),
        monica_list("address", record(name="Home", street="12 Long Road", city="London", country="GB")),
        monica_list("call", record(called_at="2022-03-04T09:00:00Z", contact_called=True, emotions=["joy"])),
        monica_list("note", record(body="Likes poetry", is_favorite=True), record(body="")),
        monica_list(
            "gift",
            record(name="Book", status="offered", date="2020-01-02", amount=12.5, currency="EUR", recipient=BYRON),
            record(name="Skis", status="idea", comment="Blue ones", url="https://example.org/skis"),
        ),
        monica_list(
            "conversation",
            record(
                happened_at="2022-01-01",
                contact_field_type=SIGNAL,
                messages=[record(content="Hi", written_by_me=True, written_at="2022-01-01"), record(content="Hello")],
            ),
        ),
        monica_list(
            "debt",
            record(in_debt=True, amount=20, currency={"iso": "EUR", "name": "Euro"}, status="inprogress"),
            record(in_debt=False, amount=5, currency="NOK", status="complete"),
        ),
        monica_list(
            "task",
            record(title="Write back", description="About June", completed=False),
            record(title="Send the keys", completed=True, completed_at="2021-06-07T00:00:00Z"),
        ),
        monica_list("pet", record(name="Puff", category="cat")),
        monica_list(
            "life_event",
            record(happened_at="2012-03-01", happened_at_day_unknown=True, type=JOB),
            record(happened_at="2013-01-01", type=JOB, note="The export has no flags"),
            record(name="Graduated", happened_at="2014-05-06", happened_at_day_unknown=False),
        ),
        monica_list(
            "reminder",
            record(
                title="Birthday", initial_date="2020-12-10", frequency_type="year", frequency_number=1, delible=False
            ),
            record(
                title="Plants", initial_date="2020-02-03", frequency_type="week", frequency_number=120, delible=True
            ),
            record(
                title="Once", initial_date="2030-02-03", frequency_type="one_time", frequency_number=1, delible=True
            ),
        ),
        monica_list("activity", TEA),
        monica_list("document", DEED),
        monica_list("photo", BEACH),
        monica_list("horoscope", record(sign="Sagittarius"), record(sign="Virgo")),
    ]
    ada = {
        "uuid": ADA,
        "created_at": "2019-03-04T10:00:00Z",
        "properties": {
            "first_name": "Ada",
            "description": "First of them",
            "gender": FEMALE,
            "food_preferences": "Vegan",
            "is_active": False,
            "birthdate": special_date("2000-12-10", is_year_unknown=True),
            "deceased_date": special_date("1999-01-01", is_age_based=True),
            "first_met_date": special_date("2010-07-08"),
            "first_met_through": BYRON,
        },
        "data": data,
    }
    byron = {"uuid": BYRON, "properties": {"first_name": "George", "is_partial": True}, "data": []}
    return {
        "account": {
            "data": [
                monica_list("user", {"uuid": "u"}),
                monica_list("contact", ada, byron),
                monica_list("relationship", record(type="child", contact_is=BYRON, of_contact=ADA)),
                monica_list(
                    "document", {**record(original_filename="deed.pdf", mime_type="application/pdf"), "uuid": DEED}
                ),
                monica_list("photo", {**record(dataUrl="image/jpeg;base64,AAAA"), "uuid": BEACH}),
                monica_list("activity", {**record(summary="Tea", happened_at="2021-06-07", type=CLIMB), "uuid": TEA}),
                monica_list("address_book", record(name="Book")),
                monica_list("ritual", *[record()] * 3),
            ],
            "properties": {
                "journal_entries": [record(title="A day")],
                "modules": [record(key="debts")],
                "audit_logs": [record(action="contact_created")] * 4,
            },
            "instance": {
                "genders": [{"uuid": FEMALE, "properties": {"name": "Woman", "type": "F"}}],
                "life_event_types": [{"uuid": JOB, "properties": {"name": None, "translation_key": "new_job"}}],
                "activity_types": [{"uuid": CLIMB, "properties": {"name": "Had tea", "translation_key": "tea"}}],
                "contact_field_types": [
                    {"uuid": SIGNAL, "properties": {"name": "Signal", "protocol": "tel:"}},
                    {"uuid": TELEGRAM, "properties": {"name": "Telegram", "protocol": "telegram:"}},
                ],
            },
        }
    }


NOTES = [
    "First of them",
    "Died about 1999",
    "2012-03: New job",
    "2013-01-01: New job\nThe export has no flags",
    "2020-02-03: Reminder: Plants (120 × week)",
    "2021-05-01: You owe: 20 EUR",
    "2021-05-01: Owes you: 5 NOK, settled",
    "2021-05-01: Task: Write back\nAbout June",
    "2021-05-01: Task, done: Send the keys (2021-06-07)",
    "2021-05-01: Pet: Puff (cat)",
    "2021-05-01: Document: deed.pdf (application/pdf)",
    "2021-05-01: Gift idea: Skis\nBlue ones\nhttps://example.org/skis",
]


def test_every_kind_of_the_json_export_arrives_or_is_named(api: Client) -> None:
    data = orjson.dumps(build_export())
    dry = import_file(api, "monica", data, dryRun="true")
    response = import_file(api, "monica", data)
    assert (
        names_of(response)
        == names_of(dry)
        == {
            "entries of the audit log": "4 of them have no place here and were left out",
            "ritual": "3 of them have no place here and were left out",
            "horoscope": "2 of them have no place here and were left out",
            "documents": "1 of them were left out, their names are in the notes of their people",
            "photos": "1 of them have no place here and were left out",
            "journal entries": "1 of them have no place here and were left out",
            "address books": "1 of them have no place here and were left out",
        }
    )
    ada = people_by_name(api)["Ada"]
    assert ada["notes"].split("\n\n") == NOTES
    assert (ada["gender"], ada["quiet"]) == ("F", True)
    assert [entry["number"] for entry in ada["phoneNumbers"]] == ["+47 1"]
    assert [(entry["protocol"], entry["handle"]) for entry in ada["imHandles"]] == [("telegram", "@ada")]
    assert [(entry["key"], entry["value"]) for entry in ada["customFields"]] == [
        ("Food preferences", "Vegan"),
        ("Contact field", "x"),
    ]
    dates = dates_by_title(ada)
    assert dates.keys() == {"BIRTHDAY", "First met", "Graduated", "Once"}
    assert (dates["BIRTHDAY"]["yearUnknown"], dates["BIRTHDAY"]["reminderEnabled"]) == (True, True)
    assert (dates["Once"]["reminderEnabled"], dates["Once"]["reminderType"]) == (True, "ONCE")
    assert ImportantDate.unscoped.rows().get(title="Once").next_occurrence_on == dt.date(2030, 2, 3)
    assert {(row["kind"], row["title"], row["notes"]) for row in all_interactions(api)} == {
        ("CALL", "They called", "Feelings: joy"),
        ("NOTE", "★", "Likes poetry"),
        ("GIFT", "Book", "Given\nFor George\n12.5 EUR"),
        ("MESSAGE", "Signal", "→ Hi\n← Hello"),
        ("MEETING", "Tea", "Kind: Had tea"),
    }
    assert ("George", "Child", "Ada") in relationships(api) or ("Ada", "Child", "George") in relationships(api)
    assert counts(import_file(api, "monica", data)) == (0, 0, 9, 0)
    assert len(all_interactions(api)) == 5
    api.ok("DELETE", f"/api/imports/{response['importId']}")
    assert (people_by_name(api), interactions(api)) == ({}, set())


SQL = r"""
INSERT IGNORE INTO `accounts` (`id`,`api_key`) VALUES
 (1,'secret');
INSERT IGNORE INTO `activities` (`id`,`activity_type_id`,`summary`,`happened_at`) VALUES (4,2,'Tea','2021-06-07');
INSERT IGNORE INTO `activity_types` (`id`,`name`,`translation_key`) VALUES (2,NULL,'had_tea');
INSERT IGNORE INTO `activity_contact` (`activity_id`,`contact_id`) VALUES (4,7);
INSERT IGNORE INTO `contacts` (`id`,`first_name`,`uuid`,`is_partial`,`birthday_special_date_id`) VALUES
 (7,'Ada','0a1b2c3d-0000-4000-8000-000000000001',0,5),
 (8,'George','0a1b2c3d-0000-4000-8000-000000000002',1,NULL);
INSERT IGNORE INTO `special_dates` (`id`,`is_age_based`,`is_year_unknown`,`date`) VALUES (5,1,0,'1984-01-01');
INSERT IGNORE INTO `calls` (`id`,`contact_id`,`called_at`,`content`,`contact_called`) VALUES
 (1,7,'2022-03-04 09:00:00','Engines',0);
INSERT IGNORE INTO `emotion_call` (`call_id`,`emotion_id`,`contact_id`) VALUES (1,3,7),(1,4,7);
INSERT IGNORE INTO `companies` (`id`,`name`,`website`) VALUES (1,'Engines Ltd',NULL),(2,'Looms Ltd',NULL);
INSERT IGNORE INTO `occupations`
 (`id`,`contact_id`,`company_id`,`title`,`start_date`,`currently_works_here`,`created_at`) VALUES
 (1,7,1,'Engineer','2019-01-01',1,'2021-05-01 10:00:00');
INSERT IGNORE INTO `contact_field_types` (`id`,`name`,`protocol`,`type`) VALUES (1,'Signal',NULL,NULL);
INSERT IGNORE INTO `conversations` (`id`,`contact_id`,`contact_field_type_id`,`created_at`) VALUES
 (1,7,1,'2022-01-01 08:00:00');
INSERT IGNORE INTO `messages` (`id`,`contact_id`,`conversation_id`,`content`,`written_at`,`written_by_me`) VALUES
 (1,7,1,'Hi','2022-01-01 08:00:00',1),
 (2,7,6,'Lost','2022-01-01 08:00:00',1);
INSERT IGNORE INTO `days` (`id`,`date`,`rate`) VALUES (1,'2021-05-01',3),(2,'2021-05-02',1);
INSERT IGNORE INTO `debts` (`id`,`contact_id`,`in_debt`,`status`,`amount`,`currency_id`,`reason`,`created_at`) VALUES
 (1,7,'yes','inprogress',2050,4,'Cinema','2021-05-01 10:00:00'),
 (2,7,'no','complete',500,77,NULL,'2021-05-01 10:00:00');
INSERT IGNORE INTO `documents` (`id`,`contact_id`,`original_filename`,`mime_type`,`created_at`) VALUES
 (1,7,'deed.pdf','application/pdf','2021-05-01 10:00:00');
INSERT IGNORE INTO `entries` (`id`,`title`,`post`) VALUES (1,'A day','It rained');
INSERT IGNORE INTO `gifts` (`id`,`contact_id`,`name`,`amount`,`currency_id`,`status`,`date`) VALUES
 (1,7,'Book',1250,4,'received','2020-01-02');
INSERT IGNORE INTO `journal_entries` (`id`,`journalable_type`) VALUES (1,'x'),(2,'x'),(3,'x');
INSERT IGNORE INTO `life_event_types` (`id`,`name`,`default_life_event_type_key`) VALUES (9,NULL,'new_job');
INSERT IGNORE INTO `life_events`
 (`contact_id`,`life_event_type_id`,`note`,`happened_at`,`happened_at_month_unknown`,`happened_at_day_unknown`) VALUES
 (7,9,NULL,'2012-01-01',1,1);
INSERT IGNORE INTO `pets` (`id`,`contact_id`,`pet_category_id`,`name`,`created_at`) VALUES
 (1,7,3,'Puff','2021-05-01 10:00:00');
INSERT IGNORE INTO `photos` (`id`,`original_filename`) VALUES (1,'beach.jpg');
INSERT IGNORE INTO `contact_photo` (`contact_id`,`photo_id`) VALUES (7,1);
INSERT IGNORE INTO `tasks` (`id`,`contact_id`,`title`,`completed`,`created_at`) VALUES
 (1,7,'Write back',0,'2021-05-01 10:00:00'),
 (2,NULL,'Buy stamps',0,'2021-05-01 10:00:00');
INSERT IGNORE INTO `reminders`
 (`contact_id`,`initial_date`,`title`,`frequency_type`,`frequency_number`,`delible`,`inactive`) VALUES
 (7,'2020-02-03','Exam','one_time',1,1,1);
INSERT IGNORE INTO `horoscopes` (`id`) VALUES (1),(2),(3),(4),(5);
"""


def test_every_table_of_the_sql_export_arrives_or_is_named(api: Client) -> None:
    response = import_file(api, "monica", SQL)
    left_out = "%s of them have no place here and were left out"
    assert names_of(response) == {
        "horoscopes": left_out % 5,
        "feelings of calls": left_out % 2,
        "rated days": left_out % 2,
        "documents": "1 of them were left out, their names are in the notes of their people",
        "journal entries": left_out % 1,
        "photos": left_out % 1,
        "tasks": left_out % 1,
        "companies without people": left_out % 1,
        "messages without a conversation": left_out % 1,
    }
    people = people_by_name(api)
    assert people.keys() == {"Ada", "George"}
    assert people["Ada"]["notes"].split("\n\n") == [
        "Born about 1984",
        "2012: New job",
        "2021-05-01: You owe: 20.50 EUR\nCinema",
        "2021-05-01: Owes you: 500 (× 0.01, currency 77), settled",
        "2021-05-01: Task: Write back",
        "2021-05-01: Pet: Puff (cat)",
        "2021-05-01: Document: deed.pdf (application/pdf)",
        "2021-05-01: Job: Engineer, Engines Ltd (2019-01-01–)",
    ]
    assert (people["Ada"]["jobTitle"], people["Ada"]["organization"]) == ("Engineer", "Engines Ltd")
    [exam] = people["Ada"]["importantDates"]
    assert (exam["title"], exam["reminderEnabled"], exam["reminderType"]) == ("Exam", False, "ONCE")
    assert {(row["kind"], row["title"], row["notes"]) for row in all_interactions(api)} == {
        ("CALL", None, "Engines"),
        ("MESSAGE", "Signal", "→ Hi"),
        ("GIFT", "Book", "Received\n12.50 EUR"),
        ("MEETING", "Tea", "Kind: Had tea"),
    }
    assert counts(import_file(api, "monica", SQL)) == (0, 0, 11, 0)
    assert len(all_interactions(api)) == 4


def export_of(*lists: dict[str, Any], **properties: Any) -> bytes:
    ada = {"uuid": ADA, "properties": {"first_name": "Ada", **properties}, "data": [*lists]}
    return orjson.dumps({"account": {"data": [monica_list("contact", ada)]}})


def test_what_the_notes_have_no_room_for_becomes_interactions(api: Client) -> None:
    tasks = [record(title=f"Task {number}", description="x" * 3_000) for number in range(4)]
    data = export_of(monica_list("task", *tasks), monica_list("note", record(body="y" * 10_001)))
    assert counts(import_file(api, "monica", data)) == (1, 0, 0, 0)
    notes = people_by_name(api)["Ada"]["notes"]
    assert [number for number in range(4) if f"Task {number}" in notes] == [0, 1, 2]
    found = sorted(row["notes"] for row in all_interactions(api))
    assert [(row[:28], len(row)) for row in found] == [
        ("2021-05-01: Task: Task 3\nxxx", 3_025),
        ("y", 1),
        ("y" * 28, 10_000),
    ]
    assert counts(import_file(api, "monica", data)) == (0, 0, 1, 0)
    assert len(all_interactions(api)) == 3


def test_what_a_field_has_no_room_for_is_in_the_notes(api: Client) -> None:
    fields = [record(data=f"https://example.org/{number:03}") for number in range(MAX_ENTRIES + 2)]
    addresses = [record(name="Home", street=f"{number} Long Road") for number in range(MAX_ENTRIES + 1)]
    reminders = [
        record(title=f"Day {number}", initial_date="2020-02-03", frequency_type="year")
        for number in range(MAX_ENTRIES + 1)
    ]
    lists = ("contact_field", fields), ("address", addresses), ("reminder", reminders)
    data = export_of(*(monica_list(kind, *rows) for kind, rows in lists), first_met_additional_info="x" * 1_001)
    [result] = import_file(api, "monica", data)["results"]
    assert "reason" not in result
    ada = people_by_name(api)["Ada"]
    assert [len(ada[name]) for name in ("urls", "addresses", "importantDates", "customFields")] == [
        *[MAX_ENTRIES] * 3,
        0,
    ]
    assert sorted(ada["notes"].split("\n\n")) == [
        f"2020-02-03: Reminder: Day {MAX_ENTRIES} (year)",
        "How you met: " + "x" * 1_001,
        f"home, {MAX_ENTRIES} Long Road",
        f"https://example.org/{MAX_ENTRIES:03}",
        f"https://example.org/{MAX_ENTRIES + 1:03}",
    ]


def test_what_has_no_time_is_in_the_notes(api: Client) -> None:
    undated = {"properties": {"content": "Engines"}}
    response = import_file(api, "monica", export_of(monica_list("call", undated), monica_list("note", "?")))
    assert counts(response) == (1, 0, 0, 0)
    assert people_by_name(api)["Ada"]["notes"] == "Engines"
    assert all_interactions(api) == []


def test_words_are_in_the_language_of_the_account_and_known_in_any(api: Client, alice: User) -> None:
    call = record(called_at="2022-03-04T09:00:00Z", contact_called=True, emotions=["joy"])
    data = export_of(monica_list("call", call), monica_list("pet", record(name="Puff")))
    api.ok("PUT", "/api/user/language", {"language": "de-DE"})
    import_file(api, "monica", data)
    [row] = all_interactions(api)
    assert (row["title"], row["notes"]) == ("Hat angerufen", "Gefühle: joy")
    assert people_by_name(api)["Ada"]["notes"] == "2021-05-01: Haustier: Puff"
    api.ok("PUT", "/api/user/language", {"language": "en"})
    import_file(api, "monica", data)
    assert len(all_interactions(api)) == 1


def test_a_reminder_that_came_once_and_is_off_is_no_yearly_event(api: Client, alice: User) -> None:
    today = timezone.now().date()
    day = (today + dt.timedelta(3)).replace(year=2020)
    rows = [
        record(title=title, initial_date=day.isoformat(), frequency_type=kind, frequency_number=1, inactive=True)
        for title, kind in (("Exam", "one_time"), ("Fair", "year"))
    ]
    import_file(api, "monica", export_of(monica_list("reminder", *rows)))
    assert [event["title"] for event in api.ok("GET", "/api/upcoming?days=30")["events"]] == ["Fair"]
    assert count_upcoming(alice, start=today, days=30) == 1


def test_reminders_beyond_the_plan_are_off(api: Client, alice: User, settings: Any) -> None:
    settings.SAAS_MODE = True
    settings.PLAN_LIMITS = {**settings.PLAN_LIMITS, alice.plan: {**settings.PLAN_LIMITS[alice.plan], "reminders": 1}}
    rows = [record(title=title, initial_date="2020-02-03", frequency_type="year", frequency_number=1) for title in "AB"]
    data = export_of(monica_list("reminder", *rows))
    dry, response = (import_file(api, "monica", data, dryRun=flag) for flag in ("true", "false"))
    assert [result["code"] for result in (*dry["results"], *response["results"])] == ["reminder_limit"] * 2
    dates = dates_by_title(people_by_name(api)["Ada"])
    assert [dates[title]["reminderEnabled"] for title in "AB"] == [True, False]


def test_undo_of_dates_that_were_added_takes_their_reminders_back(api: Client) -> None:
    import_file(api, "monica", export_of())
    row = record(title="Fair", initial_date="2020-02-03", frequency_type="year", frequency_number=1)
    response = import_file(api, "monica", export_of(monica_list("reminder", row)))
    assert counts(response) == (0, 1, 0, 0)
    assert ImportantDate.unscoped.rows().get().next_due_at
    api.ok("DELETE", f"/api/imports/{response['importId']}")
    stored = ImportantDate.unscoped.rows().get()
    assert (stored.next_due_at, stored.is_deleted) == (None, True)


@pytest.mark.one_database
def test_many_unknown_kinds_are_named_in_one_row(alice: User) -> None:
    lists = [monica_list(f"kind {number}", {}) for number in range(100)]
    account: dict[str, Any] = {"data": [monica_list("contact"), *lists]}
    found = monica.Monica(alice, account, dt.datetime.now(dt.UTC)).not_imported()
    assert len(found) == monica._MAX_KINDS + 1
    assert found[-1][1].params == {"count": 70}


@pytest.mark.one_database
def test_a_long_activity_is_not_multiplied_by_those_who_took_part(alice: User) -> None:
    contacts = [
        {"uuid": str(number), "properties": {"first_name": "Ada"}, "data": [monica_list("activity", TEA)]}
        for number in range(50)
    ]
    activity = {"uuid": TEA, "properties": {"summary": "Tea", "description": "x" * 5_000}}
    account = {"data": [monica_list("contact", *contacts), monica_list("activity", activity)]}
    results = [*monica.Monica(alice, account, dt.datetime.now(dt.UTC)).people()]
    assert sum(len(result.card.notes or "") for result in results if result.card) < 2 * 5_000 + 50 * 200


def test_a_dry_run_names_relationships_to_nobody(api: Client) -> None:
    ada = {"uuid": ADA, "properties": {"first_name": "Ada"}}
    pairs = [record(type="parent", contact_is=ADA, of_contact=gone) for gone in (BYRON, "gone", "gone")]
    lists = [monica_list("contact", ada), monica_list("relationship", *pairs, record(contact_is="a", of_contact="b"))]
    data = orjson.dumps({"account": {"data": lists}})
    dry, response = (import_file(api, "monica", data, dryRun=flag) for flag in ("true", "false"))
    assert [result["code"] for result in dry["results"]] == ["related_missing", "kind_left_out"]
    assert [result["code"] for result in response["results"]] == ["related_missing", "kind_left_out"]


def test_everybody_of_a_large_activity_took_part(api: Client) -> None:
    keys = [f"0a1b2c3d-0000-4000-8000-0000000003{number:02}" for number in range(60)]
    contacts = [
        {"uuid": key, "properties": {"first_name": f"Ada {key[-2:]}"}, "data": [monica_list("activity", TEA)]}
        for key in keys
    ]
    activity = {**record(summary="Tea", happened_at="2021-06-07"), "uuid": TEA}
    lists = [monica_list("contact", *contacts), monica_list("activity", activity)]
    data = orjson.dumps({"account": {"data": lists}})
    for _ in range(2):
        import_file(api, "monica", data)
        assert sorted(len(row["personIds"]) for row in all_interactions(api)) == [10, 50]


def test_reminders_that_monica_makes_itself_are_those_of_their_days(api: Client) -> None:
    def own(day: str, **flags: bool) -> dict[str, Any]:
        return record(initial_date=day, title="Own", frequency_type="year", frequency_number=1, delible=False, **flags)

    data = export_of(
        monica_list("reminder", own("2019-05-06", inactive=True), own("2019-09-09")),
        birthdate=special_date("1990-05-06"),
        first_met_date=special_date("2010-07-08"),
        first_met_reminder=own("2010-07-08"),
        deceased_date=special_date("2020-02-03"),
        deceased_reminder=own("2020-02-03"),
    )
    import_file(api, "monica", data)
    ada = people_by_name(api)["Ada"]
    assert ada["deathday"] == "2020-02-03"
    assert {title: day["reminderEnabled"] for title, day in dates_by_title(ada).items()} == {
        "BIRTHDAY": False,
        "First met": True,
        "MEMORIAL": True,
        "Own": True,
    }
