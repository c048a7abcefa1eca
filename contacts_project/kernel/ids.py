"""Ids of records: how they are made, parsed and written. Pure.

Ids are UUIDv7 (RFC 9562, section 5.7): they begin with the time, so new rows are next to each other in every index.
"""

from uuid import UUID

import uuid_utils
from uuid_utils.compat import uuid7

new_id = uuid7
"""Returns a new id, ordered by time."""


def is_client_id(key: UUID) -> bool:
    """Whether a client may choose this id: UUIDv4 or UUIDv7 (RFC 9562, 5.4 and 5.7)."""
    return key.version in {4, 7}


def parse_id(text: object) -> UUID | None:
    """Return the UUID that `text` is in its form with hyphens, else None."""
    if not isinstance(text, str):
        return None
    try:
        # UUID() also accepts 32 bare digits, braces and `urn:uuid:`; the API takes the usual form alone.
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None


def parse_client_id(text: object) -> UUID | None:
    """The id that a client chose for a new record, in exactly the form in which it is stored; else None."""
    key = parse_id(text)
    return key if key and str(key) == str(text).lower() and is_client_id(key) else None


def format_id(key: str) -> str:
    """The id with hyphens, from its 32 digits (database.expressions.IdHex). Slicing the text takes a third longer."""
    return str(uuid_utils.UUID(key))
