"""Whether a connection still works is asked when it has not been used for a moment."""

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connections

from accounts.models import User
from contacts_project.kernel.database import postgresql


@pytest.mark.parametrize(("pause", "is_checked"), [(0.9, False), (1.1, True)])
def test_a_connection_in_frequent_use_is_not_checked(
    alice: User, monkeypatch: pytest.MonkeyPatch, *, pause: float, is_checked: bool
) -> None:
    checks = count()
    clock = iter((0, pause))
    monkeypatch.setattr(postgresql, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    database: Any = connections[DEFAULT_DB_ALIAS]
    monkeypatch.setattr(database, "is_usable", lambda: next(checks) >= 0)
    monkeypatch.setattr(database, "health_check_enabled", True)
    for _ in range(2):
        database.health_check_done = False  # as Django does at the start of a request
        postgresql.trust_recent_use()
        made = next(checks)
        User.objects.filter(pk=alice.pk).exists()
    assert (next(checks) > made + 1) == is_checked
