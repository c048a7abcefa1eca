"""Ids of records: how new ones are made, and database expressions for ids. `kernel.api.json` parses and formats them.

Ids are UUIDv7 (RFC 9562, section 5.7): they begin with the time, so new rows are next to each other in every index.
"""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db.models import CharField, Func, UUIDField
from uuid_utils.compat import uuid7

new_id = uuid7
"""Returns a new id, ordered by time."""


def is_client_id(key: UUID) -> bool:
    """Whether a client may choose this id: UUIDv4 or UUIDv7 (RFC 9562, 5.4 and 5.7)."""
    return key.version in {4, 7}


class IdHex(Func):
    """An id (UUID) column as 32 hexadecimal digits, `UUID.hex`: a dictionary key that needs no conversion in Python."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # SQLite has no type for UUIDs: Django stores the 32 digits.
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')", **context)


class FreshId(Func):
    """A new id for each row of an INSERT ... SELECT: a UUIDv7 with the time `created_at`."""

    output_field = UUIDField()
    arity = 0

    def __init__(self, created_at: dt.datetime) -> None:
        super().__init__()
        self.milliseconds = f"{int(created_at.timestamp() * 1000):012x}"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # The version (7) is the 13th digit, the variant (8) the 17th.
        random = "lower(hex(randomblob(8)))"
        return f"'{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},1,15)", ()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # gen_random_uuid() returns a UUIDv4: its own version and variant, digits 13 and 17, are not random.
        random = "replace(gen_random_uuid()::text, '-', '')"
        return f"('{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},18,15))::uuid", ()
