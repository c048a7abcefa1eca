"""Every error of every route has a code, and words in the reader's language."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from contacts_project.kernel.texts import registry
from tests.client import Client, client_of
from tests.routes.calls import each_route, fill_ids, owner_client
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route

CODE = re.compile(r"[a-z][a-z0-9_]{1,60}")
# Wrong for nearly every field, each in another way.
_WRONG_VALUES: tuple[Any, ...] = (None, "", "\x00", -1, 1e300, True, [], [{}], {}, {"x": [1]}, "x" * 20_000)


def malformed_bodies(body: Any) -> Iterator[Any]:
    """Bodies that are no object, an empty one, and the valid body with one field wrong."""
    yield from ([], "text", 7, {}, {"unknown": 1})
    for name in body if isinstance(body, dict) else ():
        for wrong in _WRONG_VALUES:
            yield {**body, name: wrong}


def check_error(response: Any, route: Route) -> dict[str, Any]:
    """Assert that an error has codes everywhere, and return its body."""
    error: dict[str, Any] = orjson.loads(response.content)
    assert error["error"], route.name
    # The specification gives the cap of destinations no code.
    assert CODE.fullmatch(error.get("code", "")) or "destinations" in error["error"], (route.name, error)
    for detail in error.get("details", ()):
        assert detail["message"], (route.name, error)
        assert CODE.fullmatch(detail["code"]), (route.name, error)
        assert detail["code"] != "invalid", (route.name, error)  # of DRF, for any wrong type
        assert "%(" not in detail["message"], (route.name, error)
    return error


@pytest.mark.sqlite_suffices
@each_route([route for route in ROUTES if route.method in {"POST", "PUT"}])
def test_malformed_bodies_are_refused_with_codes(route: Route, route_data: RouteData) -> None:
    client, refused, codes = owner_client(route, route_data), 0, set()
    path = route.path.format_map(route_data.ids)
    body = fill_ids(route.body, route_data.ids) if isinstance(route.body, dict) else None
    for malformed in malformed_bodies(body):
        response = client.call(route.method, path, malformed)
        if response.status_code >= 400:
            refused += 1
            error = check_error(response, route)
            codes |= {(detail["code"], detail["message"]) for detail in error.get("details", ())}
            assert response.status_code != 400 or error["code"] != "invalid" or error["details"], (route.name, error)
    assert refused or body is None, route.name
    known = {code: str(text) for code, text in registry.items() if not text.params and not text.placeholders}
    assert [(code, message) for code, message in codes if message != known.get(code, message)] == []
    assert {code for code, _ in codes} <= set(registry), route.name


@pytest.mark.sqlite_suffices
@each_route([route for route in ROUTES if not route.is_open and not route.path.startswith("/api/cron")])
def test_unauthenticated_error_is_in_the_language_of_the_browser(route: Route, route_data: RouteData) -> None:
    path = route.path.format_map(route_data.ids)
    errors = [
        check_error(client_of(None).call(route.method, path, HTTP_ACCEPT_LANGUAGE=language), route)
        for language in ("en", "de", "fr-CH, en;q=0.5", "es", "nn", "ja")
    ]
    assert {error["code"] for error in errors} == {"unauthenticated"}
    assert len({error["error"] for error in errors}) == 6


@pytest.mark.sqlite_suffices
def test_unknown_paths_and_broken_json_have_codes(client: Client) -> None:
    for path in ("/api/nothing", "/api/people/x/y/z"):
        assert orjson.loads(client.get(path, HTTP_ACCEPT_LANGUAGE="de").content) == {
            "error": "Unter dieser Adresse gibt es nichts.",
            "code": "not_found",
        }
