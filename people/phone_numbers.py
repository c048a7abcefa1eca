"""Phone numbers as section 16 of the open points compares them. Pure; the coarser keys for searching are in
people.duplicates.phones.

Country calling codes and trunk prefixes are those of the library phonenumbers. Its parser is not used: it needs the
country of a national number, which an address book does not know, and refuses numbers that are not in use.
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
