"""The text of cards: patched where the person says something else, new ones, and what a server made of them."""

import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rapidfuzz import fuzz

from carddav.sync.entries import KINDS
from carddav.sync.fields import EMPTY, Fields, card_with
from people.entries import match_entries
from people.vcard import Card, patch_card, read_card, write_card

#: From so many characters on texts that are alike in so many percent are one text that a server has damaged.
_LONG, _ALIKE = 20, 90
_NO_WORD = re.compile(r"\W+")


def patched_text(
    raw: str,
    target: Fields,
    changed: set[str],
    *,
    photo: bytes | None,
    full_name: str | None,
    revised: str | None = None,
) -> str:
    """`raw` saying what `target` does in the `changed` fields; no other line changes. Raises VCardError."""
    said, _ = read_card(raw)
    return patch_card(raw, card_with(said, target, changed, photo), full_name=full_name, revised=revised)


def new_text(card: Card, *, photo: bytes | None, full_name: str, revised: str | None = None) -> str:
    """A card for a book: of version 3.0, which all servers take, and without what is kept here alone."""
    return write_card(replace(card, photo=photo, last_contact=None), "3.0", full_name=full_name, revised=revised)


def revision_time(now: dt.datetime) -> str:
    """REV."""
    return now.strftime("%Y%m%dT%H%M%SZ")


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def rebased(sent: Fields, back: Fields, *, is_own: bool) -> Fields:
    """The remote base after a write of ours, of what was sent and what the server says now.

    What the server dropped or re-spelled is its way of saying the same: the base says it like that, and it is no edit.
    What we did not send, or, unless the ETag proves that nobody wrote since (`is_own`), what is not alike, was edited
    there: the base does not say it.
    """
    base: Fields = {}
    for field in EMPTY:
        if field in KINDS:
            base[field] = _rebased_entries(field, sent[field], back[field], is_own=is_own)
        else:
            is_spelling = not back[field] or (
                sent[field] and (is_own or field == "photo" or _is_similar(sent[field], back[field]))
            )
            base[field] = back[field] if is_spelling else sent[field]
    return base


def _rebased_entries(field: str, sent: list[Any], back: list[Any], *, is_own: bool) -> list[Any]:
    if field == "groups":
        # Some lose the backslash before a comma: what was one name comes back as two.
        names = {part.strip().casefold() for name in sent for part in (name, *name.split(","))}
        return [name for name in back if name.casefold() in names]
    kind = KINDS[field]
    found = match_entries(back, sent, keys=(_as_tuple, kind.value), kind=kind.kind)
    base = []
    for entry, place in zip(back, found, strict=True):
        if place is None:
            continue
        is_spelling = is_own or all(_is_similar(sent[place].get(part), text) for part, text in entry.items() if text)
        base.append(entry if is_spelling else sent[place])
    return base


def _as_tuple(entry: Any) -> Any:
    return tuple(sorted(entry.items()))


def _is_similar(sent: Any, back: Any) -> bool:
    one, other = (_NO_WORD.sub("", str(value or "")).casefold() for value in (sent, back))
    if one == other or (bool(other) and other in one) or (bool(one) and one in other):
        return True
    # A long line that a server folded in the middle of a character, say (DAViCal).
    return min(len(one), len(other)) >= _LONG and fuzz.ratio(one, other) >= _ALIKE


def is_applied(before: Fields, sent: Fields, now: Fields) -> bool:
    """Whether the card says what a write of unknown outcome sent: all of it, or some of what it changed."""
    changed = [field for field in EMPTY if before.get(field) != sent[field]]
    return now == sent or any(now[field] == sent[field] for field in changed)


def first_messages(texts: Sequence[str], limit: int = 50) -> list[str]:
    """The first messages of many, and how many more there are."""
    more = [f"and {len(texts) - limit + 1} more"] if len(texts) > limit else []
    return [*texts[: limit - len(more)], *more]
