"""Writes people/country_names.txt from the Unicode CLDR. Needs Babel, which nothing else does: pip install babel.

python -m tests.people.country_names > people/country_names.txt
"""

import re
import sys

from babel import Locale, UnknownLocaleError  # type: ignore[import-not-found]
from babel.core import get_cldr_version, get_global  # type: ignore[import-not-found]
from babel.languages import get_official_languages  # type: ignore[import-not-found]

from people.countries import NAME_LANGUAGES

# Those in which most exports of address books are written, beside those of the product.
_MORE_LANGUAGES = ("it", "nl", "pt", "pl", "sv", "da", "ru", "zh", "tr")
# Not countries: unions, and CLDR's codes for tests and for what is not known.
_NO_COUNTRIES = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}


def country_names() -> dict[str, list[str]]:
    """By code: its names in the languages of the product, others in these and in its own, its code of three letters."""
    codes = sorted(code for code in Locale("en").territories if re.fullmatch("[A-Z]{2}", code))
    first = {code: [Locale(language).territories[code] for language in NAME_LANGUAGES] for code in codes}
    names: dict[str, dict[str, None]] = {code: {} for code in codes if code not in _NO_COUNTRIES}
    for code, found in names.items():
        for language in (*_MORE_LANGUAGES, *get_official_languages(code, de_facto=True)):
            try:
                name = Locale.parse(language).territories.get(code)
            except UnknownLocaleError:
                continue
            if name and name != code and name not in first[code]:
                found[name] = None
    for alias, replacements in get_global("territory_aliases").items():
        if re.fullmatch("[A-Z]{3}", alias) and len(replacements) == 1 and replacements[0] in names:
            names[replacements[0]][alias] = None
    return {code: [*first[code], *found] for code, found in names.items()}


if __name__ == "__main__":
    sys.stdout.write(
        f"# Unicode CLDR {get_cldr_version()}, written by tests/people/country_names.py: a code, and its names.\n"
    )
    for code, texts in country_names().items():
        sys.stdout.write(f"{code} {'|'.join(texts)}\n")
