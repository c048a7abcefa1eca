"""Cards in and out again, by every way: a judge of its own compares property by property, parameter by parameter."""

import pytest

from tests.client import Client
from tests.people.test_vcard_export import export
from tests.people.test_vcard_import import everything, send
from tests.people.vcard.judge import lost
from tests.people.vcard.our_cards import OUR_CARDS
from tests.people.vcard.real_cards import FOLDER, real_cards, split

CARDS = {**OUR_CARDS, **real_cards()}
#: Cards that nobody could be called by, and cards of groups.
NOBODY = {"the card has no name, and nothing else to call it by", "a group, not a person"}


@pytest.fixture
def imported(api: Client) -> dict[str, bytes]:
    """The cards of people, by the UID that stands in each."""
    answer = send(api, b"".join(CARDS.values()))
    found = {}
    for (name, data), result in zip(CARDS.items(), answer["results"], strict=True):
        if result["status"] in {"error", "skipped"}:
            assert any(reason in result["reason"] for reason in NOBODY), (name, result)
        else:
            found[name] = data
    return found


def by_uid(text: bytes) -> dict[bytes, bytes]:
    return {card.partition(b"\r\nUID:")[2].partition(b"\r\n")[0]: card for card in split(text)}


def uid(card: bytes) -> bytes:
    return card.partition(b"UID:")[2].partition(b"\r\n")[0].strip()


def losses(cards: dict[str, bytes], exported: bytes) -> dict[str, list[str]]:
    written = by_uid(exported)
    found = {name: lost(data, written[uid(data)]) for name, data in cards.items()}
    return {name: what for name, what in found.items() if what}


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_import_and_export(api: Client, imported: dict[str, bytes], version: str) -> None:
    assert len(imported) >= len(OUR_CARDS)
    assert losses(imported, export(api, f"?version={version}").body) == {}


def test_another_account_filled_from_the_export_of_the_account(
    api: Client, stranger: Client, imported: dict[str, bytes]
) -> None:
    stranger.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    assert losses(imported, export(stranger).body) == {}


def test_importing_again_changes_nothing(api: Client, imported: dict[str, bytes]) -> None:
    before = everything(api)
    for data in (b"".join(imported.values()), export(api).body, export(api, "?version=3.0").body):
        answer = send(api, data)
        assert [result for result in answer["results"] if result["status"] != "skipped"] == []
    assert everything(api) == before


def test_the_real_cards_are_there() -> None:
    if FOLDER is None:
        pytest.skip("the real cards are not there: ../shared/data/vcards")
    assert len(CARDS) > 160
