"""What a query asks for: words, an e-mail address, or a phone number in any form."""

import re
from dataclasses import dataclass, field
from typing import Final

from people.duplicates.keys import email_key
from people.duplicates.phones import phone_key
from people.words import words_of

LONGEST_QUERY: Final = 200
_MOST: Final = 8
_PHONE = re.compile(r"[\d\s()+./\u2010-\u2013-]+")
_FEWEST_DIGITS: Final = 3


@dataclass(frozen=True)
class Term:
    """One part of the query, of which a person has to have something: a `word`, an e-mail's beginning, or digits of a
    phone number, each as the number may have been stored."""

    word: str = ""
    email: str = ""
    digits: tuple[str, ...] = field(default=())


def terms_of(text: str) -> list[Term]:
    """The parts of a query (people.api.person_query.read_search), eight at most."""
    if _PHONE.fullmatch(text) and (digits := _digits(text)):
        single = words_of(text)
        return [Term(single[0] if len(single) == 1 else "", digits=digits)]
    terms: list[Term] = []
    for part in text.split():
        if "@" in part.strip("@"):
            terms.append(Term(email=email_key(part) or ""))
        else:
            terms += [Term(word, digits=_digits(word) if word.isdecimal() else ()) for word in words_of(part)]
    return list(dict.fromkeys(terms))[:_MOST]


def _digits(text: str) -> tuple[str, ...]:
    """The digits without trunk prefix, and without the country code in case there is one."""
    bare = re.sub(r"\D", "", text)
    if len(bare) < _FEWEST_DIGITS:
        return ()
    readings = (phone_key(text), phone_key(f"+{bare}"), bare.lstrip("0"))
    return tuple(dict.fromkeys(key for key in readings if key and len(key) >= _FEWEST_DIGITS))
