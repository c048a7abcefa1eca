"""Compares what each route costs at two sizes of an account: steps of SQLite's virtual machine, rows PostgreSQL reads.

The cost of a route must not grow with the account unless the route is in one of the sets below; a new route that grows
fails until it is added to one.
"""

import datetime as dt
import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from notifications.models.deliveries import record_heartbeat
from people.dates.next_dates import refresh_next_dates
from people.models import ImportantDate, Person
from tests.builders import make_user
from tests.queries import count_work
from tests.routes.calls import owner_client, send
from tests.routes.many_people import add_many_people, add_people_to_accounts, relate_to_many_people
from tests.routes.route_data import RouteData, apply_route_settings, make_route_data
from tests.routes.table import ROUTES, Route

# LARGE people fill a page of every kind of record. At LARGER a page must not cost much more.
SMALL, LARGE, LARGER = 40, 500, 1200
# Without statistics PostgreSQL uses sequential scans for fewer people than these, whatever the indexes.
UNANALYZED_SMALL, UNANALYZED_LARGE = 500, 2000
SMALL_ACCOUNTS = 150
# The cost may grow by this factor, after the base is added to both, so that small differences do not count.
MAX_GROWTH, BASE = 1.5, {"sqlite": 400, "postgresql": 60}

#: The response contains, or the route reads, every person: the cost grows with the account.
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
    "GET /api/people/addresses",
    "GET /api/people/addresses?format=csv",
    "GET /api/insights",
    "GET /api/relationship-suggestions",
}
LISTS = ("GET /api/people?sort=", "GET /api/people?favourite=false", "GET /api/people?withoutGroups=")
#: The cost grows with the matching rows: a year of events, people whose names contain the text, favourites. A list in
#: another order than by name, or of some people alone, reads one line of each person: some microseconds.
ROWS = {
    *(route.name for route in ROUTES if route.name.startswith(LISTS)),
    "GET /api/people?favourite=true",
    "GET /api/upcoming?days=366",
    "GET /api/reminders/upcoming?days=366",
    "GET /api/dashboard/stats",
    "GET /api/people/search?q=ada",
    "GET /api/find?q=ada",
}
#: A page of a hundred records, or of five hundred changes: the cost is constant once an account has that many.
PAGE = {"GET /api/people", "GET /api/changes"}
#: Until PostgreSQL has analyzed the tables, these may read the people of the account once.
ONE_SCAN_WHILE_UNANALYZED = {
    "DELETE /api/people/{person}/important-dates/{deleted_date}/permanent",
    "DELETE /api/relationship-types/{type}",
    "POST /api/groups",
    "DELETE /api/groups/{group}",
    "GET /api/groups/{group}",
    "PUT /api/groups/{group}",
    "POST /api/groups/{deleted_group}/restore",
    "DELETE /api/custom-field-templates/{template}",
    "POST /api/custom-field-templates/{deleted_template}/restore",
}


_owned_routes = [route for route in ROUTES if not route.is_open and not route.own_credential]
PAGE_ROUTES = [route for route in _owned_routes if route.name in PAGE]
CONSTANT_ROUTES = [route for route in _owned_routes if route.name not in ACCOUNT | ROWS | PAGE]


def cost(route: Route, route_data: RouteData) -> int:
    """What the route costs its owner. Its changes are rolled back."""
    with transaction.atomic():
        client = owner_client(route, route_data)
        with count_work() as count:
            response = send(client, route, route_data.ids)
            b"".join(response)
            counted = count()
        assert response.status_code == route.owner, (route.name, response.content[:300])
        transaction.set_rollback(True)
        return counted


def costs(*steps: tuple[int, list[Route]], analyzed: bool = True) -> Iterator[dict[str, int]]:
    """Yield the costs of the routes of each step in an account of that many people, by name and mode of the planner.

    Each step adds people to the same account. Those of the first are in a group, and no others: a page may show the
    group, for which all its members are read. All data are rolled back at the end.
    """
    with transaction.atomic():
        owner: User = make_user("alice@example.org", name="Alice")
        made = make_route_data(owner)
        people = 0
        for size, routes in steps:
            add_many_people(owner, size - people, people, in_group=not people)
            refresh_next_dates(now=timezone.now())  # as the task of every minute
            if analyzed and connection.vendor == "postgresql":
                with connection.cursor() as cursor:  # as autovacuum does
                    cursor.execute("ANALYZE")
            if not analyzed and not people:
                relate_to_many_people(owner, made.ids["person"])
            people = size
            route_data = RouteData(User.objects.get(pk=owner.pk), made.client, made.ids)
            yield {f"{route.name} {mode}": cost(route, route_data) for mode in planner_modes() for route in routes}
        transaction.set_rollback(True)


def planner_modes() -> Iterator[str]:
    """Set each mode of PostgreSQL's planner and yield its name; SQLite has one, which has no name.

    PostgreSQL plans a prepared statement for its parameters, and may switch to a generic plan after some executions.
    """
    if connection.vendor != "postgresql":
        yield ""
        return
    for mode in ("force_custom_plan", "force_generic_plan"):
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        yield mode


def test_no_route_costs_more_in_a_larger_account(db: None, settings: Any) -> None:
    apply_route_settings(settings)
    record_heartbeat("due_scan", timezone.now())
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # the planner would prefer them for the small tables of a test
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
        # PostgreSQL's statistics are averages over all accounts, most of which are small.
        add_people_to_accounts([make_user(f"small{number}@example.org") for number in range(SMALL_ACCOUNTS)], 5)
    large, larger = costs((LARGE, CONSTANT_ROUTES + PAGE_ROUTES), (LARGER, PAGE_ROUTES))
    (small,) = costs((SMALL, routes_to_compare(large)))
    grown = grown_routes(small, large) + grown_routes(large, larger)
    assert grown == [], "\n".join(grown)


def routes_to_compare(costs_of_large: dict[str, int]) -> list[Route]:
    """The constant routes that would have grown if they cost nothing in a small account. The others cannot have."""
    base = BASE[connection.vendor]
    names = {name.rpartition(" ")[0] for name, cost in costs_of_large.items() if cost + base > MAX_GROWTH * base}
    return [route for route in CONSTANT_ROUTES if route.name in names]


def grown_routes(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """The routes that were measured at both sizes and cost more at the second."""
    base = BASE[connection.vendor]
    return [
        f"{name}: {before[name]} to {cost}"
        for name, cost in after.items()
        if name in before and cost + base > MAX_GROWTH * (before[name] + base)
    ]


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="SQLite's statistics never change")
def test_no_route_costs_more_before_postgresql_has_analyzed_the_tables(db: None, settings: Any) -> None:
    """The state after an import or an upgrade of PostgreSQL: large tables without statistics."""
    apply_route_settings(settings)
    record_heartbeat("due_scan", timezone.now())
    _forget_statistics()
    _plan_triggers()
    (large,) = costs((UNANALYZED_LARGE, CONSTANT_ROUTES), analyzed=False)
    (small,) = costs((UNANALYZED_SMALL, routes_to_compare(large)), analyzed=False)
    scanning = {name for name in large if name.rpartition(" ")[0] in ONE_SCAN_WHILE_UNANALYZED}
    assert {name: large[name] for name in scanning if large[name] > 1.1 * UNANALYZED_LARGE} == {}
    grown = [line for line in grown_routes(small, large) if line.rpartition(": ")[0] not in scanning]
    assert grown == [], "\n".join(grown)


def _forget_statistics() -> None:
    """Delete the statistics of all tables, until this transaction ends.

    There are some: an ANALYZE that was rolled back, as in the tests above, leaves its sizes in pg_class, and autovacuum
    analyzes what other tests commit.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("only a superuser may delete PostgreSQL's statistics")
        cursor.execute("DELETE FROM pg_statistic WHERE starelid IN (SELECT relid FROM pg_stat_user_tables)")
        cursor.execute(
            "UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0"
            " WHERE oid IN (SELECT relid FROM pg_stat_user_tables)"
            " OR oid IN (SELECT indexrelid FROM pg_stat_user_indexes)"
        )


def _plan_triggers() -> None:
    """Make the triggers of this connection keep plans that were made while the tables were nearly empty.

    PostgreSQL keeps a trigger's generic plans, and by default makes one at the sixth execution.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        owner = make_user("early@example.org", name="Early")
        add_many_people(owner, 20)
        people = Person.objects.owned_by(owner)
        people.update(deleted_at=timezone.now())
        people.update(deleted_at=None)
        for _ in range(6):
            ImportantDate.objects.owned_by(owner).update(date=timezone.now().date())
            ImportantDate.objects.owned_by(owner).update(date=timezone.now().date() - dt.timedelta(1))
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", sorted(ACCOUNT | ROWS | PAGE))
def test_every_listed_exception_is_a_route(name: str) -> None:
    assert name in {route.name for route in ROUTES}
