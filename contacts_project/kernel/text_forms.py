"""The one form of a text, of digits, of a domain name and of an e-mail address in which equal ones are equal strings.

`nfc` is the form in which texts are stored, after `check_text` has accepted them. The others are for comparisons.
Nothing else calls `unicodedata.normalize` (a rule of ruff): its time grows with the square of a run of combining marks.
"""

import re
import unicodedata
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal

import idna

from contacts_project.kernel.texts import TextError, define_text

NOT_A_TEXT = define_text("not_a_text", "This must be a text.")
BLANK = define_text("blank", "This must not be empty.")
TOO_LONG = define_text("too_long", "At most %(limit)s characters, this has %(length)s.")
NOT_AN_EMAIL = define_text("not_an_email", "This is not an e-mail address.")
NOT_A_NUMBER = define_text("not_a_number", "This must be a number.")
OUT_OF_RANGE = define_text("out_of_range", "This must be between %(low)s and %(high)s.")
NOT_A_BOOLEAN = define_text("not_a_boolean", "This must be true or false.")
NOT_A_CHOICE = define_text("not_a_choice", "This must be one of %(choices)s.")
_FORBIDDEN = define_text("forbidden_character", "The character %(character)s is not allowed in text.")

# Control characters but tab and newline, and lone surrogates, which UTF-8 cannot encode.
_FORBIDDEN_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN_LABEL = re.compile(r"[^\W_]([^\W_]|-){0,62}")
#: A domain name has at most 253 octets (RFC 1035, section 2.3.4); a longer text is none and is not mapped.
MAX_DOMAIN_LENGTH = 253
_NON_ASCII_DIGITS = re.compile(r"[^\D0-9]")
# Combining marks of alphabets (Latin, Greek, Cyrillic, Hebrew, Arabic). Vowel signs of other scripts are no accents.
_COMBINING_MARKS = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0591-\u05c7\u064b-\u0655]+"
)
# Apostrophes before folding, which would make white space of an acute accent that stands alone.
_LETTER_VARIANTS_REMOVED = re.compile(
    "['`\u00b4\u02b9-\u02bd\u2018\u2019\u201b\u2032\u055a\u05f3\ua78b\ua78c\uff07]"
    "|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
    "|[\u0610-\u061a\u0640\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
# A superset of the characters whose NFKD begins with a mark: marks are no letters, but for two of half-width Katakana.
_MARKS = "(?:[^\\w\\s\\x00-\u02ff]|[\uff9e\uff9f])"
_MAX_MARKS = 30
# A character has at most two marks, and the letter before a run at most three.
_RUN_OF_MARKS = re.compile(f"{_MARKS}{{14,}}")
_GRAPHEME_JOINER = "\u034f"
_FIRST_KATAKANA, _LAST_KATAKANA, _KATAKANA_TO_HIRAGANA = 0x30A1, 0x30F6, -0x60
_LETTER_VARIANTS = {
    **{code: code + _KATAKANA_TO_HIRAGANA for code in (*range(_FIRST_KATAKANA, _LAST_KATAKANA + 1), 0x30FD, 0x30FE)},
    **str.maketrans(
        "\u0649\u06cc\u06d2\u06a9\u06aa\u0629\u06c1\u06c3\u06be\u06d5\u0671\u06ba",
        "\u064a" * 3 + "\u0643" * 2 + "\u0647" * 5 + "\u0627\u0646",
    ),
}
_LATIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŋ": "n", "ŧ": "t"}
)


def stream_safe(text: str) -> str:
    """`text` with U+034F behind every 30 combining marks of a run (UAX 15, section 13), which stays so in every form.

    Python normalizes a run in time that grows with the square of its length. No language writes more than 30.
    """
    return text if text.isascii() else _RUN_OF_MARKS.sub(_break_run, text)


def _break_run(found: re.Match[str]) -> str:
    before = found.string[found.start() - 1 : found.start()]
    marks = _count_marks(before)[1] if before else 0
    pieces: list[str] = []
    for character in found.group():
        leading, trailing, has_starter = _count_marks(character)
        if marks + leading > _MAX_MARKS:
            pieces.append(_GRAPHEME_JOINER)
            marks = 0
        pieces.append(character)
        marks = trailing if has_starter else marks + trailing
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _count_marks(character: str) -> tuple[int, int, bool]:
    """How many marks the NFKD of `character` begins and ends with, and whether there is anything else in it."""
    decomposed = unicodedata.normalize("NFKD", character)  # noqa: TID251 - one character
    starters = [index for index, part in enumerate(decomposed) if not unicodedata.combining(part)]
    if not starters:
        return len(decomposed), len(decomposed), False
    return starters[0], len(decomposed) - 1 - starters[-1], True


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The stream-safe `text` in a Unicode Normalization Form."""
    return text if text.isascii() else unicodedata.normalize(form, stream_safe(text))  # noqa: TID251 - stream-safe


def nfc(text: str) -> str:
    """`text` in Normalization Form C: a letter and its accents are one character wherever Unicode has one for them.

    macOS names files, and many phones and exports write names, with letter and accent apart (NFD). A text may become
    longer by this (U+0958 becomes two characters), so limits are checked afterwards.
    """
    return normal_form("NFC", text)


def case_key(text: str) -> str:
    """Equal for texts that differ only in case or normal form: canonical caseless matching (Unicode 3.13, D145).

    Accents and white space count; `fold` is coarser.
    """
    if text.isascii():
        return text.lower()
    # Decomposed first: case folding would otherwise miss an accent that changes with the case of its letter (U+0345).
    return nfc(normal_form("NFD", text).casefold())


def fold(text: str) -> str:
    """`text` in lower case, without accents and repeated white space. A text of accents only is returned unchanged."""
    if text.isascii():  # a fast path for most texts: no accents to remove
        return " ".join(text.lower().split()) or text.strip()
    decomposed = normal_form("NFKD", text.casefold())
    without_marks = normal_form("NFKC", _COMBINING_MARKS.sub("", decomposed)).casefold().translate(_LATIN_LETTERS)
    return " ".join(without_marks.split()) or text.strip()


def fold_letters(text: str) -> str:
    """As `fold`, and letters that people write in two ways are one, for searching.

    Letters of Arabic that Persian, Urdu and Kurdish write otherwise, or that are often confused (kaf, yeh and alef
    maksura, heh and teh marbuta), without tatweel; Katakana as Hiragana; no apostrophes, and no invisible characters
    such as the zero-width non-joiner.
    """
    if text.isascii():
        return fold(text.replace("'", "").replace("`", "")) or fold(text)
    return fold(_LETTER_VARIANTS_REMOVED.sub("", text)).translate(_LETTER_VARIANTS) or fold(text)


def ascii_digits(text: str) -> str:
    """`text` with the decimal digits of all scripts as ASCII: Arabic-Indic, Devanagari, full width."""
    if text.isascii():
        return text
    return _NON_ASCII_DIGITS.sub(lambda found: str(unicodedata.decimal(found.group())), text)


def ascii_domain(name: str) -> str:
    """The name as DNS knows it: IDNA 2008 after the mapping of UTS 46, not transitional (`ß` stays a letter).

    ASCII names, and so A-labels (`xn--`), are only put into lower case. Raises idna.IDNAError, a UnicodeError.
    """
    if name.isascii():
        return name.lower()
    if len(name) > MAX_DOMAIN_LENGTH:
        raise idna.IDNAError("The name is too long.")
    return idna.encode(name, uts46=True).decode("ascii")


def fold_domain(name: str) -> str:
    """As `ascii_domain`; a name that IDNA refuses is equal to itself alone, without its case."""
    try:
        return ascii_domain(name)
    except UnicodeError:
        return case_key(name)


def display_domain(name: str) -> str:
    """One spelling of all that name the same domain, with letters instead of `xn--` where IDNA knows them."""
    folded = fold_domain(name)
    if "xn--" not in folded:
        return folded
    try:
        shown = idna.decode(folded)
        # A label may be one that IDNA decodes but no longer encodes like this; then DNS's own form is shown.
        return shown if ascii_domain(shown) == folded else folded
    except UnicodeError:
        return folded


def mail_domain(host: str) -> str:
    """The host as it stands in EHLO and in a Message-ID: a domain in ASCII, or an address literal.

    RFC 5321, section 4.1.3. `localhost` would be every machine's.
    """
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        return fold_domain(host)
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"


def mail_address(address: str) -> str:
    """The address for a mail server: its domain in ASCII. Unchanged if IDNA refuses the domain.

    Django would encode the domain by IDNA 2003, which sends what was meant for `faß.example` to `fass.example`.
    """
    local, at, domain = address.rpartition("@")
    try:
        return f"{local}{at}{ascii_domain(domain)}"
    except UnicodeError:
        return address


def fold_email(address: str) -> str:
    """Equal for spellings of one e-mail address: without letter case, the domain by IDNA 2008.

    RFC 5321 allows a case-sensitive local part, but mail providers ignore its case.
    """
    local, at, domain = address.strip().rpartition("@")
    return f"{case_key(local)}{at}{fold_domain(domain)}"


class InvalidTextError(TextError):
    """The text is not accepted, for the reason `text`."""


def check_text(value: str) -> str:
    """Return `value` trimmed, in NFC, with LF line ends.

    Raises InvalidTextError for control characters and lone surrogates.
    """
    value = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if bad := _FORBIDDEN_CHARACTER.search(value):
        raise InvalidTextError(_FORBIDDEN.format(character=f"U+{ord(bad.group()):04X}"))
    return nfc(value)


def is_email(address: str) -> bool:
    """Whether `address` is a mailbox at a domain name.

    The same addresses as Django's EmailValidator accepts, except quoted local parts and IP address literals; and those
    whose domain has an ASCII form by IDNA 2008, where Django knows that of 2003.
    """
    local, at, domain = address.rpartition("@")
    with suppress(UnicodeError):
        domain = ascii_domain(domain)
    labels = domain.split(".")
    return (
        len(address) <= 254
        and bool(at)
        and len(local) <= 64
        and _LOCAL_PART.fullmatch(local) is not None
        and 2 <= len(labels) <= 100
        and all(_DOMAIN_LABEL.fullmatch(label) and not label.endswith("-") for label in labels)
        and len(labels[-1]) >= 2
        and not labels[-1].isdigit()
    )
