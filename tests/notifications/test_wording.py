"""The texts of notices, in the account's language and date format."""

from typing import Any

import pytest

from accounts.models import User
from notifications.notices.notice import NoticeKind
from notifications.notices.wording import wording_of
from tests.notifications.notices import CONTENTS, EVENT, make_notice

pytestmark = pytest.mark.sqlite_suffices


@pytest.mark.parametrize(
    ("content", "title", "lines"),
    [
        ({}, "Birthday: Ada Lovelace", ("It is today, Thursday, 10 December (2026-12-10).", "Ada Lovelace turns 211.")),
        (
            {"daysUntil": 1, "turns": None},
            "Birthday: Ada Lovelace",
            ("It is tomorrow, Thursday, 10 December (2026-12-10).",),
        ),
        (
            {"daysUntil": 7, "turns": 0},
            "Birthday: Ada Lovelace",
            ("It is in 7 days, on Thursday, 10 December (2026-12-10).",),
        ),
        (
            {"daysUntil": -2, "late": True, "turns": None},
            "Birthday: Ada Lovelace",
            (
                "It was on Thursday, 10 December (2026-12-10).",
                "This reminder comes late: it could not be sent in time.",
            ),
        ),
        (
            {"type": None, "title": "First met", "turns": 1},
            "First met: Ada Lovelace",
            ("It is today, Thursday, 10 December (2026-12-10).", "1 year."),
        ),
        (
            {"type": "MEMORIAL", "turns": 3},
            "Memorial day: Ada Lovelace",
            ("It is today, Thursday, 10 December (2026-12-10).", "3 years."),
        ),
        (
            {"type": "NAMEDAY", "turns": 3},
            "Name day: Ada Lovelace",
            ("It is today, Thursday, 10 December (2026-12-10).",),
        ),
    ],
)
def test_texts_of_an_important_date(alice: User, content: dict[str, Any], title: str, lines: tuple[str, ...]) -> None:
    wording = wording_of(make_notice(alice, **content))
    assert (wording.title, wording.lines) == (title, lines)
    assert wording.url.endswith("/people/01900000-0000-7000-8000-000000000001")


def test_links_lead_to_the_configured_client(alice: User, settings: Any) -> None:
    settings.APP_URL = "https://app.example.org/#/people/{id}?from=reminder"
    url = "https://app.example.org/#/people/01900000-0000-7000-8000-000000000001?from=reminder"
    assert wording_of(make_notice(alice)).url == url


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({}, "Your last contact was on Friday, 3 April (2026-04-03)."),
        ({"lastContact": None}, "No contact has been noted yet."),
    ],
)
def test_texts_of_a_contact_reminder(alice: User, content: dict[str, Any], line: str) -> None:
    wording = wording_of(make_notice(alice, NoticeKind.CONTACT, **content))
    assert (wording.title, wording.lines) == ("Get in touch with Ada Lovelace", (line,))


def test_digest_names_each_person_once_a_day(alice: User) -> None:
    contact = {**EVENT, "kind": "contact", "type": None, "turns": None}
    namesake = {**EVENT, "personId": "2", "type": None, "title": "First met", "turns": 1}
    later = {**EVENT, "date": "2026-12-12", "type": "NAMEDAY", "turns": 3}
    wording = wording_of(make_notice(alice, NoticeKind.DIGEST, events=[EVENT, namesake, contact, later]))
    assert wording.title == "4 events in the coming week"
    first, second = wording.days
    assert (first.words, first.digits, first.number) == ("Thursday, 10 December", "2026-12-10", 10)
    assert [(person.name, person.occasions) for person in first.people] == [
        ("Ada Lovelace", ("Birthday · turns 211", "Get in touch")),
        ("Ada Lovelace", ("First met · 1 year",)),
    ]
    assert first.people[0].url.endswith("/people/01900000-0000-7000-8000-000000000001")
    assert (second.words, second.people[0].occasions) == ("Saturday, 12 December", ("Name day",))


@pytest.mark.parametrize(
    ("language", "title", "line", "day"),
    [
        (
            "en",
            "Birthday: Ada Lovelace",
            "It is tomorrow, Thursday, 10 December (2026-12-10).",
            "Thursday, 10 December",
        ),
        (
            "es-ES",
            "Cumpleaños: Ada Lovelace",
            "Es mañana, jueves, 10 de diciembre (2026-12-10).",
            "Jueves, 10 de diciembre",
        ),
        ("ja-JP", "誕生日：Ada Lovelace", "明日、12月10日(木)（2026-12-10）です。", "12月10日(木)"),
        (
            "nb-NO",
            "Bursdag: Ada Lovelace",
            "Det er i morgen, torsdag 10. desember (2026-12-10).",
            "Torsdag 10. desember",
        ),
        (
            "de-DE",
            "Geburtstag: Ada Lovelace",
            "Das ist morgen, Donnerstag, 10. Dezember (2026-12-10).",
            "Donnerstag, 10. Dezember",
        ),
        ("fr-FR", "Anniversaire : Ada Lovelace", "C’est demain, jeudi 10 décembre (2026-12-10).", "Jeudi 10 décembre"),
    ],
)
def test_texts_in_every_language(alice: User, language: str, title: str, line: str, day: str) -> None:
    alice.language = language
    wording = wording_of(make_notice(alice, daysUntil=1))
    assert (wording.title, wording.lines[0]) == (title, line)
    assert wording_of(make_notice(alice, NoticeKind.DIGEST)).days[0].words == day
    for kind in set(CONTENTS) - {NoticeKind.DIGEST}:
        assert wording_of(make_notice(alice, kind)).lines


@pytest.mark.parametrize(
    ("form", "day"),
    [
        ("MDY", "Thursday, December 10 (12/10/2026)"),
        ("DMY", "Thursday, 10 December (10/12/2026)"),
        ("YMD", "Thursday, 10 December (2026-12-10)"),
    ],
)
def test_dates_have_the_accounts_format(alice: User, form: str, day: str) -> None:
    alice.date_format = form
    assert wording_of(make_notice(alice)).lines[0] == f"It is today, {day}."


@pytest.mark.parametrize(
    ("language", "line", "occasion"),
    [
        ("en", "Ada Lovelace turns 1.", "Birthday · turns 1"),
        ("es-ES", "Ada Lovelace cumple 1 año.", "Cumpleaños · cumple 1 año"),
        ("ja-JP", "Ada Lovelace さんは 1 歳になります。", "誕生日 · 1歳"),
        ("nb-NO", "Ada Lovelace fyller 1 år.", "Bursdag · fyller 1"),
        ("de-DE", "Ada Lovelace wird 1.", "Geburtstag · wird 1"),
        ("fr-FR", "Ada Lovelace fête son 1er anniversaire.", "Anniversaire · fête son 1er anniversaire"),
    ],
)
def test_texts_of_a_first_birthday(alice: User, language: str, line: str, occasion: str) -> None:
    alice.language = language
    assert wording_of(make_notice(alice, turns=1)).lines[1] == line
    digest = wording_of(make_notice(alice, NoticeKind.DIGEST, events=[{**EVENT, "turns": 1}]))
    assert digest.days[0].people[0].occasions == (occasion,)


@pytest.mark.parametrize(
    ("language", "day"),
    [
        ("en", "Tuesday, 1 December"),
        ("es-ES", "Martes, 1 de diciembre"),
        ("ja-JP", "12月1日(火)"),
        ("nb-NO", "Tirsdag 1. desember"),
        ("de-DE", "Dienstag, 1. Dezember"),
        ("fr-FR", "Mardi 1er décembre"),
    ],
)
@pytest.mark.parametrize("form", ["DMY", "YMD"])
def test_texts_of_the_first_of_a_month(alice: User, language: str, day: str, form: str) -> None:
    alice.language, alice.date_format = language, form
    event = {**EVENT, "date": "2026-12-01"}
    assert wording_of(make_notice(alice, NoticeKind.DIGEST, events=[event])).days[0].words == day


@pytest.mark.parametrize(
    ("language", "count", "title", "line"),
    [
        ("en", 1, "1 new contact on your server", "Look at it, and import it if you want."),
        ("en", 2, "2 new contacts on your server", "Look at them, and import those that you want."),
        ("es-ES", 1, "1 contacto nuevo en tu servidor", "Míralo e impórtalo si quieres."),
        ("es-ES", 2, "2 contactos nuevos en tu servidor", "Míralos e importa los que quieras."),
    ],
)
def test_texts_of_found_contacts(alice: User, language: str, count: int, title: str, line: str) -> None:
    alice.language = language
    wording = wording_of(make_notice(alice, NoticeKind.CONTACTS_FOUND, count=count))
    assert (wording.title, wording.lines) == (title, (line,))
