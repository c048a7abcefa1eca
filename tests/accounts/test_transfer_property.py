"""Exporting any account, importing it into another and exporting that gives the same, except ids and times."""

import datetime as dt
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.transfer import importer
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.text_forms import nfc
from tests.accounts.test_transfer import export_document, normalize_document
from tests.builders import make_user
from tests.client import Client, client_of
from tests.rounds import rounds_per_database
from tests.strategies import optional

_accounts = itertools.count()


def text(most: int) -> st.SearchStrategy[str]:
    """Text as it is stored: in NFC, trimmed, no control characters; with astral characters and right-to-left marks."""
    letters = st.characters(exclude_categories=["Cs", "Cc"])
    return st.text(letters, min_size=1, max_size=most).map(lambda drawn: nfc(drawn)[:most].strip()).filter(bool)


TIMESTAMPS = st.sampled_from(["2024-02-29T12:00:00.000Z", "2025-01-01T00:00:00.123Z"])
DELETED = optional(st.just("2026-01-02T03:04:05.678Z"))
DAYS = st.dates(min_value=dt.date(1000, 1, 1)).map(lambda day: day.isoformat())
TIMES = {"createdAt": TIMESTAMPS, "deletedAt": DELETED}


def ids() -> st.SearchStrategy[str]:
    return st.builds(lambda: str(new_id()))


GROUPS = st.lists(
    st.fixed_dictionaries(
        {"id": ids(), "name": text(30), "description": optional(text(50)), "color": st.just("#0A0B0C"), **TIMES}
    ),
    max_size=4,
    unique_by=lambda group: group["name"].casefold(),
)
DATES = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids(),
            "type": optional(st.sampled_from(["BIRTHDAY", "NAMEDAY"])),
            "title": text(20),
            "date": DAYS,
            "yearUnknown": st.booleans(),
            "reminderEnabled": st.booleans(),
            "reminderType": optional(st.sampled_from(["ONCE", "RECURRING"])),
            "reminderLeadDays": optional(st.integers(0, 365)),
            "extraLeadDays": st.lists(st.integers(0, 365), max_size=3, unique=True),
            **TIMES,
        }
    ),
    max_size=3,
    unique_by=lambda date: date["type"] or date["id"],
)
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids(),
            "name": text(40),
            "surname": optional(text(40)),
            "nickname": optional(text(10)),
            "notes": optional(text(200)),
            "anniversary": optional(DAYS),
            "phoneNumbers": st.lists(st.fixed_dictionaries({"type": text(10), "number": text(20)}), max_size=2),
            "addresses": st.lists(
                st.fixed_dictionaries({"streetLine1": optional(text(20)), "country": optional(text(5))}), max_size=2
            ),
            "customFields": st.lists(st.fixed_dictionaries({"key": text(9), "value": text(9)}), max_size=2),
            "contactReminderEnabled": st.booleans(),
            "uid": optional(text(20)),
            "importantDates": DATES,
            **TIMES,
        }
    ),
    max_size=5,
)


CONNECTION = st.fixed_dictionaries(
    {"id": ids(), "serverUrl": st.just("https://dav.example.org/"), "username": text(20), "createdAt": TIMESTAMPS}
)
RUNS = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids(),
            "trigger": st.sampled_from(["manual", "automatic", "cron", "command"]),
            "dryRun": st.booleans(),
            "confirmed": st.booleans(),
            "startedAt": TIMESTAMPS,
            "endedAt": TIMESTAMPS,
            "undoneAt": optional(TIMESTAMPS),
            "imported": st.integers(0, 2**31 - 1),
            "errors": st.integers(0, 50),
            "errorMessages": st.lists(text(50), max_size=3),
            "code": st.sampled_from(["", "busy"]),
            "error": st.just("") | text(50),
            "createdAt": TIMESTAMPS,
        }
    ),
    max_size=3,
)
CALENDARS = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids(),
            "name": text(100),
            "kind": st.sampled_from(["ics", "caldav"]),
            "username": optional(text(50)),
            "daysBack": st.integers(0, 365),
            "createdAt": TIMESTAMPS,
        }
    ),
    max_size=4,
    unique_by=lambda source: (source["name"], source["kind"]),
)
HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
ANSWERS = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids(),
            "kind": st.sampled_from(["accepted", "dismissed", "series", "title"]),
            "key": HASHES,
            "dayKey": optional(HASHES),
            "createdAt": TIMESTAMPS,
        }
    ),
    max_size=5,
    unique_by=lambda answer: answer["key"],
)
SAID = optional(text(30))
DECISIONS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"resolution": None, "resolvedAt": None},
        *({"resolution": word, "resolvedAt": "2025-01-01T00:00:00.123Z"} for word in ("keep_local", "merged")),
    ]
)


@st.composite
def conflicts(draw: st.DrawFn, person: str, connection: str) -> dict[str, Any]:
    """A conflict of `person`: about a field of the card, or because one side was deleted."""
    kind = draw(st.sampled_from(["fields", "remote_deleted", "local_deleted"]))
    field = {"field": "organization", "base": draw(SAID), "local": draw(SAID), "remote": "There"}
    return {
        "id": draw(ids()),
        "connectionId": connection,
        "personId": person,
        "kind": kind,
        "fields": [field] if kind == "fields" else [],
        "remoteRaw": "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nORG:There\r\nEND:VCARD\r\n",
        "createdAt": draw(TIMESTAMPS),
        **draw(DECISIONS),
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A document as another instance could have exported it."""
    groups, people = draw(GROUPS), draw(PEOPLE)
    kinds = [{"id": str(new_id()), "name": name, "label": name, "color": "#112233"} for name in ("UP", "DOWN", "SIDE")]
    for kind, inverse in zip(kinds, (1, 0, 2), strict=True):
        kind["inverseId"] = kinds[inverse]["id"]
    for person in people:
        person["groupIds"] = [group["id"] for group in groups if draw(st.booleans())]
        person["relationshipToUserId"] = draw(optional(st.sampled_from([kind["id"] for kind in kinds])))
    pairs = draw(st.sets(st.sampled_from(list(itertools.combinations(range(len(people)), 2))))) if people[1:] else set()
    relationships = [
        {
            "id": str(new_id()),
            "personId": people[first]["id"],
            "relatedPersonId": people[second]["id"],
            "relationshipTypeId": draw(optional(st.sampled_from([kind["id"] for kind in kinds]))),
            "notes": draw(optional(text(20))),
            "createdAt": draw(TIMESTAMPS),
            "deletedAt": draw(DELETED),
        }
        for first, second in sorted(pairs)
    ]
    connection = draw(CONNECTION)
    return {
        "format": "contact-network",
        "version": 1,
        "groups": groups,
        "relationshipTypes": kinds,
        "people": people,
        "relationships": relationships,
        "cardDavConnections": [connection],
        "cardDavRuns": [{**run, "connectionId": connection["id"]} for run in draw(RUNS)],
        "cardDavConflicts": [
            draw(conflicts(person["id"], connection["id"])) for person in people if draw(st.booleans())
        ],
        "calendarSources": draw(CALENDARS),
        "meetingAnswers": draw(ANSWERS),
    }


@pytest.fixture(autouse=True)
def _batches_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_BATCH_SIZE", 2)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # nobody else wants the lock


def fresh() -> Client:
    return client_of(make_user(f"account{next(_accounts)}@example.org", language="fr-FR"))


@settings(
    max_examples=rounds_per_database(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(document=documents())
def test_a_round_trip_loses_nothing(db: None, document: dict[str, Any]) -> None:
    first, second = fresh(), fresh()
    preview = first.ok("POST", "/api/user/import/validate", document)
    receipt = first.ok("POST", "/api/user/import", document)
    assert preview == receipt
    assert receipt["errors"] == 0, receipt["errorMessages"]
    assert receipt["imported"] == sum(len(document[key]) for key in document if isinstance(document[key], list))
    original = export_document(first)
    assert [person["name"] for person in original["people"]] == [
        person["name"] for person in sorted(document["people"], key=lambda person: person["id"])
    ]
    assert second.ok("POST", "/api/user/import", original)["errors"] == 0
    copy = export_document(second)
    assert normalize_document(copy) == normalize_document(original)
    assert second.ok("POST", "/api/user/import", original)["imported"] == 0
    assert {**export_document(second), "exportedOn": 0} == {**copy, "exportedOn": 0}
