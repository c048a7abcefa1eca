"""Malicious files: the parser takes linear time and bounded memory, and returns a result for each card."""

import io
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people.vcard import Card, CardResult, read_cards, write_card
from tests.rounds import rounds

MIB = 1024 * 1024
SIZE = rounds(MIB // 4)
HEAD, TAIL = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\n", b"END:VCARD\r\n"
GOOD = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Good\r\nEND:VCARD\r\n"


@contextmanager
def cpu_time_limit(seconds: float) -> Iterator[None]:
    """Fail if the block takes more processor time. Limits are wide: only a worse order of growth exceeds them."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def parse_cards(data: bytes) -> list[CardResult]:
    return list(read_cards(io.BytesIO(data)))


def build_long_card(unit: bytes, size: int, *, before: bytes = b"", after: bytes = b"\r\n") -> bytes:
    return HEAD + before + unit * (size // len(unit)) + after + TAIL


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(build_long_card(b";a", SIZE, before=b"FN", after=b"!\r\n"), id="bare parameters without end"),
        pytest.param(build_long_card(b'a="b', SIZE, before=b"X;"), id="quotes without partner"),
        pytest.param(build_long_card(b';TYPE="a', SIZE, before=b"TEL", after=b":1\r\n"), id="quotes and parameters"),
        pytest.param(build_long_card(b"a,", SIZE, before=b"TEL;TYPE=", after=b":1\r\n"), id="parameter values"),
        pytest.param(build_long_card(b"a,", SIZE, before=b"CATEGORIES:"), id="categories"),
        pytest.param(build_long_card(b";", SIZE, before=b"N:"), id="components"),
        pytest.param(build_long_card(b"\\", SIZE, before=b"N:"), id="backslashes"),
        pytest.param(build_long_card(b"\\;", SIZE, before=b"ADR:"), id="escaped separators"),
        pytest.param(build_long_card(b"\\n", SIZE, before=b"ADR:;;"), id="street of newlines"),
        pytest.param(build_long_card(b" ", SIZE, before=b"NOTE:a", after=b"b\r\n"), id="blanks"),
        pytest.param(build_long_card(b"=\r\n", SIZE, before=b"NOTE;QUOTED-PRINTABLE:"), id="soft breaks"),
        pytest.param(build_long_card(b"\r\n ", SIZE, before=b"NOTE:a"), id="folds"),
        pytest.param(build_long_card(b"\r", SIZE), id="returns"),
        pytest.param(build_long_card(b"\n\r", SIZE), id="returns and newlines"),
        pytest.param(build_long_card(b"1", SIZE, before=b"BDAY:"), id="digits in a date"),
        pytest.param(build_long_card(b"1", SIZE, before=b"GEO:"), id="digits in a place"),
        pytest.param(build_long_card(b"a", SIZE, before=b"IMPP:"), id="scheme"),
        pytest.param(build_long_card(b"a.", SIZE, before=b"EMAIL:a@"), id="domain labels"),
        pytest.param(build_long_card(b"_$!<", SIZE, before=b"item1.TEL:1\r\nitem1.X-ABLabel:"), id="label"),
        pytest.param(build_long_card(b"\xff", SIZE, before=b"NOTE:"), id="no UTF-8"),
        pytest.param(build_long_card(b"\0", SIZE, before=b"NOTE:"), id="NUL"),
        pytest.param(build_long_card(b"A", SIZE, before=b"PHOTO;ENCODING=b:"), id="photo"),
        pytest.param(build_long_card(b"%41", SIZE, before=b"PHOTO:data:image/jpeg,"), id="percent"),
        pytest.param(build_long_card(b"a." * 50, SIZE), id="groups"),
    ],
)
def test_repeated_input_is_read_in_linear_time(data: bytes) -> None:
    with cpu_time_limit(rounds(3)):
        results = parse_cards(data + GOOD)
    assert [result.name for result in results][-1] == "Good"
    assert len(results) == 2


def test_line_that_takes_exponential_time_in_vobject() -> None:
    with cpu_time_limit(1):
        [result] = parse_cards(HEAD + b"FN" + b";a" * 30 + b"!\r\n" + TAIL)
    assert result.name == "Ada"


def test_card_with_too_many_lines_is_an_error_and_the_next_is_read() -> None:
    with cpu_time_limit(rounds(10)):
        bad, good = parse_cards(HEAD + b"X-A:1\r\n" * rounds(100_000) + TAIL + GOOD)
    assert "more than 20,000 lines" in str(bad.error)
    assert good.name == "Good"


def test_repeated_begin_lines_do_not_start_cards() -> None:
    many = rounds(100_000)
    with cpu_time_limit(rounds(10)):
        results = parse_cards(b"BEGIN:VCARD\r\n" * many + b"FN:Deep\r\n" + b"END:VCARD\r\n" * many)
    assert [result.name for result in results] == ["Deep"]


def test_nested_agents_are_read_in_linear_time() -> None:
    with cpu_time_limit(rounds(10)):
        results = parse_cards(b"BEGIN:VCARD\r\nFN:A\r\nAGENT:\r\n" * rounds(10_000))
    assert len(results) <= rounds(10_000)
    assert all(result.name == "A" for result in results)


def test_too_large_card_is_dropped_while_it_is_read() -> None:
    class Endless(io.RawIOBase):
        """100 MB that are never in memory at once, then a valid card."""

        def __init__(self) -> None:
            self.chunks = iter([HEAD, *[b"A" * MIB] * 100, b"\r\n", TAIL, GOOD])

        def read(self, size: int = -1) -> bytes:
            return next(self.chunks, b"")

    tracemalloc.start()
    stream: Any = Endless()
    bad, good = read_cards(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(bad.error) == "the card is larger than 10 MiB"
    assert good.name == "Good"
    assert peak < 40 * MIB


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"hello", b"\r\n" * 10, b"END:VCARD"])
def test_files_without_cards(data: bytes) -> None:
    assert parse_cards(data) == []


@pytest.mark.parametrize(
    "value", [b"Ada\0Lovelace", b"Ada\xed\xa0\x80Lovelace", b"Ada\x1bLovelace", b"Ada\xc2\x85Lovelace"]
)
def test_forbidden_characters_are_removed(value: bytes) -> None:
    [result] = parse_cards(b"BEGIN:VCARD\nFN:" + value + b"\nX-A:" + value + b"\nEND:VCARD\n")
    assert result.card
    for text in (result.card.name, *(kept.text for kept in result.card.lines)):
        text.encode()
        assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in text)


def test_lone_surrogates_are_removed() -> None:
    [result] = read_cards("BEGIN:VCARD\nFN:Ada \ud800\nEND:VCARD\n")
    assert result.name == "Ada \ufffd"


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"BEGIN:VCARD",
                b"END:VCARD",
                b"VERSION:2.1",
                b"AGENT:",
                b"FN:x",
                b"N;ENCODING=QUOTED-PRINTABLE:=",
                b" folded",
                b"",
                b"PHOTO;ENCODING=b:/9j/",
                b"BDAY:--0229",
                b"item1.X-ABDATE:2000-01-01",
                b"item1.X-ABLabel:x",
            ]
        ),
        st.binary(max_size=60),
        st.builds(
            lambda name, params, value: name + params + b":" + value,
            st.sampled_from([b"N", b"FN", b"TEL", b"ADR", b"BDAY", b"GEO", b"IMPP", b"ORG", b"PHOTO", b"GENDER"]),
            st.sampled_from([b"", b";TYPE=a", b";HOME", b";CHARSET=\xff", b";ENCODING=BASE64", b";QUOTED-PRINTABLE"]),
            st.binary(max_size=40),
        ),
    ),
    max_size=15,
)


@settings(max_examples=rounds(150), deadline=None)
@given(LINES, st.sampled_from([b"\r\n", b"\n", b"\r"]))
def test_cards_read_from_any_file_can_be_written_and_read_again(lines: list[bytes], end: bytes) -> None:
    for result in parse_cards(HEAD + end.join(lines) + end):
        assert (result.card is None) == (result.error is not None)
        if result.card:
            once = reread(result.card)
            assert reread(once) == once


def reread(card: Card) -> Card:
    [result] = read_cards(write_card(card).encode())
    assert result.card
    return result.card
