"""What a route costs in an account ten times as large, counted: steps of SQLite's machine, rows that PostgreSQL reads.

Every route stands still unless its class here says otherwise; a new route that grows fails until it is given one.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from notifications.models.heartbeat import note_beat
from people.models import Person
from tests.builders import make_user
from tests.client import client_of
from tests.routes.many_people import add_many_people, tie_to_many_people
from tests.routes.route_data import ROUTE_SETTINGS, RouteData, make_route_data
from tests.routes.table import ROUTES, Route
from tests.routes.test_routes import send

SMALL, LARGE = 40, 400
# Without statistics: from so many people on PostgreSQL would not read the tables whole anyway.
UNKNOWN_SMALL, UNKNOWN_LARGE = 500, 2000
_SMALL_ACCOUNTS = 150
FULL_PAGES = 500
# How much the count may rise from the one to the other, beyond a base that hides chance.
CONSTANT, BASE = 1.5, {"sqlite": 400, "postgresql": 60}

#: The answer holds a row for each person, or each is looked at, so the cost is that of the account.
ACCOUNT = {
    "GET /api/user/export",
    "DELETE /api/user/delete",
    "GET /api/people?includeAll=true",
    "GET /api/people/search-index",
    "GET /api/people/duplicates",
    "GET /api/relationships",
    "GET /api/dashboard/graph?limit=1",
    "GET /api/vcard/export",
    "GET /api/map/markers",
    "GET /api/insights",
    "GET /api/relationship-suggestions",
}
#: The cost is that of the rows that match: a year of events, people whose names hold the text.
ROWS = {
    "GET /api/upcoming?days=366",
    "GET /api/reminders/upcoming?days=366",
    "GET /api/people/search?q=ada",
    "GET /api/find?q=ada",
}
# A page of a hundred records, or of five hundred changes: the cost is constant once an account has as many.
PAGE = {"GET /api/people", "GET /api/changes"}


#: Until PostgreSQL has measured the tables these may walk the people of the account, once.
ONCE_WHILE_UNKNOWN = {
    "DELETE /api/people/{person}/important-dates/{deleted_date}/permanent",
    "DELETE /api/relationship-types/{type}",
    "POST /api/groups",
    "GET /api/groups/{group}",
    "PUT /api/groups/{group}",
    "POST /api/groups/{deleted_group}/restore",
    "DELETE /api/custom-field-templates/{template}",
    "POST /api/custom-field-templates/{deleted_template}/restore",
}


@contextmanager
def work_counted() -> Iterator[Callable[[], int]]:
    """Yield a function that returns the database's steps or rows read since the start of the block."""
    if connection.vendor == "postgresql":
        before = _rows_read()
        yield lambda: _rows_read() - before
        return
    steps = [0]

    def count() -> int:
        steps[0] += 20
        return 0

    connection.connection.set_progress_handler(count, 20)
    try:
        yield lambda: steps[0]
    finally:
        connection.connection.set_progress_handler(None, 20)


def _rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_xact_user_tables")
        return int(cursor.fetchone()[0])


def cost(route: Route, route_data: RouteData) -> int:
    """What the route costs its owner; whatever it does is taken back."""
    with transaction.atomic():
        client = route_data.client
        if route.session_only:
            client = client_of(None)
            client.force_login(route_data.owner)
        with work_counted() as count:
            response = send(client, route, route_data.ids)
            b"".join(response)
            counted = count()
        assert response.status_code == route.owner, (route.name, response.content[:300])
        transaction.set_rollback(True)
        return counted


def costs(small: int, large: int, *, analyzed: bool = True, pages: bool = False) -> Iterator[dict[str, int]]:
    """What each route costs the owner of a crowd, that is to stand still, or each of PAGE, at both sizes; no account is
    left behind."""
    with transaction.atomic():
        owner: User = make_user("alice@example.org", name="Alice")
        made = make_route_data(owner)
        if analyzed and connection.vendor == "postgresql":  # whose plans go by the average account
            for number in range(_SMALL_ACCOUNTS):
                add_many_people(make_user(f"small{number}@example.org"), 5)
        routes = [route for route in ROUTES if not route.is_open and not route.own_credential]
        for first, size in ((0, small), (small, large)):
            add_many_people(owner, size - first, first)
            if analyzed and connection.vendor == "postgresql":
                with connection.cursor() as cursor:  # as autovacuum does
                    cursor.execute("ANALYZE")
            if not analyzed and not first:
                tie_to_many_people(owner, made.ids["person"])
            route_data = RouteData(User.objects.get(pk=owner.pk), made.client, made.ids)
            asked = [route for route in routes if route.name not in ACCOUNT | ROWS and (route.name in PAGE) == pages]
            yield {route.name: cost(route, route_data) for route in asked}
        transaction.set_rollback(True)


#: How PostgreSQL may plan a statement: for its parameters, or, where a connection has run it often, for any.
PLANS = pytest.mark.parametrize(
    "plans", ["force_custom_plan", "force_generic_plan"] if "TEST_DATABASE_URL" in os.environ else [""]
)


@pytest.fixture
def planned(db: None, settings: Any, plans: str) -> None:
    """As routes are asked for, with PostgreSQL's `plans`, of tables that are large enough for an index."""
    for name, value in ROUTE_SETTINGS.items():
        setattr(settings, name, value)
    note_beat("due_scan", timezone.now())
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # tables of a test are small enough to be read, or hashed, whole
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute(f"SET LOCAL plan_cache_mode = {plans}")


@PLANS
@pytest.mark.usefixtures("planned")
def test_no_route_costs_more_in_a_larger_account() -> None:
    grown = grown_routes(*costs(SMALL, LARGE))
    assert grown == [], "\n".join(grown)


@PLANS
@pytest.mark.usefixtures("planned")
def test_no_page_costs_more_in_a_larger_account() -> None:
    grown = grown_routes(*costs(FULL_PAGES, 3 * FULL_PAGES, pages=True))
    assert grown == [], "\n".join(grown)


def grown_routes(small: dict[str, int], large: dict[str, int]) -> list[str]:
    base = BASE[connection.vendor]
    return [
        f"{name}: {small[name]} to {after}"
        for name, after in large.items()
        if after + base > CONSTANT * (small[name] + base)
    ]


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="SQLite's statistics never change")
@PLANS
def test_nor_before_postgresql_has_measured_the_tables(db: None, settings: Any, plans: str) -> None:
    """As after an import, or an upgrade of PostgreSQL: large tables, of which the planner knows nothing."""
    for name, value in ROUTE_SETTINGS.items():
        setattr(settings, name, value)
    note_beat("due_scan", timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {plans}")
    _forget_statistics()
    _plan_triggers()
    small, large = costs(UNKNOWN_SMALL, UNKNOWN_LARGE, analyzed=False)
    assert {name: large[name] for name in ONCE_WHILE_UNKNOWN if large[name] > 1.1 * UNKNOWN_LARGE} == {}
    grown = grown_routes(small, large)
    grown = [line for line in grown if line.rpartition(": ")[0] not in ONCE_WHILE_UNKNOWN]
    assert grown == [], "\n".join(grown)


def _forget_statistics() -> None:
    """Delete the statistics of all tables, until this transaction ends.

    An ANALYZE that was rolled back, as that of the test above, leaves its sizes in pg_class all the same; and the
    server measures by itself what other tests commit.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("only a superuser may take back what PostgreSQL has measured")
        cursor.execute("DELETE FROM pg_statistic WHERE starelid IN (SELECT relid FROM pg_stat_user_tables)")
        cursor.execute(
            "UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0"
            " WHERE oid IN (SELECT relid FROM pg_stat_user_tables)"
            " OR oid IN (SELECT indexrelid FROM pg_stat_user_indexes)"
        )


def _plan_triggers() -> None:
    """A connection keeps the plans that its triggers made while the tables were next to empty."""
    with transaction.atomic():
        owner = make_user("early@example.org", name="Early")
        add_many_people(owner, 20)
        people = Person.objects.owned_by(owner)
        for _ in range(10):  # PostgreSQL keeps a plan from the sixth execution on
            people.update(deleted_at=timezone.now())
            people.update(deleted_at=None)
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", sorted(ACCOUNT | ROWS | PAGE))
def test_each_route_with_a_class_of_its_own_is_there(name: str) -> None:
    assert name in {route.name for route in ROUTES}
