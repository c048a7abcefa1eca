"""The forms in which equal texts, domain names and e-mail addresses are equal strings."""

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
)

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize("text", ["Zoë", "Jiří Dvořák", "Nguyễn", "한국", "がぎ", "Ådne", "plain"])
def test_composed_and_decomposed_letters_are_one_text(text: str) -> None:
    assert nfc(unicodedata.normalize("NFD", text)) == nfc(text) == unicodedata.normalize("NFC", text)


def test_compatibility_characters_stay_what_they_are() -> None:
    assert nfc("ﬁ ² Ａ ㎏") == "ﬁ ² Ａ ㎏"


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
