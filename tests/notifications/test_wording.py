"""What a notice says, in the account's language and formats."""

from typing import Any

import pytest

from accounts.models import User
from notifications.notices import NoticeKind
from notifications.wording import word
from tests.notifications.notices import CONTENTS, EVENT, make_notice


@pytest.mark.parametrize(
    ("content", "title", "lines"),
    [
        ({}, "Birthday: Ada Lovelace", ("It is today, 2026-12-10.", "Ada Lovelace turns 211.")),
        ({"daysUntil": 1, "turns": None}, "Birthday: Ada Lovelace", ("It is tomorrow, 2026-12-10.",)),
        ({"daysUntil": 7, "turns": 0}, "Birthday: Ada Lovelace", ("It is in 7 days, on 2026-12-10.",)),
        (
            {"daysUntil": -2, "late": True, "turns": None},
            "Birthday: Ada Lovelace",
            ("It was on 2026-12-10.", "This reminder comes late: it could not be sent in time."),
        ),
        (
            {"type": None, "title": "First met", "turns": 1},
            "First met: Ada Lovelace",
            ("It is today, 2026-12-10.", "1 year."),
        ),
        (
            {"type": "MEMORIAL", "turns": 3},
            "Memorial day: Ada Lovelace",
            ("It is today, 2026-12-10.", "3 years."),
        ),
    ],
)
def test_important_date(alice: User, content: dict[str, Any], title: str, lines: tuple[str, ...]) -> None:
    wording = word(make_notice(alice, **content))
    assert (wording.title, wording.lines) == (title, lines)
    assert wording.url.endswith("/people/01900000-0000-7000-8000-000000000001")


def test_links_lead_to_the_client_that_is_set(alice: User, settings: Any) -> None:
    settings.APP_URL = "https://app.example.org/#/people/{id}?from=reminder"
    url = "https://app.example.org/#/people/01900000-0000-7000-8000-000000000001?from=reminder"
    assert word(make_notice(alice)).url == url


@pytest.mark.parametrize(
    ("content", "line"),
    [({}, "Your last contact was on 2026-04-03."), ({"lastContact": None}, "No contact has been noted yet.")],
)
def test_contact(alice: User, content: dict[str, Any], line: str) -> None:
    wording = word(make_notice(alice, NoticeKind.CONTACT, **content))
    assert (wording.title, wording.lines) == ("Get in touch with Ada Lovelace", (line,))


def test_digest(alice: User) -> None:
    contact = {**EVENT, "kind": "contact", "type": None, "turns": None}
    wording = word(make_notice(alice, NoticeKind.DIGEST, events=[EVENT, contact]))
    assert wording.title == "2 events in the coming week"
    assert wording.lines == (
        "2026-12-10: Birthday: Ada Lovelace. Ada Lovelace turns 211.",
        "2026-12-10: Get in touch with Ada Lovelace.",
    )


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", "Birthday: Ada Lovelace"),
        ("es-ES", "Cumpleaños: Ada Lovelace"),
        ("ja-JP", "誕生日：Ada Lovelace"),
        ("nb-NO", "Bursdag: Ada Lovelace"),
        ("de-DE", "Geburtstag: Ada Lovelace"),
        ("fr-FR", "Anniversaire : Ada Lovelace"),
    ],
)
def test_every_language(alice: User, language: str, title: str) -> None:
    alice.language = language
    assert word(make_notice(alice)).title == title
    for kind in CONTENTS:
        assert word(make_notice(alice, kind)).lines


@pytest.mark.parametrize(("form", "day"), [("MDY", "12/10/2026"), ("DMY", "10/12/2026"), ("YMD", "2026-12-10")])
def test_dates_in_the_accounts_format(alice: User, form: str, day: str) -> None:
    alice.date_format = form
    assert word(make_notice(alice)).lines[0] == f"It is today, {day}."
