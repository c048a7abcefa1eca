"""The text of cards: patched where the person says something else, and new ones."""

import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import replace

from people.vcard import Card, write_card


def new_text(card: Card, *, photo: bytes | None, full_name: str, revised: str | None = None) -> str:
    """A card for a book: of version 3.0, which all servers take, and without what is kept here alone."""
    return write_card(replace(card, photo=photo, last_contact=None), "3.0", full_name=full_name, revised=revised)


def revision_time(now: dt.datetime) -> str:
    """REV."""
    return now.strftime("%Y%m%dT%H%M%SZ")


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def first_messages(texts: Sequence[str], limit: int = 50) -> list[str]:
    """The first messages of many, and how many more there are."""
    more = [f"and {len(texts) - limit + 1} more"] if len(texts) > limit else []
    return [*texts[: limit - len(more)], *more]
