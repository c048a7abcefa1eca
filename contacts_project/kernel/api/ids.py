"""Ids of records: made, read out of paths and bodies, and written by the database itself.

They are UUIDv7 (RFC 9562, section 5.7), so that new rows stand together in every index.
"""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db.models import CharField, Func, UUIDField
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


def is_client_id(key: UUID) -> bool:
    """Whether clients may make such an id: random, or random with the time before it (RFC 9562, 5.4 and 5.7)."""
    return key.version in {4, 7}


class IdConverter:
    """`<id:person_id>` in a path. What spells no id is the nil id (RFC 9562, section 5.9), which no row has: so it is
    404 like an unknown one, and like that only for who may know."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID:
        return parse_id(value) or UUID(int=0)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")


class IdText(Func):
    """An id (UUID) column as text with hyphens."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite holds a UUID as 32 hexadecimal digits."""
        sql, params = compiler.compile(self.source_expressions[0])
        parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)]
        return "||'-'||".join(f"substr({sql},{start},{length})" for start, length in parts), params * len(parts)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text", **context)


class IdKey(Func):
    """An id (UUID) column as its 32 digits, `UUID.hex`: cheaper than IdText, to look things up by."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')", **context)


def id_text(key: str) -> str:
    """The id of an IdKey, with its hyphens. For SQLite this takes half of what IdText does."""
    return f"{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}"


class FreshId(Func):
    """A new id (UUIDv7 of the moment given) for each row: for INSERT ... SELECT."""

    output_field = UUIDField()
    arity = 0

    def __init__(self, moment: dt.datetime) -> None:
        super().__init__()
        self.milliseconds = f"{int(moment.timestamp() * 1000):012x}"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        random = "lower(hex(randomblob(8)))"
        return f"'{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},1,15)", ()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Of gen_random_uuid() only the digits that are random are taken."""
        random = "replace(gen_random_uuid()::text, '-', '')"
        return f"('{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},18,15))::uuid", ()
