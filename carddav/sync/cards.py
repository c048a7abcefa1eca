"""Texts of new cards, and their hashes."""

import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import replace

from contacts_project.kernel.texts import Text, define_text
from people.vcard import Card, write_card

_MORE = define_text("more_messages", "and %(count)s more")


def render_new_card(card: Card, *, photo: bytes | None, full_name: str, revised: str | None = None) -> str:
    """A card in version 3.0, which every server accepts, without the fields that are never sent."""
    return write_card(replace(card, photo=photo, last_contact=None), "3.0", full_name=full_name, revised=revised)


def format_rev(now: dt.datetime) -> str:
    """The value of REV."""
    return now.strftime("%Y%m%dT%H%M%SZ")


def hash_text(text: str) -> str:
    """SHA-256, hexadecimal."""
    # "replace": a card may contain lone surrogates, which UTF-8 cannot encode.
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def limit_messages(messages: Sequence[Text], limit: int = 50) -> list[Text]:
    """At most `limit` messages; the last one says how many more there are."""
    more = [_MORE.format(count=len(messages) - limit + 1)] if len(messages) > limit else []
    return [*messages[: limit - len(more)], *more]
