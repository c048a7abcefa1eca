"""Countries by their codes: the names by which an address may call one."""

from functools import lru_cache
from pathlib import Path

from contacts_project.kernel.text_forms import fold

NAME_LANGUAGES = ("en", "es", "ja", "nb", "de", "fr")
"""The languages of the first names of each country."""
_NAMES_FILE = Path(__file__).with_name("country_names.txt")
_ENGLISH_ABROAD = "ja"  # whose posts ask for the country in English
# Names in use that the CLDR gives to no country, or writes in another way.
_MORE_NAMES = {
    "america": "US",
    "czech republic": "CZ",
    "england": "GB",
    "great britain": "GB",
    "holland": "NL",
    "hong kong": "HK",
    "hongkong": "HK",
    "macao": "MO",
    "macau": "MO",
    "northern ireland": "GB",
    "republic of ireland": "IE",
    "russian federation": "RU",
    "scotland": "GB",
    "turkey": "TR",
    "u.k.": "GB",
    "u.s.": "US",
    "u.s.a.": "US",
    "uk": "GB",
    "united states of america": "US",
    "wales": "GB",
    "香港": "HK",
    "澳門": "MO",
    "澳门": "MO",
}


def country_key(text: str) -> str:
    """The country's code (ISO 3166-1, two letters) if the text is one of its codes or names, else the text itself,
    without case, accents and repeated blanks."""
    folded = fold(text)
    return _codes().get(folded, folded)


def country_code(text: str) -> str | None:
    """The country's code (ISO 3166-1, two letters) if the text is one of its codes or names."""
    return _codes().get(fold(text))


def in_words(text: str, language: str) -> str:
    """The country's name for the post that sends the letter, if the text is its code; else the text.

    That post reads the language of its country; in Japan it asks for English.
    """
    names = _names().get(text.upper())
    if names is None:
        return text
    spoken = language.partition("-")[0].partition("_")[0].lower()
    return names[NAME_LANGUAGES.index(spoken) if spoken in NAME_LANGUAGES and spoken != _ENGLISH_ABROAD else 0]


@lru_cache(maxsize=1)
def _names() -> dict[str, list[str]]:
    """Names by code (ISO 3166-1, two letters), those in NAME_LANGUAGES first."""
    lines = (line for line in _NAMES_FILE.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {code: names.split("|") for code, _, names in (line.partition(" ") for line in lines)}


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    """Codes by folded name. A name of several countries (`Congo`) is left out, a code is never another's name."""
    codes: dict[str, set[str]] = {}
    own: dict[str, str] = {}
    for code, names in _names().items():
        own[fold(code)] = code
        for name in names:
            for spelling in {fold(name), fold(name.replace("&", "and"))}:
                codes.setdefault(spelling, set()).add(code)
    return {name: next(iter(found)) for name, found in codes.items() if len(found) == 1} | own | _MORE_NAMES
