"""Parses a search query into terms: words, the beginning of an e-mail address, or digits of a phone number."""

import re
from dataclasses import dataclass, field
from typing import Final

from contacts_project.kernel.text_forms import ascii_digits
from people.duplicates.keys import email_key
from people.duplicates.phones import (
    MIN_SEARCHED_DIGITS,
    national_numbers,
    numbers_without_extension,
    phone_keys,
)
from people.phone_numbers import EXTENSION
from people.words import words_of

MAX_QUERY_LENGTH: Final = 200
# Each term adds branches to the statement.
_MAX_TERMS: Final = 8
_PHONE = re.compile(r"[\d\s()+./\u2010-\u2013-]+")
_PHONE_WITH_EXTENSION = re.compile(rf"{_PHONE.pattern}(?:{EXTENSION.pattern})[a-z.:=\s]*\d+\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Term:
    """One part of the query. A person matches it by any of: a `word`, the prefix of an e-mail address, or `digits`.

    `digits` holds the variants in which the number may be stored.
    """

    word: str = ""
    email: str = ""
    digits: tuple[str, ...] = field(default=())


def parse_query(text: str) -> list[Term]:
    """The terms of a query (people.api.person_query.read_search), eight at most, each once."""
    # Before splitting: the groups of a phone number, "030 123 45", are one term.
    if _PHONE.fullmatch(text) and (digits := _digit_variants(text)):
        words = words_of(text)
        return [Term(words[0] if len(words) == 1 else "", digits=digits)]
    # With its extension, or without if the number is stored so.
    if _PHONE_WITH_EXTENSION.fullmatch(text) and (bare := numbers_without_extension(text)):
        return [Term(digits=(*phone_keys(text), *bare))]
    terms: list[Term] = []
    for part in text.split():
        if "@" in part.strip("@"):
            terms.append(Term(email=email_key(part) or ""))
        else:
            terms += [Term(word, digits=_digit_variants(word) if word.isdecimal() else ()) for word in words_of(part)]
    return list(dict.fromkeys(terms))[:_MAX_TERMS]


def _digit_variants(text: str) -> tuple[str, ...]:
    """The digits as they are, without a trunk prefix, and without a country code in case the text begins with one."""
    digits = re.sub(r"\D", "", ascii_digits(text))
    if len(digits) < MIN_SEARCHED_DIGITS:
        return ()
    # Without a plus, only what is as long as a stored number is also read as one with a country code.
    variants = (*national_numbers(text, MIN_SEARCHED_DIGITS), *phone_keys(f"+{digits}"), digits.lstrip("0"), digits)
    return tuple(dict.fromkeys(key for key in variants if len(key) >= MIN_SEARCHED_DIGITS))
