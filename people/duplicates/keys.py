"""Lookup keys of people. people.lookup stores them on each write; the duplicate finder also computes blocking keys.

EMAIL   the address without case, its domain by IDNA
PHONE   the national significant number and the extension
NAME    all words of the name, folded and sorted: equal whatever the order of words, case and accents
BLOCK   blocking key that most misspellings leave unchanged: the skeleton of the given or family name with the first
        letter of the other; for scripts without spaces the sorted characters of the whole name
ADDRESS street with postal code, and street with town. Not used for duplicates
WHOLE_ADDRESS hash of all of an address but its country, as people.entries compares it. Not used for duplicates
"""

import hashlib

from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.text_forms import fold, fold_email
from people.duplicates.name_words import (
    given_and_family,
    has_case,
    initial_class,
    is_whole_name,
    skeleton,
    without_particles,
    words,
)
from people.entries import ENTRY_KEYS, normalize
from people.field_table import Compare
from people.names import NameParts

KEY_LENGTH = 320
# Each family word adds blocking keys, and each key is a stored row.
_MAX_FAMILY_WORDS = 3
# Half of a SHA-256: whoever has an equal key is compared in full.
_HASH_LENGTH = 32
_WHOLE_ADDRESS = tuple(name for name in ENTRY_KEYS["addresses"] if name not in {"type", "country"})
_WORK_TYPES = frozenset({"work", "office", "business"})


def email_key(address: str) -> str | None:
    """The key of an e-mail address; equal for all its spellings."""
    return fold_email(address)[:KEY_LENGTH] or None


def address_keys(entry: JsonMapping) -> set[str]:
    """The keys of an entry of `addresses`; none for a work address, and none without a street."""
    street = " ".join(words(entry.get("streetLine1")))
    if not street or not _WORK_TYPES.isdisjoint(fold(entry.get("type") or "").split()):
        return set()
    places = {" ".join(words(entry.get(name))) for name in ("postalCode", "locality")} - {""}
    return {f"{street}|{place}"[:KEY_LENGTH] for place in places}


def whole_address_key(entry: JsonMapping) -> str | None:
    """The key of an address that is equal for all that people.entries calls the same; None for an empty one.

    Without the country, whose known names may change from version to version.
    """
    parts = [normalize(entry.get(name), Compare.LENIENT) for name in _WHOLE_ADDRESS]
    if not any(parts) and not entry.get("country"):
        return None
    return hashlib.sha256("\0".join(str(part or "") for part in parts).encode()).hexdigest()[:_HASH_LENGTH]


def name_key(parts: NameParts) -> str | None:
    """The key of the whole name without prefix, suffix and nickname; None when no letter is left."""
    name_words = [
        word for part in (parts.name, parts.middle_name, parts.surname, parts.second_last_name) for word in words(part)
    ]
    return " ".join(sorted(name_words))[:KEY_LENGTH] or None


def name_blocks(parts: NameParts) -> set[str]:
    """The blocking keys of a name. A lone given name has none: it is too weak as the only evidence of a duplicate."""
    given, family = blocking_words(parts)
    return {f"{skeleton(one)}|{initial_class(other)}" for one, other in _ordered_pairs(given, family)} | _letter_blocks(
        parts
    )


def narrow_name_blocks(parts: NameParts) -> set[str]:
    """Narrower blocking keys: with two letters of the other skeleton, its first two, or its first and last.

    One typing error leaves at least one of the two unchanged. Used where all people are compared, since blocks of
    name_blocks would be too large. An initial is in none of these blocks.
    """
    given, family = blocking_words(parts)
    blocks = _letter_blocks(parts)
    for one, other in _ordered_pairs(given, family):
        full, partial = skeleton(one), skeleton(other)
        blocks.add(f"{full}|{partial[:2]}")
        blocks.add(f"{full}|{partial[:1]}-{partial[-1:]}")
        # In a skeleton this short, one error may change both keys above.
        if len(partial) <= 2:
            blocks.add(f"{full}|{partial[:1]}")
    return blocks


def _ordered_pairs(given: list[str], family: list[str]) -> list[tuple[str, str]]:
    # In both orders, since given and family name may have been entered in the wrong fields.
    return [pair for one in given for other in family for pair in ((one, other), (other, one))]


def _letter_blocks(parts: NameParts) -> set[str]:
    """The sorted letters of a full name; a single word counts as full only in a script without capitals and spaces."""
    compact = "".join(word for part in parts[:4] for word in words(part))
    if len(compact) < 2 or (has_case(compact) and not is_full_name(parts)):
        return set()
    return {letter_block(compact)}


def letter_block(compact: str) -> str:
    """The blocking key of a whole name, folded and without spaces: its sorted letters."""
    return "=" + "".join(sorted(compact))[: KEY_LENGTH - 1]


def blocking_words(parts: NameParts) -> tuple[list[str], list[str]]:
    """The words for blocking: the given name and the nickname, and the family name without short particles."""
    given, family = given_and_family(parts)
    nickname = words(parts.nickname)
    return given[:1] + list(nickname[:1]), without_particles(family)[-_MAX_FAMILY_WORDS:]


def is_full_name(parts: NameParts) -> bool:
    """Whether the name is more than a lone given name."""
    given, family = given_and_family(parts)
    return bool(family or (given and is_whole_name(given[0])))
