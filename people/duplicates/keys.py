"""The keys by which people are found: made on write for the index (people.lookup), and on reading by the candidates.

EMAIL   the address without case
PHONE   the national significant number
NAME    all words of the name, folded and sorted: the same name in any order and spelling of case and accents
BLOCK   what a misspelt name still shares with the right one: the skeleton of one of its two sides with the first
        letter of the other; for scripts without spaces the sorted characters of the whole name
ADDRESS street and postal code, street and town: two spellings of where somebody lives. Duplicates do not go by it
"""

from collections.abc import Mapping
from typing import Any

from people.duplicates.phones import phone_key
from people.duplicates.tokens import (
    given_and_family,
    has_case,
    initial_class,
    is_whole_name,
    skeleton,
    words,
)
from people.names import NameParts, fold

__all__ = ["address_keys", "email_key", "fine_blocks", "name_blocks", "name_key", "phone_key"]

KEY_LENGTH = 320
_SHORT_PARTICLE = 3
_MOST_FAMILY_WORDS = 3
_AT_WORK = frozenset({"work", "office", "business"})


def email_key(address: str) -> str | None:
    """The key of an e-mail address; case never tells two addresses apart."""
    return address.strip().casefold()[:KEY_LENGTH] or None


def address_keys(entry: Mapping[str, Any]) -> set[str]:
    """The keys of an entry of `addresses`; none of a place of work, and none without a street."""
    street = " ".join(words(entry.get("streetLine1")))
    if not street or not _AT_WORK.isdisjoint(fold(entry.get("type") or "").split()):
        return set()
    places = {" ".join(words(entry.get(name))) for name in ("postalCode", "locality")} - {""}
    return {f"{street}|{place}"[:KEY_LENGTH] for place in places}


def name_key(parts: NameParts) -> str | None:
    """The key of the whole name without prefix, suffix and nickname; None when no letter is left."""
    found = [word for part in (parts[0], parts[2], parts[1], parts[3]) for word in words(part)]
    return " ".join(sorted(found))[:KEY_LENGTH] or None


def name_blocks(parts: NameParts) -> set[str]:
    """The blocks of a name. A lone given name has none: without anything else in common it is nobody's duplicate."""
    given, family = sides(parts)
    return {f"{skeleton(near)}|{initial_class(far)}" for near, far in _both_ways(given, family)} | _letters(parts)


def fine_blocks(parts: NameParts) -> set[str]:
    """The same, finer: of the other side the first two signs of its skeleton, or the first and the last.

    One typing error leaves one of the two alone. For comparing all with all, where name_blocks would bring together
    too many; an initial shares none of them.
    """
    given, family = sides(parts)
    blocks = _letters(parts)
    for near, far in _both_ways(given, family):
        side, other = skeleton(near), skeleton(far)
        blocks.add(f"{side}|{other[:2]}")
        blocks.add(f"{side}|{other[:1]}-{other[-1:]}")
        if len(other) <= 2:  # of so few signs one error may leave none of the above
            blocks.add(f"{side}|{other[:1]}")
    return blocks


def _both_ways(given: list[str], family: list[str]) -> list[tuple[str, str]]:
    return [pair for one in given for other in family for pair in ((one, other), (other, one))]


def _letters(parts: NameParts) -> set[str]:
    """The sorted letters of a full name; a lone one may be full only in a script without capitals and spaces."""
    compact = "".join(word for part in parts[:4] for word in words(part))
    if len(compact) < 2 or (has_case(compact) and not is_full(parts)):
        return set()
    return {"=" + "".join(sorted(compact))[: KEY_LENGTH - 1]}


def sides(parts: NameParts) -> tuple[list[str], list[str]]:
    """The words that stand for the given name (nickname included) and for the family name, without small particles."""
    given, family = given_and_family(parts)
    nickname = words(parts.nickname)
    long_words = [word for word in family if len(word) > _SHORT_PARTICLE or not word.isascii()]
    return given[:1] + list(nickname[:1]), (long_words or family)[-_MOST_FAMILY_WORDS:]


def is_full(parts: NameParts) -> bool:
    """Whether more than a lone given name is known."""
    given, family = given_and_family(parts)
    return bool(family or (given and is_whole_name(given[0])))
