"""Every route and method x anonymous, stranger, read-only token, owner. A route missing from the table fails."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User
from accounts.vocabularies import TokenScope
from contacts_project.kernel.ownership.models import OwnedModel
from tests.builders import UNKNOWN_ID, make_token
from tests.client import Client, client_of
from tests.routes.calls import SAFE, each_route, owner_client, send
from tests.routes.openapi import check_value, normalize_path, operations
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route

WRITE = re.compile(r'(INSERT INTO|UPDATE|DELETE FROM) "(\w+)"')
# Credentials are not part of any response with an ETag, and reads update them too.
CREDENTIALS = {
    *("accounts_apitoken", "accounts_accountsession", "accounts_appcode"),
    *(model._meta.db_table for model in apps.get_app_config("dav").get_models()),  # of app passwords
}
# A sync that finds nothing leaves every ETag as it is, though it has a lease and a history; and so does a write that is
# rolled back, before which the memberships of shares are marked as due.
SYNC_RECORDS = {"carddav_connection", "carddav_run", "meetings_calendarsource", "sharing_sharemembership"}
#: Creates whose bodies contain no id of another record.
EXAMPLES_TO_SEND = {"/api/people", "/api/groups", "/api/custom-field-templates", "/api/relationship-types"}


def served_routes() -> Iterator[tuple[str, str]]:
    """Every method and normalized path below /api/ that the URL configuration serves."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            path = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, path)
            elif path.startswith("api/"):
                for method in methods(pattern.callback):
                    yield method, normalize_path(f"/{path}")

    yield from walk(get_resolver().url_patterns, "")


def methods(view: Any) -> set[str]:
    """The HTTP methods that a view supports."""
    if actions := getattr(view, "actions", None):
        return {method.upper() for method in actions if method != "head"}
    cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if cls is None:
        return {"GET"}
    return {name.upper() for name in ("get", "post", "put", "patch", "delete") if hasattr(cls, name)}


def test_table_has_exactly_the_existing_routes() -> None:
    assert {(route.method, normalize_path(route.path)) for route in ROUTES} == set(served_routes())


def test_every_route_is_described(db: None) -> None:
    undescribed = {("GET", "/api/openapi.json"), ("GET", "/api/docs")}
    assert set(operations()) == set(served_routes()) - undescribed


def test_example_bodies_of_the_description_are_accepted(route_data: RouteData) -> None:
    for route in ROUTES:
        body = operations().get((route.method, normalize_path(route.path)), {}).get("requestBody", {})
        media = body.get("content", {}).get("application/json")
        if media and route.path in EXAMPLES_TO_SEND:
            route_data.client.ok(route.method, route.path, media["example"], status=route.owner)


@pytest.mark.split
@each_route([route for route in ROUTES if route.is_open])
def test_anonymous_caller(route: Route, route_data: RouteData) -> None:
    assert send(client_of(None), route, route_data.ids).status_code not in {401, 403}


def test_other_routes_refuse_anonymous_callers(route_data: RouteData) -> None:
    for route in ROUTES:
        if not route.is_open:
            response = send(client_of(None), route, route_data.ids)
            assert response.status_code == 401, route.name
            assert response["WWW-Authenticate"].startswith("Bearer"), route.name


@pytest.mark.split
@each_route([route for route in ROUTES if route.names_a_record or route.foreign_body])
def test_stranger_gets_the_response_for_unknown_ids(route: Route, route_data: RouteData, mallory: User) -> None:
    """A foreign id is answered like an unknown one."""
    client = client_of(mallory)
    response = send(client, route, route_data.ids)
    expected = {404} if route.names_a_record else {400, 404}
    if route.session_only:
        expected = {403}
    assert response.status_code in expected, response.content
    unknown = send(client, route, dict.fromkeys(route_data.ids, UNKNOWN_ID))
    assert (response.status_code, response.content) == (unknown.status_code, unknown.content)


def test_malformed_id_answers_like_an_unknown_one(route_data: RouteData) -> None:
    for route in ROUTES:
        if not (route.names_a_record and re.search(r"\{\w+\}", route.path)):
            continue
        unknown, malformed = (
            route_data.client.call(route.method, re.sub(r"\{\w+\}", text, route.path)) for text in (UNKNOWN_ID, "no-id")
        )
        assert unknown.status_code == (403 if route.session_only else 404), route.name
        assert (malformed.status_code, malformed.content) == (unknown.status_code, unknown.content), route.name
        anonymous = Client().call(route.method, re.sub(r"\{\w+\}", "no-id", route.path))
        assert anonymous.status_code in {401, 403}, route.name


#: Routes that a read-only token may call.
READABLE = [route for route in ROUTES if route.method in SAFE and not (route.is_open or route.session_only)]


@pytest.mark.split
@each_route([route for route in READABLE if not route.own_credential])
def test_read_only_token(route: Route, route_data: RouteData) -> None:
    client = client_of(None)
    client.bearer = make_token(route_data.owner, TokenScope.READ)
    with CaptureQueriesContext(connection) as queries:
        response = send(client, route, route_data.ids)
        b"".join(response)
    assert response.status_code == route.owner
    assert {match[2] for query in queries if (match := WRITE.match(query["sql"]))} <= CREDENTIALS


def test_other_routes_refuse_a_read_only_token(route_data: RouteData) -> None:
    client = client_of(None)
    client.bearer = make_token(route_data.owner, TokenScope.READ)
    for route in ROUTES:
        if not (route.is_open or route.own_credential or route in READABLE):
            response = send(client, route, route_data.ids)
            assert response.status_code == 403, route.name
            assert response.json()["code"] in {"read_only_token", "session_required"}, route.name


@each_route([route for route in ROUTES if not route.own_credential])
def test_owner_gets_the_expected_status(route: Route, route_data: RouteData) -> None:
    """Whatever changes owned rows raises the account's revision, and with it every ETag."""
    client, before = owner_client(route, route_data), revision_of(route_data.owner)
    with CaptureQueriesContext(connection) as queries:
        response = send(client, route, route_data.ids)
        content = b"".join(response.streaming_content) if response.streaming else response.content
    assert response.status_code == route.owner, content
    assert response["Cache-Control"] in {"no-store", "private, no-cache"}
    if response.streaming and "json" in response["Content-Type"]:
        media_types = operations()[route.method, normalize_path(route.path)]["responses"]["200"]["content"]
        check_value(media_types["application/json"]["schema"], orjson.loads(content))
    written = {match[2] for query in queries if (match := WRITE.match(query["sql"]))} & owned_tables()
    if written - CREDENTIALS - SYNC_RECORDS and not route.is_open:
        assert revision_of(route_data.owner) > before, written


def revision_of(user: User) -> int:
    """The account's current revision; higher than any other if the account is deleted."""
    return User.objects.filter(pk=user.pk).values_list("revision", flat=True).first() or 2**62


def owned_tables() -> set[str]:
    return {model._meta.db_table for model in apps.get_models() if issubclass(model, OwnedModel)}


@pytest.mark.one_database
def test_a_trailing_slash_is_404(route_data: RouteData) -> None:
    for route in ROUTES:
        path = route.path.format_map(route_data.ids).partition("?")[0]
        assert route_data.client.call(route.method, path + "/").status_code == 404, route.name


#: Content negotiation does not depend on the method, so GET alone is tested.
READS = [route for route in ROUTES if route.method == "GET" and not (route.own_credential or route.session_only)]
#: The one route with a parameter of that name.
_HAS_FORMAT = "/api/people/addresses"


@pytest.mark.one_database
@each_route([route for route in READS if not (callable(route.body) or route.path.startswith(_HAS_FORMAT))])
def test_accept_header_and_format_parameter_are_ignored(route: Route, route_data: RouteData) -> None:
    """The API never answers 406, and `?format=` is ignored like any unknown parameter."""
    path = route.path.format_map(route_data.ids)
    response = route_data.client.call("GET", f"{path}{'&' if '?' in path else '?'}format=xml", HTTP_ACCEPT="audio/ogg")
    assert response.status_code == route.owner
