"""Ids of records: UUIDv7 (RFC 9562, section 5.7), so that new rows stand together in every index."""

from uuid import UUID

from django.urls import register_converter
from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """Return a new time-ordered id."""
    return uuid7()


def parse_id(text: object) -> UUID | None:
    """Return the id that `text` spells, None when it spells none."""
    if not isinstance(text, str):
        return None
    try:
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None


class IdConverter:
    """`<id:person_id>` in a path. What spells no id is the nil id (RFC 9562, section 5.9), which no row has: so it is
    404 like an unknown one, and like that only for who may know."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID:
        return parse_id(value) or UUID(int=0)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")
