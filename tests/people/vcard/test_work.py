"""The work for a card grows with its size and not with the square of it: counted at doubling sizes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from people.vcard import Card, CardLine, patch_card, read_card, read_cards
from people.vcard.builder import LineBuilder
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.limits import MAX_REMARKS, Remarks
from people.vcard.line_merge import missing_lines, without_categories
from people.vcard.line_updates.state import LineUpdate
from people.vcard.merge import merge_cards
from people.vcard.parser import inline_agents
from tests.people.vcard.lines import card_text
from tests.people.vcard.work import count_work

SIZES = (500, 1_000, 2_000)


def long_header(lines: int, params: str, value: str, fold: str) -> str:
    header = f"PHOTO;X={'a' * 8 * lines}{params}:"
    return card_text("FN:Ada", header + "".join(f"{fold}{value}" for _ in range(lines)))


@pytest.mark.parametrize(
    "card",
    [
        pytest.param(lambda n: long_header(n, ";ENCODING=BASE64", "AAAA", "\r\n"), id="base64 without folds"),
        pytest.param(lambda n: long_header(n, ";ENCODING=b", "AAAA", "\r\n "), id="base64 with folds"),
        pytest.param(lambda n: long_header(n, ";QUOTED-PRINTABLE", "=41", "=\r\n"), id="soft breaks"),
        pytest.param(lambda n: long_header(n, "", "a=", "\r\n"), id="ends of lines like soft breaks"),
        pytest.param(lambda n: card_text("FN:Ada", f"NOTE;X={'a' * n}", *[" a"] * n), id="folded header"),
        pytest.param(lambda n: card_text("FN:Ada", *[f"EMAIL:{i}@" for i in range(n)]), id="remarks"),
        pytest.param(lambda n: card_text("FN:Ada", *[f"TEL:{i}" for i in range(n)]), id="numbers"),
        pytest.param(lambda n: card_text("FN:Ada", *[f"NOTE:{i}" for i in range(n)]), id="notes"),
        pytest.param(lambda n: card_text("FN:Ada", *[f"a{i}.X-ABLabel:{i}" for i in range(n)]), id="labels"),
        pytest.param(lambda n: card_text("FN:Ada", *[f"X-{i}:{'a' * 2000}" for i in range(n)]), id="lines too long"),
        pytest.param(lambda n: card_text("FN:Ada", "AGENT:", *["BEGIN:VCARD", "FN:B", "END:VCARD"] * n), id="agents"),
    ],
)
def test_reading_a_card_is_linear(card: Callable[[int], str]) -> None:
    assert_linear(lambda size: lambda: list(read_cards(card(size))))


def assert_linear(build: Callable[[int], Callable[[], object]]) -> None:
    first, second, third = (count_work(build(size)) for size in SIZES)
    # The growth doubles with the size: of anything quadratic it would be four times as much.
    assert third - second < 2.5 * (second - first)


def test_a_remark_is_compared_with_a_fixed_number_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    class Counted(Remarks):
        def __contains__(self, remark: object) -> bool:
            nonlocal compared
            compared += len(self)
            return super().__contains__(remark)

    monkeypatch.setattr("people.vcard.parser.Remarks", Counted)
    read_card(card_text("FN:Ada", *[f"EMAIL:{i}@" for i in range(1_000)], *[f"TEL:{i}" for i in range(1_000)]))
    assert 0 < compared < 4_000 * MAX_REMARKS


def test_reading_counts_the_remarks_that_are_not_shown() -> None:
    _, warnings = read_card(card_text("FN:Ada", *[f"EMAIL:{number}@" for number in range(90)]))
    assert len(warnings) == MAX_REMARKS + 1
    assert str(warnings[-1]) == f"and {90 - MAX_REMARKS} more remarks"


def test_the_text_of_a_nested_card_is_joined_once() -> None:
    """Cards of a server are read without the splitter, which would end the card at the second BEGIN."""
    nested = [("BEGIN", "VCARD"), ("FN", "B"), ("END", "VCARD")] * 200
    lines = [ContentLine(name, value, original=f"{name}:{value}\r\n") for name, value in [("BEGIN", "VCARD"), *nested]]
    found = inline_agents(lines)
    assert sum(len(line.original) for line in found) == sum(len(line.original) for line in lines)
    assert "".join(line.original for line in found) == "".join(line.original for line in lines)


class CountedText(str):
    """A text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedText.compared += 1
        return super().__eq__(other)


def count_comparisons(call: Callable[[], Any]) -> int:
    CountedText.compared = 0
    call()
    return CountedText.compared


def test_equal_lines_are_not_compared_with_each_other() -> None:
    """Two cards with the same line many times, which only one of them shows."""

    def merge(size: int) -> Callable[[], Any]:
        known = Card(name="Ada", lines=tuple(CardLine(CountedText("TEL:5")) for _ in range(size)))
        new = tuple(CardLine(CountedText("TEL:5"), ("phone_numbers",)) for _ in range(size))
        return lambda: merge_cards(known, Card(name="Ada", lines=new), overwrite=True)

    assert count_comparisons(merge(400)) < 2.5 * count_comparisons(merge(200))


def test_refused_categories_move_to_a_line_of_their_own() -> None:
    def refuse(size: int) -> Callable[[], Any]:
        names = [f"g{number}" for number in range(size)]
        card = Card(
            name="Ada", categories=tuple(names), lines=(CardLine(f"CATEGORIES:{','.join(names)}", ("categories",)),)
        )
        return lambda: without_categories(card, names[::2])

    card = refuse(4)()
    assert [kept.text for kept in card.lines] == ["CATEGORIES:g1,g3", "CATEGORIES:g0,g2"]


def test_item_groups_get_names_of_their_own() -> None:
    """Also where the name that would be next is in use, and where the other card uses it."""
    first = [CardLine(f"{name}.X-A:1") for name in ("a", "ax", "ax1", "b")]
    second = [CardLine(f"{name}.X-B:{number}") for number, name in enumerate(("a", "ax1", "axx", "ax2", "b"))]
    groups = [parse_line(kept.text).group for kept in missing_lines(first, second)]
    assert len(set(groups)) == 5
    assert not {"a", "ax", "ax1", "b"} & set(groups)


def test_lines_of_one_item_group_are_looked_through_once() -> None:
    class Lines(list[ContentLine]):
        read = 0

        def __getitem__(self, index: Any) -> Any:
            Lines.read += 1
            return super().__getitem__(index)

    lines = Lines([ContentLine("TEL", "1", group="a")] * 500)
    update = LineUpdate(lines, Card(), Card(), LineBuilder("3.0"))
    for line in list(lines):
        assert update.is_shared(line)
        assert update.label_index(line) is None
    assert Lines.read <= 2 * len(lines)


def test_labels_of_addresses_are_found_in_one_pass() -> None:
    def build(size: int) -> Callable[[], object]:
        streets = [f"ADR:;;{'a' * 20}{number};;;;" for number in range(50)]
        labels = [f"LABEL:{'a' * 20}{number}" for number in range(size)]
        text = card_text("FN:Ada", *streets, *labels)
        card = read_card(text)[0]
        edited = replace(card, addresses=({**card.addresses[0], "country": "x"}, *card.addresses[1:]))
        return lambda: patch_card(text, edited)

    build(50)()  # reads the names of countries
    assert_linear(build)


def test_patching_a_servers_card_is_linear() -> None:
    def patch(size: int) -> Callable[[], Any]:
        text = long_header(size, ";ENCODING=BASE64", "AAAA", "\r\n")
        card, _ = read_card(text)
        return lambda: patch_card(text, card)

    assert_linear(patch)
