"""Large writes update the statistics of PostgreSQL's planner (ANALYZE)."""

from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import BatchWriter


@pytest.mark.parametrize(("batches", "are_many"), [(4, False), (5, True)])
def test_tables_are_analyzed_after_a_large_import(alice: User, batches: int, are_many: bool) -> None:
    """Not on SQLite, whose statistics are fixed."""
    sent = list[str]()

    def note(execute: Any, sql: str, *call: Any) -> Any:
        sent.append(sql)
        return execute(sql, *call)

    with connection.execute_wrapper(note), BatchWriter(alice) as writer:
        for _ in range(batches):
            with writer.batch():
                pass
    analyzed = [sql for sql in sent if sql.startswith("ANALYZE")]
    assert len(analyzed) == (are_many and connection.vendor == "postgresql")
    assert all('"people_person"' in sql and '"relationships_relationship"' in sql for sql in analyzed)
