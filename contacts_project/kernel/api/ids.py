"""Ids of records: how they are made, and how the database hands them over. Their text is read and written by
`kernel.api.json`.

They are UUIDv7 (RFC 9562, section 5.7), so that new rows stand together in every index.
"""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db.models import CharField, Func, UUIDField
from uuid_utils.compat import uuid7

new_id = uuid7
"""Makes a time-ordered id."""


def is_client_id(key: UUID) -> bool:
    """Whether clients may make such an id: random, or random with the time before it (RFC 9562, 5.4 and 5.7)."""
    return key.version in {4, 7}


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


class IdHex(Func):
    """An id (UUID) column as its 32 digits, `UUID.hex`: cheaper than IdText, to look things up by."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')", **context)


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
