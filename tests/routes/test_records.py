"""ETag, 304 and If-Match of one record of each kind: a write with an outdated ETag is refused."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from tests.accounts.feed.reader import Replica
from tests.builders import UNKNOWN_ID, make_user
from tests.client import Client, client_of
from tests.concurrency import repeat_concurrently
from tests.pictures import picture, upload
from tests.routes.calls import fill_ids
from tests.routes.route_data import RouteData, apply_route_settings, make_route_data
from tests.routes.table import ROUTES

pytestmark = pytest.mark.sqlite_suffices


class Kind(NamedTuple):
    """A kind of record: its type in the feed, its key in responses, its path, and two bodies that change it."""

    type: str
    name: str
    path: str
    body: dict[str, Any]
    other: dict[str, Any]


DAY = {"title": "Met", "date": "2020-05-04"}
KINDS = [
    Kind("person", "person", "/api/people/{person}", {"surname": "One"}, {"surname": "Two"}),
    Kind("group", "group", "/api/groups/{group}", {"name": "One"}, {"name": "Two"}),
    Kind(
        "importantDate",
        "importantDate",
        "/api/people/{person}/important-dates/{date}",
        DAY,
        {**DAY, "title": "Met again"},
    ),
    Kind(
        "customFieldTemplate",
        "customFieldTemplate",
        "/api/custom-field-templates/{template}",
        {"name": "One"},
        {"name": "Two"},
    ),
    Kind("interaction", "interaction", "/api/interactions/{interaction}", {"title": "One"}, {"title": "Two"}),
    Kind("relationship", "relationship", "/api/relationships/{relationship}", {"notes": "One"}, {"notes": "Two"}),
    Kind("relationshipType", "relationshipType", "/api/relationship-types/{type}", {"label": "One"}, {"label": "Two"}),
    Kind("share", "share", "/api/shares/{share}", {"name": "One"}, {"name": "Two"}),
    Kind("destination", "endpoint", "/api/notifications/endpoints/{destination}", {"label": "One"}, {"label": "Two"}),
    Kind(
        "settings",
        "user",
        "/api/user/profile",
        {"name": "One", "email": "alice@example.org"},
        {"name": "Two", "email": "alice@example.org"},
    ),
]
#: Records that are not part of the feed.
NOT_IN_FEED = [
    Kind("connection", "connection", "/api/carddav/connection", {"username": "One"}, {"username": "Two"}),
    Kind("calendarFeed", "calendarFeed", "/api/calendar-feeds/{calendar_feed}", {"name": "One"}, {"name": "Two"}),
    Kind(
        "calendarSource",
        "calendarSource",
        "/api/calendar-sources/{calendar_source}",
        {"name": "One"},
        {"name": "Two"},
    ),
]
KINDS_WITH_TRASH = [kind for kind in KINDS if kind.type not in {"destination", "settings", "share"}]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
every_record = pytest.mark.parametrize("kind", [*KINDS, *NOT_IN_FEED], ids=lambda kind: kind.type)
every_kind_of_trash = pytest.mark.parametrize("kind", KINDS_WITH_TRASH, ids=lambda kind: kind.type)


def read(route_data: RouteData, kind: Kind, **headers: str) -> Any:
    return route_data.client.call("GET", kind.path.format_map(route_data.ids), **headers)


def change(route_data: RouteData, kind: Kind, body: Any, **headers: str) -> Any:
    return route_data.client.call("PUT", kind.path.format_map(route_data.ids), body, **headers)


def revision_of(route_data: RouteData) -> int:
    return User.objects.get(pk=route_data.owner.pk).revision


def test_every_conditional_record_is_tested(route_data: RouteData) -> None:
    copy = Replica(route_data.client)
    copy.catch_up()
    # Proposals and conflicts are answered, never changed.
    assert {kind for kind, _ in copy.records} - {"meetingProposal", "shareConflict"} == {kind.type for kind in KINDS}
    assert {kind.path for kind in [*KINDS, *NOT_IN_FEED]} <= {route.path for route in ROUTES if route.method == "GET"}


@every_kind
def test_etag_equals_that_of_the_change_feed(kind: Kind, route_data: RouteData) -> None:
    copy = Replica(route_data.client)
    copy.catch_up()
    response = read(route_data, kind)
    assert response["ETag"] == copy.etags[kind.type, response.json()[kind.name]["id"]]
    changed = change(route_data, kind, kind.body)
    copy.catch_up()
    changed_record = read(route_data, kind)
    assert changed_record["ETag"] != response["ETag"]
    assert changed_record["ETag"] == changed["ETag"] == copy.etags[kind.type, changed_record.json()[kind.name]["id"]]


@every_record
def test_record_is_304_until_it_changes(kind: Kind, route_data: RouteData) -> None:
    etag = read(route_data, kind)["ETag"]
    for known in (etag, f'"x", {etag}', f"W/{etag}", "*"):
        response = read(route_data, kind, HTTP_IF_NONE_MATCH=known)
        assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag)
        assert response["Cache-Control"] == "private, no-cache"
    assert read(route_data, kind, HTTP_IF_NONE_MATCH='"x"').status_code == 200
    change(route_data, kind, kind.body)
    assert read(route_data, kind, HTTP_IF_NONE_MATCH=etag).status_code == 200


def test_person_is_304_after_unrelated_writes(route_data: RouteData) -> None:
    kind = KINDS[0]
    etag = read(route_data, kind)["ETag"]
    route_data.client.ok("PUT", "/api/user/theme", {"theme": "DARK"})
    assert read(route_data, kind, HTTP_IF_NONE_MATCH=etag).status_code == 304


def test_304_takes_only_the_query_of_the_authentication(route_data: RouteData) -> None:
    kind = KINDS[0]
    etag = read(route_data, kind)["ETag"]
    with CaptureQueriesContext(connection) as queries:
        assert read(route_data, kind, HTTP_IF_NONE_MATCH=etag).status_code == 304
    assert len(queries) == 1


def test_renaming_a_group_changes_the_response_but_not_the_persons_etag(route_data: RouteData) -> None:
    client, path = route_data.client, KINDS[0].path.format_map(route_data.ids)
    client.ok("PUT", path, {"groupIds": [route_data.ids["group"]]})
    etag = client.call("GET", path)["ETag"]
    client.ok("PUT", f"/api/groups/{route_data.ids['group']}", {"name": "Another name"})
    assert client.call("GET", path, HTTP_IF_NONE_MATCH=etag)["ETag"] != etag
    assert client.call("PUT", path, {"surname": "One"}, HTTP_IF_MATCH=etag).status_code == 200


@every_record
def test_write_with_a_current_etag_succeeds(kind: Kind, route_data: RouteData) -> None:
    etag = read(route_data, kind)["ETag"]
    for header in ("{}", '"other", {}', "*", '{},W/"a,b"'):
        response = change(route_data, kind, kind.body, HTTP_IF_MATCH=header.format(etag))
        assert response.status_code == 200, response.content
        etag = response["ETag"]


@every_record
def test_write_with_an_outdated_etag_is_refused(kind: Kind, route_data: RouteData) -> None:
    etag = read(route_data, kind)["ETag"]
    change(route_data, kind, kind.body)
    now, revision = read(route_data, kind), revision_of(route_data)
    for header in (etag, f"W/{now['ETag']}", '"x"', "x", "", f'"{"f" * 40}-0123456789abcdef"'):
        response = change(route_data, kind, kind.other, HTTP_IF_MATCH=header)
        assert (response.status_code, response.json()["code"], response["ETag"]) == (412, "stale", now["ETag"]), header
        assert response.json()["current"] == now.json()[kind.name]
    assert revision_of(route_data) == revision
    assert read(route_data, kind)["ETag"] == now["ETag"]


@every_kind
def test_etag_of_a_compressed_response_is_accepted(kind: Kind, route_data: RouteData) -> None:
    etag = read(route_data, kind)["ETag"]
    compressed = f'{etag[:-1]}-gzip"'
    assert change(route_data, kind, kind.body, HTTP_IF_MATCH=compressed).status_code == 200
    assert change(route_data, kind, kind.other, HTTP_IF_MATCH=compressed).status_code == 412


@pytest.mark.both_databases
@every_kind_of_trash
def test_delete_and_restore_check_the_etag(kind: Kind, route_data: RouteData) -> None:
    client, path = route_data.client, kind.path.format_map(route_data.ids)
    if kind.type == "relationshipType":  # a type that is in use cannot be deleted
        made = client.ok("POST", "/api/relationship-types", {"name": "new", "label": "New", "symmetric": True})
        path = f"/api/relationship-types/{made['relationshipType']['id']}"
    old = client.call("GET", path)["ETag"]
    current = client.call("PUT", path, kind.body)["ETag"]
    assert client.call("DELETE", path, HTTP_IF_MATCH=old).status_code == 412
    assert client.call("DELETE", path, HTTP_IF_MATCH=current).status_code == 200
    refused = client.call("POST", f"{path}/restore", HTTP_IF_MATCH=current)
    assert (refused.status_code, refused.json()["code"]) == (412, "stale")
    assert refused.json()["current"]["deletedAt"]
    assert client.call("DELETE", f"{path}/permanent", HTTP_IF_MATCH=current).status_code == 412
    restored = client.call("POST", f"{path}/restore", HTTP_IF_MATCH=refused["ETag"])
    assert (restored.status_code, restored["ETag"]) == (200, client.call("GET", path)["ETag"])
    client.ok("DELETE", path, HTTP_IF_MATCH="*")
    client.ok("DELETE", f"{path}/permanent", HTTP_IF_MATCH="*")


def test_deleting_a_destination_checks_the_etag(route_data: RouteData) -> None:
    kind = next(kind for kind in KINDS if kind.type == "destination")
    path = kind.path.format_map(route_data.ids)
    old = read(route_data, kind)["ETag"]
    current = change(route_data, kind, kind.body)["ETag"]
    assert route_data.client.call("DELETE", path, HTTP_IF_MATCH=old).status_code == 412
    assert route_data.client.call("DELETE", path, HTTP_IF_MATCH=current).status_code == 200


def _add_member(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("POST", f"/api/groups/{ids['group']}/members", {"personId": ids["person"]}, **headers)


def _remove_member(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("DELETE", f"/api/groups/{ids['group']}/members/{ids['person']}", **headers)


def _set_photo(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return upload(client, f"/api/people/{ids['person']}/photo", picture("PNG"), **headers)


def _delete_photo(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("DELETE", f"/api/people/{ids['person']}/photo", **headers)


def _set_own_photo(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return upload(client, "/api/user/photo", picture("PNG"), **headers)


def _delete_own_photo(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("DELETE", "/api/user/photo", **headers)


def _set_theme(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("PUT", "/api/user/theme", {"theme": "DARK"}, **headers)


def _disable_email(client: Client, ids: dict[str, str], **headers: str) -> Any:
    return client.call("PUT", "/api/notifications/email", {"enabled": False}, **headers)


WRITES_OF_PARTS: list[tuple[str, Callable[..., Any], bool]] = [
    ("group", _add_member, False),
    ("group", _remove_member, False),
    ("person", _set_photo, True),
    ("person", _delete_photo, True),
    ("settings", _set_own_photo, True),
    ("settings", _delete_own_photo, True),
    ("settings", _set_theme, True),
    ("settings", _disable_email, True),
]


@pytest.mark.parametrize(("type_", "write", "sends_etag"), WRITES_OF_PARTS)
def test_writes_of_a_part_check_the_etag_of_the_record(
    type_: str, write: Any, sends_etag: bool, route_data: RouteData
) -> None:
    kind = next(kind for kind in KINDS if kind.type == type_)
    old = read(route_data, kind)["ETag"]
    current = change(route_data, kind, kind.body)["ETag"]
    revision = revision_of(route_data)
    refused = write(route_data.client, route_data.ids, HTTP_IF_MATCH=old)
    assert (refused.status_code, refused.json()["code"]) == (412, "stale")
    assert refused.json()["current"] == read(route_data, kind).json()[kind.name]
    assert revision_of(route_data) == revision
    response = write(route_data.client, route_data.ids, HTTP_IF_MATCH=current)
    assert response.status_code == 200
    assert response.headers.get("ETag") == (read(route_data, kind)["ETag"] if sends_etag else None)


def test_deleting_the_connection_checks_the_etag(route_data: RouteData) -> None:
    kind, client = NOT_IN_FEED[0], route_data.client
    old = read(route_data, kind)["ETag"]
    current = change(route_data, kind, kind.body)["ETag"]
    assert client.call("DELETE", kind.path, HTTP_IF_MATCH=old).status_code == 412
    assert client.call("DELETE", kind.path, HTTP_IF_MATCH=current).status_code == 200
    assert change(route_data, kind, kind.body, HTTP_IF_MATCH=current).status_code == 404


def test_repeated_request_with_a_key_ignores_the_outdated_etag(route_data: RouteData) -> None:
    """A repeated response does not check If-Match again, although the ETag is outdated, or would be accepted now."""
    client, path = route_data.client, KINDS[0].path.format_map(route_data.ids)
    client.ok("DELETE", path)
    stale = client.call("POST", f"{path}/restore", HTTP_IF_MATCH='"1-0123456789abcdef"', HTTP_IDEMPOTENCY_KEY="first")
    assert stale.status_code == 412
    restore = {"HTTP_IF_MATCH": stale["ETag"], "HTTP_IDEMPOTENCY_KEY": "second"}
    restored, revision = client.call("POST", f"{path}/restore", **restore), revision_of(route_data)
    assert restored.status_code == 200
    repeated = client.call("POST", f"{path}/restore", **restore)
    assert (repeated.status_code, repeated.content, repeated["ETag"]) == (
        200,
        restored.content,
        restored["ETag"],
    )
    client.ok("DELETE", path)
    refused = client.call("POST", f"{path}/restore", HTTP_IF_MATCH="*", HTTP_IDEMPOTENCY_KEY="first")
    assert (refused.status_code, refused["Idempotent-Replayed"]) == (412, "true")
    assert refused.content == stale.content
    assert revision_of(route_data) > revision


@every_kind
def test_missing_record_is_404_with_if_match(kind: Kind, route_data: RouteData) -> None:
    if "{" not in kind.path:
        return
    ids = {**route_data.ids, **dict.fromkeys(route_data.ids, UNKNOWN_ID)}
    for header in ("*", '"1-0123456789abcdef"'):
        response = route_data.client.call("PUT", kind.path.format_map(ids), kind.body, HTTP_IF_MATCH=header)
        assert response.status_code == 404


@every_kind_of_trash
def test_etags_do_not_reveal_records_of_others(kind: Kind, route_data: RouteData, stranger: Client) -> None:
    path = kind.path.format_map(route_data.ids)
    for method in ("PUT", "DELETE"):
        response = stranger.call(method, path, kind.body, HTTP_IF_MATCH='"1-0123456789abcdef"')
        assert response.status_code == 404


CREATES = [
    route
    for route in ROUTES
    if route.method == "POST"
    and route.path
    in {
        *("/api/people", "/api/groups", "/api/custom-field-templates", "/api/relationship-types"),
        *("/api/relationships", "/api/notifications/endpoints", "/api/people/{person}/important-dates"),
        "/api/interactions",
    }
]


@pytest.mark.parametrize("route", CREATES, ids=lambda route: route.path)
def test_created_record_is_returned_with_its_etag(route: Any, route_data: RouteData) -> None:
    client, path = route_data.client, route.path.format_map(route_data.ids)
    response = client.call("POST", path, fill_ids(route.body, route_data.ids))
    assert response.status_code == route.owner
    [record] = [value for value in response.json().values() if isinstance(value, dict)]
    assert client.call("GET", f"{path}/{record['id']}")["ETag"] == response["ETag"]


@pytest.fixture
def transactional_data(transactional_db: None, settings: Any) -> RouteData:
    apply_route_settings(settings)
    # Those of the file are committed, and an address is proven once. The end of this test flushes the tables.
    User.objects.all().delete()
    return make_route_data(make_user("alice@example.org", name="Alice"))


@pytest.mark.both_databases
def test_concurrent_writes_with_one_etag_succeed_once(transactional_data: RouteData) -> None:
    for kind in (*KINDS, *NOT_IN_FEED):
        path = kind.path.format_map(transactional_data.ids)
        etag = read(transactional_data, kind)["ETag"]
        bodies = [{**kind.body, key: f"Twin {number}"} for number in range(4) for key in [next(iter(kind.other))]]
        send = partial(_put_body, path, bodies, etag)
        statuses = repeat_concurrently(transactional_data.owner, len(bodies), send)
        assert statuses == {200: 1, 412: len(bodies) - 1}, kind
        # Without concurrent writes, the same request with the current ETag succeeds.
        client = client_of(transactional_data.owner)
        etag = client.call("GET", path)["ETag"]
        client = client_of(transactional_data.owner)
        assert client.call("PUT", path, bodies[0], HTTP_IF_MATCH=etag).status_code == 200, kind


def _put_body(path: str, bodies: list[Any], etag: str, client: Client, number: int) -> Any:
    return client.generic("PUT", path, orjson.dumps(bodies[number]), "application/json", HTTP_IF_MATCH=etag)
