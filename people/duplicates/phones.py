"""Keys of phone numbers: the national and the international form of a number have the same key.

The key is the national significant number: without country code, trunk prefix and punctuation. Country codes are
prefix-free (ITU-T E.164), so they can be removed without knowing the user's country.
"""

import re
import unicodedata

# Also the German and French words for an extension.
_EXTENSION = re.compile("[;,#x]|ext|durchwahl|poste")
_NON_DIGITS = re.compile("[^0-9]+")
_TRUNK_PREFIX_IN_BRACKETS = re.compile(r"\(\s*0\s*\)")

# Every two-digit code of E.164; +1 and +7 have one digit, all other codes three.
_TWO_DIGIT_CODES = frozenset(
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
MIN_DIGITS = 5  # shorter numbers are not unique: 112, or an extension
MAX_NATIONAL_DIGITS = 11


def phone_key(number: str) -> str | None:
    """The key of `number` as typed; None when it has fewer than MIN_DIGITS digits."""
    text = unicodedata.normalize("NFKC", number).strip().lower().removeprefix("tel:")
    # "+44 (0)20 …": the trunk prefix is not dialled after a country code.
    text = _TRUNK_PREFIX_IN_BRACKETS.sub("", text)
    is_international = text.startswith(("+", "(+"))
    digits = _digits(_without_extension(text))
    if not is_international and digits.startswith("00"):
        is_international, digits = True, digits[2:]
    national = _national_number(digits, is_international=is_international)
    return national if len(national) >= MIN_DIGITS else None


def _national_number(digits: str, *, is_international: bool) -> str:
    # A number this long without a trunk prefix begins with a country code; only the plus is missing.
    if is_international or (len(digits) > MAX_NATIONAL_DIGITS and not digits.startswith("0")):
        code_length = 1 if digits[:1] in {"1", "7"} else 2 if digits[:2] in _TWO_DIGIT_CODES else 3
        return digits[code_length:].lstrip("0")
    if len(digits) == 11 and (_is_north_american(digits) or _is_russian(digits)):
        return digits[1:]
    return digits.lstrip("0")


def _is_north_american(digits: str) -> bool:
    """Whether the number is `1` and an area code; area codes never begin with 0 or 1."""
    return digits[0] == "1" and digits[1] > "1"


def _is_russian(digits: str) -> bool:
    """Whether the number is the trunk prefix `8` and an area code of Russia or Kazakhstan."""
    return digits[0] == "8" and digits[1] in "3479"


def _without_extension(text: str) -> str:
    """`text` up to an extension, provided that a whole number precedes it."""
    found = _EXTENSION.search(text)
    if found and len(_digits(text[: found.start()])) >= MIN_DIGITS:
        return text[: found.start()]
    return text


def _digits(text: str) -> str:
    """The decimal digits of any script, as ASCII."""
    if text.isascii():
        return _NON_DIGITS.sub("", text)
    return "".join(str(unicodedata.decimal(char)) for char in text if char.isdecimal())
