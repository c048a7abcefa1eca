"""Many cards of one person together stay within a person's limits, and the work for each is bounded."""

from typing import Any

import pytest

from people.importing import matches
from people.vcard.limits import MAX_LINES_SIZE
from people.vcard.merge import merge_cards
from tests.client import Client
from tests.people.importing.uploads import counts, import_vcards, people_by_name, vcard


def cards_of_one_person(count: int) -> bytes:
    """Each has one number in common and 60 of its own."""
    own = ([f"TEL:+4315{card:02}{number:05}" for number in range(60)] for card in range(count))
    return b"".join(vcard("FN:Ada", "TEL:+43159999999", *lines) for lines in own)


def export(api: Client) -> bytes:
    response: Any = api.get("/api/vcard/export")
    return b"".join(response.streaming_content)


def test_a_field_has_a_hundred_entries_and_the_rest_is_kept_unseen(api: Client) -> None:
    receipt = import_vcards(api, cards_of_one_person(3))
    assert counts(receipt) == (1, 2, 0, 0)
    assert [result.get("code") for result in receipt["results"]] == [None, "entries_kept_unseen", "entries_kept_unseen"]
    ada = people_by_name(api)["Ada"]
    assert len(ada["phoneNumbers"]) == 100
    assert export(api).count(b"\r\nTEL") == 1 + 3 * 60
    assert counts(import_vcards(api, cards_of_one_person(3))) == (0, 0, 3, 0)
    assert people_by_name(api)["Ada"] == ada


def test_dates_of_one_person_stay_within_the_limit(api: Client) -> None:
    def card(start: int) -> bytes:
        dates = [(f"i{n}.X-ABDATE:2000-01-01", f"i{n}.X-ABLabel:Day {n}") for n in range(start, start + 60)]
        return vcard("FN:Ada", "UID:ada", "TEL:+43159999999", *(line for pair in dates for line in pair))

    import_vcards(api, card(0))
    import_vcards(api, card(60))
    assert len(people_by_name(api)["Ada"]["importantDates"]) == 100


def test_lines_of_one_person_stay_within_the_limit(api: Client) -> None:
    for number in range(3):
        import_vcards(api, vcard("FN:Ada", "TEL:+43159999999", f"X-{number}:{'a' * (MAX_LINES_SIZE // 2)}"))
    assert len(export(api)) < 1.2 * MAX_LINES_SIZE


def test_a_card_is_compared_with_a_fixed_number_of_people_who_share_its_uid(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    def count(*args: Any, **options: Any) -> Any:
        nonlocal compared
        compared += 1
        return merge_cards(*args, **options)

    monkeypatch.setattr(matches, "merge_cards", count)
    monkeypatch.setattr(matches, "_MAX_NAMESAKES", 5)
    data = b"".join(vcard("UID:ada", f"FN:Ada {number}", f"TEL:{number}") for number in range(80))
    assert counts(import_vcards(api, data)) == (80, 0, 0, 0)
    assert compared <= 80 * 5
