"""Phone numbers: when two are the same number, as section 16 of the open points compares them. Pure.

Country calling codes and trunk prefixes are those of the library phonenumbers. Its parser is not used: it needs the
country of a national number, which an address book does not know, and refuses numbers that are not in use.

For searching, and as evidence of duplicates, a number has coarser keys: the national significant number, without
country code, trunk prefix and punctuation, and then the extension; the national and the international form share one.
Country codes are prefix-free (ITU-T E.164), so they can be removed without knowing the user's country. Some trunk
prefixes cannot: `06` is part of a number in most of Europe and is dialled before one in Hungary. Such a number has the
keys of both readings. Letters of a number (1-800-FLOWERS) are those of the keypad.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

from contacts_project.kernel.text_forms import ascii_digits, normal_form

# What separates the numbers of a text, the clearest first: a blank before a plus separates as well.
_SEPARATORS = (
    re.compile(r"\r\n?|\n"),
    re.compile(r"[;；|]"),
    re.compile(r"[,，、]"),
    re.compile(r"\s/\s"),
    re.compile("/"),
    re.compile(r"\s(?=\+)"),
)
_MAX_SEPARATED = 200  # characters; the number of an entry has at most 50
_WHOLE_DIGITS, _WHOLE_INTERNATIONAL_DIGITS, _SHORTEST = 7, 9, 3
#: Prefixes that are dialled before a national number in at least one country.
_TRUNK_PREFIXES = ("0", "06", "8", "1")
_TRUNK_PREFIX_IN_BRACKETS = re.compile(r"\(\s*0\s*\)")
_TONES = re.compile(r"[*#=]")  # the tones of a conference; the parameters of a tel: URI
#: Words for an extension in several languages, and the marks of a pause; in small letters. Also for searching.
EXTENSION = re.compile("[;,#x]|ext|durchwahl|poste|interno|toestel|ramal|anexo|dahili|доб|内線|内线|分机|내선")
_INTERNATIONAL_PREFIX = re.compile("(?:00|011)(?=[1-9])")
_MAX_CODE_LENGTH = 3
#: What is neither str.isalnum() nor a sign of a service code.
_INSIGNIFICANT = re.compile(r"[^\w*#]|_")


class PhoneNumber(NamedTuple):
    """A number without punctuation. `digits` of an international one begin with the country code.

    Letters (0800 FLOWERS) and the signs of a service code (*31#) are part of `digits`.
    """

    digits: str
    is_international: bool = False
    extension: str = ""


# Comparing two lists asks for each number several times.
@lru_cache(maxsize=1024)
def parse_phone(text: str) -> PhoneNumber:
    """The number that the text means; of a text without digits the text itself, without case."""
    plain = ascii_digits(normal_form("NFKC", text)).strip().casefold().removeprefix("tel:")
    plain, extension = _split_extension(plain)
    is_international = plain.lstrip("( ").startswith("+")
    if not is_international and (found := _INTERNATIONAL_PREFIX.match(_significant(plain))):
        is_international, plain = True, _without_prefix(plain, found.end())
    if is_international:
        # "+44 (0)20 …": the trunk prefix is not dialled after a country code.
        plain = _TRUNK_PREFIX_IN_BRACKETS.sub("", plain)
    digits = _significant(plain)
    return PhoneNumber(digits, is_international, extension) if digits else PhoneNumber(plain)


def split_numbers(text: str) -> list[str]:
    """The numbers in a text that has several, such as `+34 600 111 222; +34 600 111 223`; else the text alone.

    Not several: what follows a slash inside of a number (0170/1112233, 030/123456-78), an extension, and the tones
    after a pause (`,,123#`).
    """
    text = text.strip()
    for separator in _SEPARATORS if len(text) <= _MAX_SEPARATED else ():
        parts = [part.strip() for part in separator.split(text)]
        if len(parts) > 1 and all(parts[:-1]):
            parts = parts if parts[-1] else parts[:-1]  # a separator at the end
            if _are_numbers(parts, by_slash="/" in separator.pattern):
                return [number for part in parts for number in split_numbers(part)]
    return [text] if text else []


def _are_numbers(parts: list[str], *, by_slash: bool) -> bool:
    """Whether each part is a whole number. An extension is shorter than its number, and so is an area code."""
    first = _count_digits(parts[0])
    if by_slash:
        return all(map(_is_whole, parts))
    return first >= _SHORTEST and all(
        not _TONES.search(part) and (_is_whole(part) or _count_digits(part) >= first) for part in parts[1:]
    )


def _is_whole(text: str) -> bool:
    is_international = text.startswith(("+", "(+", "00"))
    return _count_digits(text) >= (_WHOLE_INTERNATIONAL_DIGITS if is_international else _WHOLE_DIGITS)


def _count_digits(text: str) -> int:
    return sum(map(str.isdecimal, _TRUNK_PREFIX_IN_BRACKETS.sub("", text)))


def national_spellings(number: PhoneNumber) -> list[PhoneNumber]:
    """The national numbers that an international one may be written as: without its country code, and with each trunk
    prefix of that country in front."""
    code = next(
        (
            number.digits[:length]
            for length in range(1, _MAX_CODE_LENGTH + 1)
            if number.digits[:length].isdecimal() and int(number.digits[:length]) in COUNTRY_CODE_TO_REGION_CODE
        ),
        None,
    )
    if code is None or code == number.digits:
        return []
    rest = number.digits[len(code) :]
    return [
        number._replace(digits=prefix + rest, is_international=False) for prefix in ("", *_trunk_prefixes(int(code)))
    ]


@lru_cache(maxsize=256)
def _trunk_prefixes(code: int) -> tuple[str, ...]:
    region = COUNTRY_CODE_TO_REGION_CODE[code][0]
    metadata = PhoneMetadata.metadata_for_region(region, None)
    if metadata is None:  # a code of no country, such as that of satellite telephones
        return ()
    pattern = metadata.national_prefix_for_parsing
    return tuple(
        prefix
        for prefix in _TRUNK_PREFIXES
        # Lithuania changed its prefix from 8 to 0: the pattern takes both.
        if prefix == metadata.national_prefix or (pattern and re.fullmatch(pattern, prefix))
    )


def _split_extension(text: str) -> tuple[str, str]:
    """The text before a mark of an extension, and the digits of the extension."""
    if text.startswith(("*", "#")):  # a service code
        return text, ""
    found = EXTENSION.search(text)
    if found is None:
        return text, ""
    number, extension = text[: found.start()], "".join(filter(str.isdecimal, text[found.end() :]))
    return (number, extension) if extension and any(map(str.isdecimal, number)) else (text, "")


def _significant(text: str) -> str:
    return _INSIGNIFICANT.sub("", text)


def _without_prefix(text: str, count: int) -> str:
    """The text after its first `count` digits."""
    for index, char in enumerate(text):
        if not count:
            return text[index:]
        count -= char.isalnum()
    return ""


_MAX_EXTENSION_DIGITS = 6  # what follows the mark of one and is longer is another number
_NON_DIGITS = re.compile("[^0-9]+")
# The exit code of Russia, where a tone is waited for after the 8.
_RUSSIAN_EXIT_CODE = re.compile(r"8\s*+(?:[~-]\s*+)?10[\s-]")

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
MIN_SEARCHED_DIGITS = 3
MAX_SHORT_DIGITS = 8  # with a country code
MAX_NATIONAL_DIGITS = 11
# A national number has at most 12 digits, trunk prefix included; what is longer and begins like this is an exit code.
_EXIT_CODES = ("011", "010")  # of North America and of Japan, and of nearly all other countries 00
_MIN_DIGITS_AFTER_EXIT_CODE = 10
_NORTH_AMERICAN_DIGITS = 10
_MEXICAN_DIGITS = _ARGENTINE_DIGITS = 10
# What may be a trunk prefix, or the beginning of a number of another country.
_POSSIBLE_TRUNK_PREFIXES = (
    re.compile("06(?=(?:20|21|30|31|50|70)[0-9]{7}$)"),  # mobile numbers of Hungary, and those of the internet
    # Landlines of Hungary: Budapest, other areas, and 80, 90 and 91.
    re.compile("06(?=1[0-9]{7}$|(?:2[2-9]|3[2-8]|40|4[24-9]|5[1-7]|59|6[236-9]|7[2-9]|8[0-9]|9[0-69])[0-9]{6}$)"),
    re.compile("04[45](?=[0-9]{10}$)"),  # mobile numbers of Mexico, until 2019
    re.compile("8(?=[0-9]{8}$)"),  # Lithuania, until 2024
    re.compile("80?(?=(?:1[5-7]|2[1-5]|29|33|44)[0-9]{7}$)"),  # Belarus
)
_KEYPAD = str.maketrans("abcdefghijklmnopqrstuvwxyz", "22233344455566677778889999")
# A number that ends in a word, behind a few digits such as 0800 or 1-800.
_VANITY = re.compile(r"[+(]*[0-9][0-9 ()./-]*[a-z][a-z0-9 ()./-]*")
_MIN_LETTERS = 3
_EXTENSION_WORD = re.compile(r"\b(?:ext|extension|durchwahl|poste|interno|toestel|ramal|anexo|dahili)\b")
_VANITY_DIGITS = range(7, 16)  # those of the word included
_ARGENTINE_MOBILE = re.compile("([0-9]{2,4}?)15([0-9]{6,8})")


def phone_keys(number: str) -> tuple[str, ...]:
    """The keys of `number` as typed, the likeliest reading first; none if it has fewer than MIN_DIGITS digits.

    Of several numbers in one text, those of each.
    """
    return national_numbers(number, MIN_DIGITS)


def numbers_without_extension(number: str) -> tuple[str, ...]:
    """The keys that the numbers of a text with an extension have without it: they are found by these digits as well.

    They are no keys for duplicates: the extension tells the people of one company apart.
    """
    bare = (_split_dialled_extension(_plain(one)) for one in split_numbers(number))
    return tuple(dict.fromkeys(key for text, extension in bare if extension for key in phone_keys(text)))


def short_number(number: str) -> str | None:
    """The digits of a number that is too short for a key but can be searched for, such as 4711; None for others."""
    digits = _digits(_plain(number))[:MAX_SHORT_DIGITS]
    return digits if len(digits) >= MIN_SEARCHED_DIGITS and not phone_keys(number) else None


def ends_in_word(number: str) -> bool:
    """Whether the number ends in a word that the letters of the keypad dial, such as 1-800-FLOWERS."""
    plain = _plain(number)
    return _spell_out(plain) != plain


def searched_numbers(number: str) -> tuple[str, ...]:
    """What GET /api/find compares the digits of a query with."""
    short = short_number(number)
    return (short,) if short else (*phone_keys(number), *numbers_without_extension(number))


def national_numbers(number: str, least: int) -> tuple[str, ...]:
    """The national numbers of at least `least` digits that `number` may mean, each with its extension."""
    keys = (key for one in split_numbers(number) for key in _national_numbers(_spell_out(_plain(one)), least))
    return tuple(dict.fromkeys(keys))


def _national_numbers(number: str, least: int) -> tuple[str, ...]:
    # "+44 (0)20 …": the trunk prefix is not dialled after a country code.
    text, extension = _split_dialled_extension(_TRUNK_PREFIX_IN_BRACKETS.sub("", number))
    digits, is_international = _digits(text), text.startswith(("+", "(+"))
    if not is_international:
        rest = _digits(text[found.end() :]) if (found := _RUSSIAN_EXIT_CODE.match(text)) else _after_exit_code(digits)
        if rest is not None:
            is_international, digits = True, rest
    readings = [_after_country_code(digits)] if is_international else _read_national(digits)
    return tuple(reading + extension for reading in readings if len(reading) >= least)


def _plain(number: str) -> str:
    return normal_form("NFKC", number).strip().lower().removeprefix("tel:")


def _spell_out(text: str) -> str:
    """The digits of a number that ends in a word, by the keypad; another text unchanged."""
    if len(_digits(text)) >= _VANITY_DIGITS.start or not _VANITY.fullmatch(text) or _EXTENSION_WORD.search(text):
        return text
    if sum(map(str.isalpha, text)) < _MIN_LETTERS:
        return text
    spelled = text.translate(_KEYPAD)
    is_long = text.startswith(("1-", "1 ", "1(", "1.")) and len(_digits(spelled)) > _NORTH_AMERICAN_DIGITS + 1
    # Letters behind the last digit that is dialled only make the word readable.
    spelled = _digits(spelled)[: _NORTH_AMERICAN_DIGITS + 1] if is_long else spelled
    return spelled if len(_digits(spelled)) in _VANITY_DIGITS else text


def _split_dialled_extension(text: str) -> tuple[str, str]:
    """The text before an extension and the digits of it, provided that a whole number precedes it."""
    found = EXTENSION.search(text)
    if found is None or len(_digits(text[: found.start()])) < MIN_DIGITS:
        return text, ""
    extension = _digits(text[found.end() :])
    return text[: found.start()], extension if len(extension) <= _MAX_EXTENSION_DIGITS else ""


def _after_exit_code(digits: str) -> str | None:
    """The digits after an exit code, beginning with a country code; None if `digits` do not begin with one."""
    if digits.startswith("0011"):  # Australia's; no area code of +1 begins with 1
        return digits[4:]
    if digits.startswith("001") and len(digits) - 3 > _NORTH_AMERICAN_DIGITS:  # East Asia's 001, not 00 and +1
        return digits[3:]
    if digits.startswith("00"):
        return digits[2:]
    is_exit_code = digits.startswith(_EXIT_CODES) and len(digits) - 3 >= _MIN_DIGITS_AFTER_EXIT_CODE
    # Not where 011 is Buenos Aires, and 15 follows.
    return digits[3:] if is_exit_code and _without_argentine_prefix(digits[1:]) == digits[1:] else None


def _after_country_code(digits: str) -> str:
    code_length = 1 if digits[:1] in {"1", "7"} else 2 if digits[:2] in _TWO_DIGIT_CODES else 3
    code, national = digits[:code_length], digits[code_length:].lstrip("0")
    # Mobile numbers of Mexico had a 1 until 2019; those of Argentina have a 9 when dialled from abroad.
    if code == "52" and len(national) == _MEXICAN_DIGITS + 1 and national[0] == "1":
        return national[1:]
    if code == "54":
        has_nine = len(national) > _ARGENTINE_DIGITS and national[0] == "9"
        return _without_argentine_prefix(national[1:] if has_nine else national)
    return national


def _read_national(digits: str) -> list[str]:
    # A number this long without a trunk prefix begins with a country code; only the plus is missing.
    if len(digits) > MAX_NATIONAL_DIGITS and not digits.startswith("0"):
        return [_after_country_code(digits)]
    if len(digits) == 11 and _is_north_american(digits):
        return [digits[1:], digits]  # 1 312 345 6789 of Chicago, or 131 2345 6789 of China
    if len(digits) == 11 and _is_russian(digits):
        return [digits[1:]]
    readings = [digits.lstrip("0")]
    readings += [digits[found.end() :] for prefix in _POSSIBLE_TRUNK_PREFIXES if (found := prefix.match(digits))]
    if digits.startswith("0"):
        readings.append(_without_argentine_prefix(digits[1:]))
    return readings


def _without_argentine_prefix(national: str) -> str:
    """The number without the 15 of mobile numbers behind the area code, which has two to four digits."""
    found = _ARGENTINE_MOBILE.fullmatch(national)
    if found and len(found.group(1)) + len(found.group(2)) == _ARGENTINE_DIGITS:
        return found.group(1) + found.group(2)
    return national


def _is_north_american(digits: str) -> bool:
    """Whether the number is `1` and an area code; area codes never begin with 0 or 1."""
    return digits[0] == "1" and digits[1] > "1"


def _is_russian(digits: str) -> bool:
    """Whether the number is the trunk prefix `8` and an area code of Russia or Kazakhstan."""
    return digits[0] == "8" and (digits[1] in "3479" or digits[1:3] == "80")  # 8 800: free of charge


def _digits(text: str) -> str:
    """The decimal digits of any script, as ASCII."""
    return _NON_DIGITS.sub("", ascii_digits(text))
