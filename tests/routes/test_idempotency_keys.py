"""Every POST does with an Idempotency-Key what it does without one, and repeats its response when it is sent again."""

import pytest

from accounts.models import StoredResponse
from tests.routes.calls import owner_client, send
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route

pytestmark = pytest.mark.sqlite_suffices

POSTS = [route for route in ROUTES if route.method == "POST" and not route.is_open and not route.own_credential]
# Their responses are not stored: they contain a secret, stream, change nothing, or end the session.
NOT_STORED = {
    "POST /api/auth/logout",
    "POST /api/user/import/validate",
    "POST /api/user/mfa/totp",
    "POST /api/user/mfa/totp/confirm",
    "POST /api/user/mfa/recovery-codes",
    "POST /api/user/api-tokens",
    "POST /api/notifications/endpoints",
    "POST /api/calendar-feeds",
    "POST /api/calendar-feeds/{calendar_feed}/rotate",
    "POST /api/carddav/backup",
    "POST /api/carddav/sync",
    "POST /api/photos/convert",
}


@pytest.mark.split
@pytest.mark.parametrize("route", POSTS, ids=lambda route: route.name)
def test_first_request_with_a_key_answers_as_without_one(route: Route, route_data: RouteData) -> None:
    client = owner_client(route, route_data)
    client.defaults["HTTP_IDEMPOTENCY_KEY"] = "once"
    first = send(client, route, route_data.ids)
    assert first.status_code == route.owner
    if route.name in NOT_STORED:
        assert not StoredResponse.unscoped.exists()
        return
    second = send(client, route, route_data.ids)
    if first.status_code < 500 and first.status_code != 429:
        assert (second.status_code, second.content) == (first.status_code, first.content)
        assert second["Idempotent-Replayed"] == "true"


def test_exceptions_without_stored_responses_are_routes() -> None:
    assert {route.name for route in POSTS} >= NOT_STORED
