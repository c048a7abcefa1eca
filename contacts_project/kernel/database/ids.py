"""Ids of records as database expressions. `kernel.ids` makes, parses and formats them."""

import datetime as dt

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func, UUIDField
from django.db.models.sql.compiler import SQLCompiler

from contacts_project.kernel.database.columns import Sql


class IdHex(Func):
    """An id (UUID) column as 32 hexadecimal digits, `UUID.hex`: a dictionary key that needs no conversion in Python."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        # SQLite has no type for UUIDs: Django stores the 32 digits.
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')")


class FreshId(Func):
    """A new id for each row of an INSERT ... SELECT: a UUIDv7 with the time `created_at`."""

    output_field = UUIDField()
    arity = 0

    def __init__(self, created_at: dt.datetime) -> None:
        super().__init__()
        self.milliseconds = f"{int(created_at.timestamp() * 1000):012x}"

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        # The version (7) is the 13th digit, the variant (8) the 17th.
        random = "lower(hex(randomblob(8)))"
        return f"'{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},1,15)", ()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        # gen_random_uuid() returns a UUIDv4: its own version and variant, digits 13 and 17, are not random.
        random = "replace(gen_random_uuid()::text, '-', '')"
        return f"('{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},18,15))::uuid", ()
