"""Phone numbers as keys: the national and the international form of a number have the same one.

The key is the national significant number: what is left without country code, trunk prefix and punctuation. Country
codes are prefix-free (ITU-T E.164), so that they can be split off without knowing where the caller lives.
"""

import re
import unicodedata

_EXTENSION = re.compile("[;,#x]|ext|durchwahl|poste")
_NO_DIGITS = re.compile("[^0-9]+")
_TRUNK_IN_BRACKETS = re.compile(r"\(\s*0\s*\)")

# Every two-digit code of E.164; +1 and +7 have one digit, all other codes three.
_TWO_DIGITS = frozenset(
    str(code)
    for first, last in (
        (20, 20),
        (27, 27),
        (30, 34),
        (36, 36),
        (39, 41),
        (43, 49),
        (51, 58),
        (60, 66),
        (81, 82),
        (84, 84),
    )
    for code in range(first, last + 1)
) | {"86", "90", "91", "92", "93", "94", "95", "98"}
SHORTEST = 5  # fewer digits name no line of their own (112, an extension)
LONGEST_NATIONAL = 11


def phone_key(number: str) -> str | None:
    """The key of `number` as typed, None when it has too few digits to mean anything."""
    text = unicodedata.normalize("NFKC", number).strip().lower().removeprefix("tel:")
    text = _TRUNK_IN_BRACKETS.sub("", text)
    is_international = text.startswith(("+", "(+"))
    digits = _digits(_without_extension(text))
    if not is_international and digits.startswith("00"):
        is_international, digits = True, digits[2:]
    national = _national(digits, is_international=is_international)
    return national if len(national) >= SHORTEST else None


def _national(digits: str, *, is_international: bool) -> str:
    if is_international or (len(digits) > LONGEST_NATIONAL and not digits.startswith("0")):
        return digits[_code_length(digits) :].lstrip("0")
    if len(digits) == 11 and (_is_north_american(digits) or _is_russian(digits)):
        return digits[1:]
    return digits.lstrip("0")


def _code_length(digits: str) -> int:
    if digits[:1] in {"1", "7"}:
        return 1
    return 2 if digits[:2] in _TWO_DIGITS else 3


def _is_north_american(digits: str) -> bool:
    """`1` before an area code, which never begins with 0 or 1."""
    return digits[0] == "1" and digits[1] > "1"


def _is_russian(digits: str) -> bool:
    """`8` as trunk prefix before an area code of Russia or Kazakhstan."""
    return digits[0] == "8" and digits[1] in "3479"


def _without_extension(text: str) -> str:
    """`text` up to an extension, as long as a number stands before it."""
    found = _EXTENSION.search(text)
    if found and len(_digits(text[: found.start()])) >= SHORTEST:
        return text[: found.start()]
    return text


def _digits(text: str) -> str:
    """The decimal digits of any script, as ASCII."""
    if text.isascii():
        return _NO_DIGITS.sub("", text)
    return "".join(str(unicodedata.decimal(char)) for char in text if char.isdecimal())
