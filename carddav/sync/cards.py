"""Texts of new cards, and their hashes."""

import datetime as dt
import hashlib
from dataclasses import replace

from people.vcard import Card, write_card


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
