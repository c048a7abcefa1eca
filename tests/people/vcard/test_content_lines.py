"""Content lines: unfolding, parameters, and no text of a card is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people.vcard import VCardError, content_lines, fold, parse_line, parse_lines
from people.vcard.content_lines import fold_21


def test_a_line_has_group_name_parameters_and_value() -> None:
    line = parse_line('item1.tel;type=HOME,voice;X-A="b;c:d";PREF:+1 2:3')
    assert (line.group, line.name, line.value) == ("item1", "TEL", "+1 2:3")
    assert line.types == ("home", "voice", "pref")
    assert line.param("X-A") == ("b;c:d",)


def test_bare_parameter_values_of_version_2_1_get_their_name() -> None:
    line = parse_line("PHOTO;JPEG;BASE64:AAAA")
    assert line.encoding == "base64"
    assert line.types == ("jpeg",)
    assert parse_line("TEL;HOME;CELL:1").types == ("home", "cell")


@pytest.mark.parametrize("text", ["", "no colon", ":value", "na me:x", "a b.TEL:1", 'X;A="b', "X;A=b"])
def test_text_that_is_not_a_property_is_kept(text: str) -> None:
    line = parse_line(text)
    assert (line.name, line.value, line.serialize()) == ("", text, text)


def test_circumflex_escapes_are_decoded_and_encoded() -> None:
    line = parse_line('GEO;X-LABEL="a^nb^^c^\'d;e":geo:1,2')
    assert line.param("X-LABEL") == ('a\nb^c"d;e',)
    bare = type(line)(line.name, line.value, line.params)
    assert bare.serialize() == 'GEO;X-LABEL="a^nb^^c^\'d;e":geo:1,2'


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\r\r\n"])
def test_lines_unfold_at_any_line_end(end: str) -> None:
    lines = parse_lines(end.join(["BEGIN:VCARD", "NOTE:one t", " wo", "\tthree", "FN:Ada", "END:VCARD", ""]))
    assert [(line.name, line.value) for line in lines] == [
        ("BEGIN", "VCARD"),
        ("NOTE", "one twothree"),
        ("FN", "Ada"),
        ("END", "VCARD"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"NOTE;QUOTED-PRINTABLE:{'x' * 49}=\r\n 20y", f"{'x' * 49}=20y"),  # where DAViCal folds
        ("NOTE;QUOTED-PRINTABLE:one=\r\n 0D=0A=\r\ntwo", "one=0D=0Atwo"),
        ("NOTE;QUOTED-PRINTABLE:one=0D=\r\n 0Atwo", "one=0D=0Atwo"),
        ("NOTE;QUOTED-PRINTABLE:=C3=\r\n\tA9", "=C3=A9"),
        ("NOTE;QUOTED-PRINTABLE:on the=\r\n 20th of May", "on the 20th of May"),
        ("NOTE;QUOTED-PRINTABLE:caf=C3=A9=\r\n CD", "caf=C3=A9 CD"),
    ],
)
def test_fold_within_an_escape_is_not_a_soft_break(text: str, value: str) -> None:
    [line] = parse_lines(f"{text}\r\n")
    assert line.value == value


def test_no_soft_break_is_before_a_space() -> None:
    line = parse_line(f"NOTE;ENCODING=QUOTED-PRINTABLE:=C3=A9{' a' * 100}")
    text = fold_21(line)
    assert "=\r\n " not in text
    assert max(map(len, text.split("\r\n"))) <= 76
    [parsed] = parse_lines(text)
    assert parsed.value == line.value


def test_soft_breaks_of_quoted_printable_join_lines() -> None:
    text = "NOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0A=\r\nTwo: three=\r\n=20four\r\nFN:Ada\r\n"
    assert [line.value for line in parse_lines(text)] == ["one=0D=0ATwo: three=20four", "Ada"]


def test_a_soft_break_does_not_swallow_the_end_of_the_card() -> None:
    lines = parse_lines("FN;QUOTED-PRINTABLE:Ada=\r\nEND:VCARD\r\n")
    assert [line.name for line in lines] == ["FN", "END"]


def test_base64_continues_without_indent_until_a_blank_line() -> None:
    text = "PHOTO;ENCODING=BASE64;TYPE=JPEG:AAAA\r\nBBBB\r\nCC==\r\n\r\nFN:Ada\r\n"
    assert [line.value for line in parse_lines(text)] == ["AAAABBBBCC==", "Ada"]


@given(st.text(alphabet=st.sampled_from('NOTE;:="\\ \t\r\nab,^.é\u2028\x85'), max_size=200))
def test_original_lines_joined_are_the_text(text: str) -> None:
    assert "".join(line.original for line in parse_lines(text)) == text


_PIECES = [
    *(
        "NOTE:a",
        "tel;type=home:1",
        "item1.X:",
        "PHOTO;ENCODING=b:AAAA",
        "X;pr\u0131nt;quoted-pr\u0131ntable:=41=",
        "K;base64:QQ==",
    ),
    *("\n", "\r\n", "\r", " ", "\t", "\u2028", "\x85", "AAAA", "=", ""),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=20).map("".join))
def test_usual_lines_are_read_as_any_others(text: str) -> None:
    read = parse_lines(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(content_lines, "_UNUSUAL", re.compile(""))
        assert parse_lines(text) == read


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=400))
def test_folding_keeps_to_75_octets_and_to_whole_characters(text: str) -> None:
    folded = fold(text)
    assert all(len(line.encode()) <= 75 for line in folded.split("\r\n"))
    assert folded.endswith("\r\n")
    assert folded.removesuffix("\r\n").replace("\r\n ", "") == text


def test_too_many_lines_are_refused() -> None:
    with pytest.raises(VCardError, match="more than 20,000 lines"):
        parse_lines("X-A:1\n" * 20_002)
    assert len(parse_lines("X-A:1\n" * 20_001)) == len(parse_lines("X-A:1\n" * 20_000 + "X-A:1")) == 20_001
    with pytest.raises(VCardError, match="more than 20,000 lines"):
        parse_lines("X-A:1\n" * 20_001 + "X-A:1")
