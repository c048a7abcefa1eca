"""Round trips of cards in every way: lost_properties compares all properties and parameters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.builders import make_user, set_plan_limits
from tests.client import Client, client_of
from tests.people.importing.uploads import import_vcards
from tests.people.steps import list_people
from tests.people.vcard.lost_properties import find_lost_properties, parse_properties
from tests.people.vcard.our_cards import OUR_CARDS
from tests.people.vcard.real_cards import FOLDER, real_cards, split
from tests.people.vcard.test_export import export

pytestmark = pytest.mark.sqlite_suffices

CARDS = {**OUR_CARDS, **real_cards()}
#: The reasons for which a card does not become a person.
NO_PERSON_REASONS = {"the card has no name, and nothing else to call it by", "a group, not a person"}


@dataclass
class Imported:
    """An account that has imported CARDS, and the cards that became people, by their name in CARDS."""

    owner: User
    cards: dict[str, bytes]


@pytest.fixture(scope="module")
def imported(django_db_setup: None, django_db_blocker: Any) -> Iterator[Imported]:
    """The import, committed once for all tests of the file. Each test rolls back its changes."""
    with django_db_blocker.unblock():
        owner = make_user("importer@example.org")
        cards = import_cards(client_of(owner))
    yield Imported(owner, cards)
    with django_db_blocker.unblock():
        owner.delete()


@pytest.fixture
def importer(imported: Imported, db: None) -> Client:
    """A client of the account that has imported CARDS."""
    return client_of(imported.owner)


def import_cards(api: Client) -> dict[str, bytes]:
    response = import_vcards(api, b"".join(CARDS.values()))
    found = {}
    for (name, data), result in zip(CARDS.items(), response["results"], strict=True):
        if result["status"] in {"error", "skipped"}:
            assert any(reason in result["reason"] for reason in NO_PERSON_REASONS), (name, result)
        else:
            found[name] = data
    return found


def by_uid(text: bytes) -> dict[bytes, bytes]:
    return {card.partition(b"\r\nUID:")[2].partition(b"\r\n")[0]: card for card in split(text)}


def uid(card: bytes) -> bytes:
    return card.partition(b"UID:")[2].partition(b"\r\n")[0].strip()


def lost_by_card(cards: dict[str, bytes], exported: bytes) -> dict[str, list[str]]:
    written = by_uid(exported)
    found = {name: find_lost_properties(data, written[uid(data)]) for name, data in cards.items()}
    return {name: what for name, what in found.items() if what}


def test_import_and_export_lose_nothing(importer: Client, imported: Imported) -> None:
    assert len(imported.cards) >= len(OUR_CARDS)
    for version in ("3.0", "4.0"):
        assert lost_by_card(imported.cards, export(importer, f"?version={version}").body) == {}, version


def test_export_and_import_of_an_account_lose_nothing(importer: Client, stranger: Client, imported: Imported) -> None:
    stranger.ok("POST", "/api/user/import", importer.ok("GET", "/api/user/export"))
    assert lost_by_card(imported.cards, export(stranger).body) == {}


def test_repeated_import_changes_nothing(importer: Client, imported: Imported) -> None:
    before = list_people(importer)
    for data in (b"".join(imported.cards.values()), export(importer).body, export(importer, "?version=3.0").body):
        response = import_vcards(importer, data)
        assert [result for result in response["results"] if result["status"] != "skipped"] == []
    assert list_people(importer) == before


def test_real_cards_are_available() -> None:
    if FOLDER is None:
        pytest.skip("the real cards are not there: ../shared/data/vcards")
    assert len(CARDS) > 160


@pytest.mark.both_databases
def test_edit_through_the_api_changes_only_its_lines(importer: Client, imported: Imported) -> None:
    """Edits with and without an id, and a removal: only those lines differ, and they keep their parameters."""
    changed: dict[str, int] = {}
    for person in list_people(importer):
        body, count = build_edit(person)
        if count:
            response = importer.ok("PUT", f"/api/people/{person['id']}", body)["person"]
            assert set(response) == set(person) | {"relationships"}
            assert all(set(entry) == {"id", "type", "number"} for entry in response["phoneNumbers"])
            changed[person["uid"]] = count
    assert len(changed) >= len(OUR_CARDS) - 2
    written = by_uid(export(importer, "?version=3.0").body)
    for name, data in imported.cards.items():
        old, new = parse_properties(data), parse_properties(written[uid(data)])
        missing = [prop for prop in old if prop not in new and prop.name not in {"PHOTO", "X-ABLABEL", "X-ABADR"}]
        assert len(missing) <= changed.get(uid(data).decode(), 0), (name, missing)
        for prop in missing:
            if prop.name in {"TEL", "NOTE"}:
                same = {param for param in prop.params if param[0] != "VALUE"}
                assert any(same <= other.params and other.group == prop.group for other in new if other not in old), (
                    name
                )


def build_edit(person: Any) -> tuple[dict[str, Any], int]:
    """A body with a new first number, without the last address, with longer notes; and how many lines may change."""
    body: dict[str, Any] = {}
    count = 0
    if numbers := person["phoneNumbers"]:
        body["phoneNumbers"] = [{**numbers[0], "number": "+1 999"}, *({**n, "id": None} for n in numbers[1:])]
        count += 2  # the same number may stand there twice
    if person["addresses"]:
        body["addresses"] = person["addresses"][:-1]
        count += 1
    if person["notes"]:
        body["notes"] = person["notes"] + "\n\nMore"
        count += 1
    return body, count


def test_groups_that_the_plan_refuses_stay_in_the_card(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=9, groups=1)
    card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nFN:Ada\r\nCATEGORIES;X-A=1:A,B\\, C,D\r\nEND:VCARD\r\n"
    import_vcards(api, card)
    body = export(api, "?version=3.0").body
    assert b"\r\nCATEGORIES;X-A=1:A\r\nCATEGORIES;X-A=1:B\\, C,D\r\n" in body
    assert [import_vcards(api, data)["skipped"] for data in (card, body)] == [1, 1]


@pytest.mark.both_databases
def test_the_line_of_a_date_goes_when_the_date_is_removed_for_good(api: Client) -> None:
    import_vcards(api, b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nBDAY;X-A=1:1815-12-10\r\nEND:VCARD\r\n")
    [person] = list_people(api)
    path = f"/api/people/{person['id']}/important-dates/{person['importantDates'][0]['id']}"
    api.ok("DELETE", path)
    assert b"BDAY" not in export(api).body
    api.ok("POST", f"{path}/restore")
    assert b"BDAY;X-A=1:18151210" in export(api).body
    api.ok("DELETE", path)
    api.ok("DELETE", f"{path}/permanent")
    assert "BDAY" not in str(Person.unscoped.get(pk=person["id"]).card_lines)


@pytest.mark.both_databases
def test_merging_moves_card_lines_and_undo_restores_them(api: Client) -> None:
    first = b"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nFN:Ada\r\nTEL;PREF=1:1\r\nitem1.URL;X-A=1:http://a.org\r\nEND:VCARD\r\n"
    lines = [
        b"TITLE;LANGUAGE=en:Countess",
        b"TEL;TYPE=cell;X-B=2:2",
        b"item1.EMAIL;X-C=3:a@b.org",
        b"item1.X-ABLabel:Castle",
        b"X-ODD;X-D=4:kept",
        b"BDAY;X-E=5:1815-12-10T07:00:00Z",
    ]
    second = b"\r\n".join([b"BEGIN:VCARD", b"VERSION:3.0", b"UID:2", b"FN:Ada", *lines, b"END:VCARD", b""])
    ada, augusta = (result["personId"] for result in import_vcards(api, first + second)["results"])
    before = export(api).body
    merge_id = api.ok("POST", "/api/people/merge", {"primaryId": ada, "secondaryId": augusta})["mergeId"]
    merged = export(api, "?version=3.0").body
    assert find_lost_properties(first, merged) == []
    assert all(line.replace(b"item1", b"item1x1") in merged for line in lines)
    api.ok("POST", f"/api/people/merge/{merge_id}/undo")
    assert without_times(export(api).body) == without_times(before)


def without_times(text: bytes) -> bytes:
    return re.sub(rb"REV:.*\r\n", b"", text)
