"""Calls of the routes in the table, with the ids of a test's records."""

from typing import Any

import pytest

from tests.client import Client, client_of
from tests.routes.route_data import RouteData
from tests.routes.table import Route

#: Methods that change nothing.
SAFE = {"GET", "HEAD", "OPTIONS"}


def each_route(routes: list[Route]) -> pytest.MarkDecorator:
    """Run the test once for each of these routes."""
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.name)


def owner_client(route: Route, route_data: RouteData) -> Client:
    """The owner's client, with a token or, where tokens are refused, a session."""
    if not route.session_only:
        return route_data.client
    client = client_of(None)
    client.force_login(route_data.owner)
    return client


def send(client: Client, route: Route, ids: dict[str, str]) -> Any:
    """Call the route with its body, in which names are replaced by ids."""
    path = route.path.format_map(ids)
    if callable(route.body):
        return route.body(client, path, ids)
    return client.call(route.method, path, fill_ids(route.body, ids))


def fill_ids(value: Any, ids: dict[str, str]) -> Any:
    """`value` with the names in its texts replaced by ids."""
    if isinstance(value, str):
        return value.format_map(ids) if value.startswith("{") else value
    if isinstance(value, dict):
        return {key: fill_ids(inner, ids) for key, inner in value.items()}
    return [fill_ids(inner, ids) for inner in value] if isinstance(value, list) else value
