"""Plans of repeated statements, which a connection to PostgreSQL keeps: it takes four times longer to plan a small
statement than to run it."""

import functools
import re
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# A statement with more parameters is sent with its values in the text. The protocol allows 65,535 parameters, and the
# plan of a long INSERT takes much memory, though the same length is seldom repeated.
MAX_BOUND_PARAMETERS = 300
# Matches a list of two or more values. A kept plan for any list in any account reads all rows of an account, if the
# average account is small, so these statements are planned each time for their values.
_ID_LIST = re.compile(r" IN \(%(?:\(\w+\))?s, ")


class _Driver(NamedTuple):
    """What replaces Django's and psycopg's defaults on a connection."""

    cursor: type[Any]
    server_side_cursor: type[Any]
    integer_dumpers: tuple[tuple[type, type[Any]], ...]


@functools.cache
def _load_driver() -> _Driver:
    """Define the cursor that lets psycopg prepare repeated statements. Called for PostgreSQL only."""
    # Imported here, because psycopg would cost each process of an instance on SQLite 60 ms and 9 MB.
    from django.db.backends.postgresql import base  # noqa: PLC0415
    from psycopg import ClientCursor  # noqa: PLC0415
    from psycopg.types import numeric  # noqa: PLC0415

    class PreparingCursor(base.ServerBindingCursor):  # type: ignore[misc, name-defined] # not in the stubs
        """Sends parameters beside the statement, so that its plan can be kept, unless the plan should not be."""

        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            if not params or (len(params) <= MAX_BOUND_PARAMETERS and not _ID_LIST.search(str(query))):
                return super().execute(query, params, **options)
            # With a threshold psycopg would keep each such text, to count how often it is repeated.
            threshold = self.connection.prepare_threshold
            self.connection.prepare_threshold = None
            try:
                return super().execute(ClientCursor(self.connection).mogrify(query, params), **options)
            finally:
                self.connection.prepare_threshold = threshold

    # Integers are sent as text, so the server refuses a number that is too large. psycopg's binary dumpers cut off what
    # does not fit in the type, and the server stored the rest: 4,464 for 70,000.
    integer_dumpers = (
        (numeric.Int2, numeric.Int2Dumper),
        (numeric.Int4, numeric.Int4Dumper),
        (numeric.Int8, numeric.Int8Dumper),
    )
    # Queries with .iterator() bind on the client, since their lists may be longer than the protocol allows.
    return _Driver(PreparingCursor, base.ServerSideCursor, integer_dumpers)  # type: ignore[attr-defined] # as above


def _configure_connection(*, connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    """Receiver of connection_created."""
    if connection.vendor == "postgresql":
        driver = _load_driver()
        psycopg_connection = connection.connection
        psycopg_connection.cursor_factory = driver.cursor
        psycopg_connection.server_cursor_factory = driver.server_side_cursor
        for kind, dumper in driver.integer_dumpers:
            psycopg_connection.adapters.register_dumper(kind, dumper)


def keep_prepared_statements() -> None:
    """Keep the plans of repeated statements on every connection to PostgreSQL that is opened from now on.

    The setting `prepare_threshold` of the connection decides after how many executions.
    """
    connection_created.connect(_configure_connection, dispatch_uid="prepared_statements")
