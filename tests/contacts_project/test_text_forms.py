"""The forms in which equal texts, domain names and e-mail addresses are equal strings."""

import sys
import unicodedata

import idna
import pytest

from contacts_project.kernel.text_forms import (
    ascii_digits,
    ascii_domain,
    case_key,
    fold_domain,
    fold_email,
    nfc,
    normal_form,
    stream_safe,
)

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize("text", ["Zoë", "Jiří Dvořák", "Nguyễn", "한국", "がぎ", "Ådne", "plain"])
def test_composed_and_decomposed_letters_are_one_text(text: str) -> None:
    assert nfc(normal_form("NFD", text)) == nfc(text) == unicodedata.normalize("NFC", text)  # noqa: TID251


def test_compatibility_characters_stay_what_they_are() -> None:
    assert nfc("ﬁ ² Ａ ㎏") == "ﬁ ² Ａ ㎏"


def _longest_run(text: str) -> int:
    """The most combining marks in a row, with the letters and their accents taken apart."""
    longest = run = 0
    for character in unicodedata.normalize("NFKD", text):  # noqa: TID251
        run = run + 1 if unicodedata.combining(character) else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("letter", ["", "a", "é", "\u1f82", "\u0344", "か", "\ufc5e", "\n"])
@pytest.mark.parametrize(
    "mark", ["\u0301", "\u0301\u0316", "\u0f73", "\u0344", "\uff9e", "\u3099", "\u05b0\u0301", "☃\u0301"]
)
def test_a_run_of_marks_ends_after_thirty(letter: str, mark: str) -> None:
    """UAX 15, section 13: in every form, whatever the letter before the run already holds."""
    for length in (5, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32, 60, 61, 62, 200):
        text = f"b{letter}{mark * length}c"
        safe = stream_safe(text)
        assert safe.replace("\u034f", "") == text
        assert (safe == text) is (_longest_run(text) <= 30)
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert stream_safe(normal_form(form, text)) == normal_form(form, text) == normal_form(form, safe)
            assert _longest_run(normal_form(form, text)) <= 30
        assert nfc(normal_form("NFD", text)) == nfc(text)


def test_every_mark_is_seen() -> None:
    """No character whose compatibility decomposition begins with a mark slips through the pattern that finds runs."""
    marks = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0])  # noqa: TID251
    ]
    assert len(marks) > 900
    assert [mark for mark in marks if "\u034f" not in stream_safe(mark * 31)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("ZOË", "zoe\u0308"), ("STRASSE", "straße"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("\u1fb3\u0301", "\u0391\u0301\u0345")],
)
def test_the_case_key_ignores_case_and_normal_form(one: str, other: str) -> None:
    assert case_key(one) == case_key(other)


@pytest.mark.parametrize(("one", "other"), [("Zoë", "Zoe"), ("ı", "i"), ("a b", "a  b")])
def test_the_case_key_keeps_accents_and_white_space(one: str, other: str) -> None:
    assert case_key(one) != case_key(other)


def test_digits_of_all_scripts_become_ascii() -> None:
    assert ascii_digits("+٤٩ १५१ ２３ ½ ²") == "+49 151 23 ½ ²"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("faß.example", "xn--fa-hia.example"),
        ("fass.example", "fass.example"),
        ("XN--FA-HIA.Example", "xn--fa-hia.example"),
        ("ΣΑΣ.example", "xn--mxa9ab.example"),
        ("σας.example", "xn--mxa8ab.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ。org", "example.org"),
        ("a\u00adb.example", "ab.example"),
    ],
)
def test_domains_are_mapped_by_idna_2008(name: str, expected: str) -> None:
    assert ascii_domain(name) == fold_domain(name) == expected


@pytest.mark.parametrize("name", ["☃.example", "a\u200cb.example", "ä..example", "ä" * 254])
def test_a_name_that_idna_refuses_equals_itself_alone(name: str) -> None:
    with pytest.raises(idna.IDNAError):
        ascii_domain(name)
    assert fold_domain(name) == fold_domain(name.upper()) == name


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ("X@faß.example", "x@xn--fa-hia.example", True),
        ("x@faß.example", "x@fass.example", False),
        ("Zoe\u0308@example.org", "ZOË@EXAMPLE.ORG", True),
        (" x@example.org ", "x@example.org", True),
        ("x@example.org", "y@example.org", False),
        ("no-at", "NO-AT", True),
    ],
)
def test_spellings_of_one_address(one: str, other: str, are_equal: bool) -> None:
    assert (fold_email(one) == fold_email(other)) is are_equal
