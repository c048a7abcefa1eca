"""POST /api/batch: many requests in one. Each gets the response that it would get alone; atomic: all or none run."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as project
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from accounts.api import batch_runner
from accounts.api.decorators import is_allowed_in_batch
from accounts.models import StoredResponse, User
from accounts.vocabularies import TokenScope
from contacts_project.kernel.api.body_limit import limit_of
from contacts_project.kernel.ownership.account_lock import account_write
from people.api.groups import GroupViewSet
from people.models import Group, Person
from tests.builders import UNKNOWN_ID, make_person, make_token, make_user
from tests.client import Client, client_of
from tests.concurrency import repeat_concurrently, run_concurrently
from tests.routes.calls import each_route, fill_ids
from tests.routes.conftest import committed_route_data, route_data
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route

__all__ = ["committed_route_data", "route_data"]  # fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]
BATCH = "/api/batch"


def operation(method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    made = {"method": method, "path": path, "headers": {name.replace("_", "-"): text for name, text in headers.items()}}
    return made if body is None else {**made, "body": body}


READ = operation("GET", "/api/people")


def group(name: str, **headers: str) -> dict[str, Any]:
    return operation("POST", "/api/groups", {"name": name}, **headers)


def run_batch(client: Client, *operations: Any, atomic: bool = False, **extra: Any) -> list[dict[str, Any]]:
    body = {"operations": list(operations), "atomic": atomic}
    results: list[dict[str, Any]] = client.ok("POST", BATCH, body, **extra)["results"]
    assert len(results) == len(operations)
    return results


def statuses(results: list[dict[str, Any]]) -> list[int]:
    return [result["status"] for result in results]


def revision_of(user: User) -> int:
    return User.objects.get(pk=user.pk).revision


def test_results_are_in_order_and_a_failure_does_not_stop_the_others(api: Client, ada: Person) -> None:
    results = run_batch(
        api,
        group("Friends"),
        group("Friends"),
        operation("PUT", f"/api/people/{ada.pk}", {"surname": "Lovelace"}),
        operation("GET", f"/api/people/{ada.pk}"),
        operation("DELETE", f"/api/people/{ada.pk}"),
        operation("GET", "/api/people/search?q=nobody"),
        operation("PATCH", "/api/groups", {}),
    )
    assert statuses(results) == [201, 400, 200, 200, 200, 200, 405]
    assert results[3]["body"]["person"]["surname"] == "Lovelace"
    assert results[1]["body"]["details"][0]["field"] == "name"
    assert results[5]["body"] == {"people": []}


def test_operation_reads_what_earlier_operations_wrote(api: Client) -> None:
    """The settings of the caller too, although the user row is read once."""
    for atomic in (False, True):
        theme = operation("PUT", "/api/user/theme", {"theme": "DARK" if atomic else "LIGHT"})
        results = run_batch(
            api, theme, operation("GET", "/api/user/profile"), operation("GET", "/api/version"), atomic=atomic
        )
        assert results[1]["body"]["user"]["theme"] == ("DARK" if atomic else "LIGHT")


def test_atomic_batch_is_one_write(api: Client, alice: User, ada: Person) -> None:
    before = revision_of(alice)
    member = operation("PUT", f"/api/people/{ada.pk}", {"surname": "Lovelace"})
    assert statuses(run_batch(api, group("One"), group("Two"), member, atomic=True)) == [201, 201, 200]
    assert revision_of(alice) == before + 1
    changed = api.ok("GET", "/api/changes")["changes"]
    assert {change["revision"] for change in changed if change["type"] in {"group", "person"}} == {before + 1}


@pytest.mark.parametrize(
    ("failing", "status"),
    [
        (group("One"), 400),
        (operation("PUT", f"/api/people/{UNKNOWN_ID}", {}), 404),
        (operation("GET", "/api/nowhere"), 404),
        (operation("POST", "/api/batch", {"operations": []}), 400),
        (operation("POST", "/api/carddav/connection", {}), 400),
        (operation("PUT", "/api/user/profile", {"name": "Alice", "email": "alice@example.org"}), 400),
    ],
)
def test_failure_rolls_back_an_atomic_batch(api: Client, alice: User, failing: dict[str, Any], status: int) -> None:
    before, groups = revision_of(alice), Group.unscoped.count()
    results = run_batch(api, group("One"), group("Two"), failing, group("Three"), atomic=True)
    assert statuses(results) == [424, 424, status, 424]
    assert results[0]["body"] == results[3]["body"]
    assert results[0]["body"]["code"] == "batch_failed"
    assert (revision_of(alice), Group.unscoped.count()) == (before, groups)


def test_a_rolled_back_batch_sends_no_signals(
    api: Client, ada: Person, django_capture_on_commit_callbacks: Any
) -> None:
    rename = operation("PUT", f"/api/people/{ada.pk}", {"surname": "Lovelace"})
    with django_capture_on_commit_callbacks() as callbacks:
        run_batch(api, rename, operation("GET", "/api/nowhere"), atomic=True)
    assert callbacks == []


@pytest.mark.both_databases
def test_server_error_is_500_for_its_operation_and_424_for_the_others(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: GroupViewSet, request: Any, *args: Any, **kwargs: Any) -> Any:
        Group.objects.owned_by(self.owner).update(color="#000000")
        raise ZeroDivisionError

    made = api.ok("POST", "/api/groups", {"name": "Old", "color": "#FFFFFF"}, status=201)["group"]
    monkeypatch.setattr(GroupViewSet, "destroy", fail)  # after the first response, when the routes have been described
    broken = operation("DELETE", f"/api/groups/{made['id']}")
    assert statuses(run_batch(api, group("One"), broken, group("Two"), atomic=True)) == [424, 500, 424]
    assert [row["name"] for row in api.ok("GET", "/api/groups")["groups"]] == ["Old"]


# What a batch leaves out, by routes that its table test knows; all others are answered as alone.
EXCLUDED_ROUTES = {
    "POST /api/auth/logout",
    "GET /api/auth/session",
    "DELETE /api/auth/token",
    "POST /api/batch",
    "PUT /api/user/password",
    "DELETE /api/user/delete",
    "GET /api/changes/stream",
    "GET /api/user/export",
    "POST /api/user/import",
    "POST /api/user/import/validate",
    "POST /api/import/{source}",
    "POST /api/import/csv/inspect",
    "POST /api/vcard/import",
    "GET /api/vcard/export",
    "GET /api/user/devices/{api_token}/profile",
    "GET /api/people/addresses?format=csv",
    "POST /api/vcard/upload",
    "POST /api/carddav/backup",
    "POST /api/carddav/sync",
    "POST /api/people/{person}/photo",
    "GET /api/photos/user",
    "GET /api/photos/{person}",
    "POST /api/user/photo",
    "POST /api/photos/convert",
    "POST /api/shares/{share}/invitations",
    "DELETE /api/shares/{share}/invitations/{invitation}",
    "POST /api/share-invitations/{received}/accept",
    "POST /api/share-invitations/{received}/decline",
}
NON_ATOMIC_ROUTES = {
    "PUT /api/user/profile",
    "DELETE /api/imports/{import}",
    "POST /api/notifications/endpoints",
    "POST /api/notifications/push/subscribe",
    "PUT /api/notifications/endpoints/{destination}",
    "POST /api/notifications/endpoints/{destination}/test",
    "POST /api/notifications/push/subscriptions/{push_subscription}/test",
    "POST /api/carddav/connection",
    "PUT /api/carddav/connection",
    "DELETE /api/carddav/connection",
    "POST /api/carddav/connection/test",
    "POST /api/carddav/runs/{run}/undo",
    "POST /api/user/devices/{api_token}/undo-deletions",
    "POST /api/carddav/discover",
    "POST /api/carddav/held-back/{held_back}/retry",
    "POST /api/carddav/import",
    "POST /api/carddav/export-bulk",
    "POST /api/carddav/conflicts/{conflict}/resolve",
    "DELETE /api/people/{person}/photo",
    "DELETE /api/user/photo",
    "POST /api/calendar-sources",
    "PUT /api/calendar-sources/{calendar_source}",
    "POST /api/calendar-sources/test",
    "POST /api/calendar-sources/{calendar_source}/read",
    "POST /api/shares/{share}/waiting",
    "POST /api/shares/{share}/log/{share_log_entry}/undo",
}


def is_refused(route: Route) -> bool:
    return route.is_open or route.session_only or route.own_credential or route.name in EXCLUDED_ROUTES


def operation_of(route: Route, route_data: RouteData) -> Any:
    body = None if callable(route.body) else fill_ids(route.body, route_data.ids)
    return operation(route.method, route.path.format_map(route_data.ids), body)


@pytest.mark.one_database
@each_route([route for route in ROUTES if not is_refused(route)])
def test_every_route_answers_in_a_batch_as_it_does_alone(route: Route, route_data: RouteData) -> None:
    """The status is that of the route table, in an atomic batch and in one that is not."""
    for atomic in (False, True):
        with transaction.atomic():
            [result] = run_batch(route_data.client, operation_of(route, route_data), atomic=atomic)
            transaction.set_rollback(True)
        if atomic and route.name in NON_ATOMIC_ROUTES:
            assert (result["status"], result["body"]["code"]) == (400, "not_in_batch")
        else:
            assert result["status"] == route.owner, result["body"]


@pytest.mark.one_database
def test_excluded_routes_are_refused_with_400(route_data: RouteData) -> None:
    for route, atomic in product(filter(is_refused, ROUTES), (False, True)):
        [result] = run_batch(route_data.client, operation_of(route, route_data), atomic=atomic)
        if route.path == "/api/docs":  # a page
            assert result["status"] == 404
        else:
            assert (result["status"], result["body"]["code"]) == (400, "not_in_batch"), route.name


def test_the_excluded_routes_exist() -> None:
    assert {route.name for route in ROUTES} >= EXCLUDED_ROUTES | NON_ATOMIC_ROUTES


UNKNOWN_PATHS = [
    "/",
    "/api",
    "/api/people/",
    "/metrics",
    "/admin/",
    "/api/docs/x",
    "api/people",
    "//api/people",
    "http://127.0.0.1/api/people",
    "/api/../api/people",
    "/api/people#x",
    "/api/é",
    "/people/x",
    "/api/people%00",
]


@pytest.mark.one_database
def test_an_unknown_path_is_404(api: Client) -> None:
    results = run_batch(api, *(operation("GET", path) for path in UNKNOWN_PATHS))
    for path, result in zip(UNKNOWN_PATHS, results, strict=True):
        assert (result["status"], result["body"]["code"]) == (404, "not_found"), path


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "operations"),
        ({"operations": []}, "operations"),
        ({"operations": [operation("GET", "/api/version")] * 101}, "operations"),
        ({"operations": [5]}, "operations.0"),
        ({"operations": [{"path": "/api/people"}]}, "operations.0.method"),
        ({"operations": [operation("TRACE", "/api/people")]}, "operations.0.method"),
        ({"operations": [operation("GET", "/api/people"), {"method": "GET", "path": 5}]}, "operations.1.path"),
        ({"operations": [{**operation("GET", "/api/people"), "headers": []}]}, "operations.0.headers"),
        ({"operations": [{**operation("GET", "/api/people"), "headers": {"If-Match": 1}}]}, "operations.0.headers"),
        (
            {"operations": [{**operation("GET", "/api/people"), "headers": {"if-match": "a\r\nb: c"}}]},
            "operations.0.headers",
        ),
        ({"operations": [operation("GET", "/api/version")], "atomic": 1}, "atomic"),
    ],
)
def test_invalid_batch_is_refused_as_a_whole(api: Client, body: Any, field: str) -> None:
    response = api.ok("POST", BATCH, body, status=400)
    assert response["details"][0]["field"].startswith(field)


def test_batch_has_at_most_a_hundred_operations(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_runner, "MAX_ATOMIC_SECONDS", 120.0)  # however slow this machine is
    reads = [operation("GET", "/api/version")] * 98
    results = run_batch(api, group("First"), *reads, group("Last"), atomic=True)
    assert statuses(results) == [201, *[200] * 98, 201]
    assert Group.objects.owned_by(alice).count() == 2


def test_read_only_token_cannot_send_a_batch(alice: User) -> None:
    client = Client()
    client.bearer = make_token(alice, TokenScope.READ)
    response = client.ok("POST", BATCH, {"operations": [operation("GET", "/api/people")]}, status=403)
    assert response["code"] == "read_only_token"


def test_session_needs_one_csrf_token_for_the_batch(alice: User, browser: Client) -> None:
    browser.force_login(alice)
    body = {"operations": [group("One"), operation("GET", "/api/user/sessions")]}
    assert browser.ok("POST", BATCH, body, status=403)["code"] == "csrf"
    csrf = browser.ok("GET", "/api/auth/csrf")["csrfToken"]
    results = browser.ok("POST", BATCH, body, HTTP_X_CSRFTOKEN=csrf)["results"]
    assert statuses(results) == [201, 200]


def test_records_of_other_accounts_are_404(stranger: Client, ada: Person, mallory: User) -> None:
    for atomic in (False, True):
        [result] = run_batch(stranger, operation("PUT", f"/api/people/{ada.pk}", {"name": "Mine"}), atomic=atomic)
        assert result == {"status": 404, "body": {"error": "Not found.", "code": "not_found"}}
    dates = operation("POST", "/api/groups", {"name": "x", "peopleIds": [str(ada.pk)]})
    assert run_batch(stranger, dates)[0]["body"]["details"][0]["field"].startswith("peopleIds")


def test_operation_headers_other_than_if_match_and_idempotency_key_are_ignored(api: Client, ada: Person) -> None:
    etag = api.call("GET", f"/api/people/{ada.pk}")["ETag"]
    change = partial(operation, "PUT", f"/api/people/{ada.pk}")
    results = run_batch(api, change({"surname": "One"}, if_match=etag), change({"surname": "Two"}, If_Match=etag))
    assert statuses(results) == [200, 412]
    assert results[1]["body"]["current"]["surname"] == "One"
    ignored = {"Authorization": "Bearer cnt_x", "If-None-Match": "*", "X-Request-ID": "x", "Content-Type": "text/x"}
    assert run_batch(api, {**change({"surname": "3"}), "headers": ignored})[0]["status"] == 200
    results = run_batch(api, change({"surname": "4"}, if_match='"1-0123456789abcdef"'), group("x"), atomic=True)
    assert statuses(results) == [412, 424]


def test_an_edit_in_the_batch_makes_an_earlier_etag_stale(api: Client, ada: Person) -> None:
    etag = api.call("GET", f"/api/people/{ada.pk}")["ETag"]
    change = partial(operation, "PUT", f"/api/people/{ada.pk}", if_match=etag)
    assert statuses(run_batch(api, change({"surname": "One"}), change({"surname": "Two"}), atomic=True)) == [424, 412]
    assert api.ok("GET", f"/api/people/{ada.pk}")["person"]["surname"] is None


def test_operation_has_its_own_idempotency_key(api: Client, alice: User) -> None:
    for atomic in (False, True):
        first = run_batch(api, group(f"Group {atomic}", idempotency_key=f"key {atomic}"), atomic=atomic)
        again = run_batch(
            api, group(f"Group {atomic}", idempotency_key=f"key {atomic}"), group(f"{atomic}"), atomic=atomic
        )
        assert again[0] == first[0]
        alone = api.call("POST", "/api/groups", {"name": f"Group {atomic}"}, HTTP_IDEMPOTENCY_KEY=f"key {atomic}")
        assert (alone.status_code, alone["Idempotent-Replayed"]) == (201, "true")
    assert Group.objects.owned_by(alice).count() == 4


def test_rolled_back_batch_stores_no_responses_of_its_operations(api: Client) -> None:
    failing = group("One", idempotency_key="second")
    assert statuses(run_batch(api, group("One", idempotency_key="first"), failing, atomic=True)) == [424, 400]
    assert not StoredResponse.unscoped.exists()
    assert statuses(run_batch(api, group("One", idempotency_key="first"), atomic=True)) == [201]


@pytest.mark.parametrize("atomic", [False, True])
def test_batch_has_an_idempotency_key(api: Client, alice: User, atomic: bool) -> None:
    for operations in ([group("One"), group("Two")], [group("Three"), group("Three")]):
        key = {"HTTP_IDEMPOTENCY_KEY": f"batch {operations[0]['body']['name']}"}
        body = {"operations": operations, "atomic": atomic}
        first, again = (api.call("POST", BATCH, body, **key) for _ in range(2))
        assert (again.content, again["Idempotent-Replayed"]) == (first.content, "true")
    assert Group.objects.owned_by(alice).count() == (2 if atomic else 3)


def test_batch_rolled_back_with_503_is_not_stored_for_its_key(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    body, key = {"operations": [group("One")], "atomic": True}, "once"
    with monkeypatch.context() as patch:
        patch.setattr(batch_runner, "MAX_ATOMIC_SECONDS", -1.0)
        assert statuses(api.ok("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY=key)["results"]) == [503]
    assert statuses(api.ok("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY=key)["results"]) == [201]


def test_a_batch_that_shows_a_secret_is_not_stored(api: Client, settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    hook = {"type": "WEBHOOK", "label": "Mine", "url": "https://127.0.0.1/hook"}
    body = {"operations": [operation("POST", "/api/notifications/endpoints", hook)]}
    response = api.call("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY="once", HTTP_ACCEPT_ENCODING="gzip")
    assert response.json()["results"][0]["body"]["secret"].startswith("whsec_")
    assert response["Cache-Control"] == "no-store"
    assert not StoredResponse.unscoped.exists()


def test_the_size_of_responses_is_limited(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that do not fit are 413, streamed ones too; an executed write keeps its status; nothing runs after it."""
    for number in range(20):
        make_person(alice, name=f"Somebody {number}", notes="x" * 1000)
    monkeypatch.setattr(batch_runner, "MAX_RESPONSE_BYTES", 5000)
    lists = [operation("GET", path) for path in ("/api/people", "/api/people?includeAll=true", "/api/version")]
    large = operation("POST", "/api/people", {"name": "Large", "notes": "x" * 9000})
    results = run_batch(api, *lists, large, operation("GET", "/api/version"), group("One"))
    assert statuses(results) == [413, 413, 200, 201, 413, 413]
    assert not Group.objects.owned_by(alice).exists()


def test_a_batch_of_reads_is_not_stored_for_its_key(api: Client) -> None:
    body = {"operations": [READ]}
    for _ in range(2):
        assert "Idempotent-Replayed" not in api.call("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY="once")
    assert not StoredResponse.unscoped.exists()


def test_if_match_accepts_the_etag_of_a_compressed_response(api: Client, alice: User) -> None:
    person = make_person(alice, name="Ada", notes="x" * 2000)
    tag = api.call("GET", f"/api/people/{person.pk}", HTTP_ACCEPT_ENCODING="gzip")["ETag"]
    assert tag.endswith('-gzip"')
    change = operation("PUT", f"/api/people/{person.pk}", {"notes": "short"}, If_Match=tag)
    assert statuses(run_batch(api, change, change)) == [200, 412]


def test_a_body_nested_too_deeply_is_refused(api: Client) -> None:
    deep = '{"name": "One", "other": ' + "[" * 270 + "]" * 270 + "}"
    body = '{"operations": [{"method": "POST", "path": "/api/groups", "body": ' + deep + "}]}"
    assert statuses(api.generic("POST", BATCH, body).json()["results"]) == [400]
    assert api.generic("POST", "/api/groups", deep, HTTP_IDEMPOTENCY_KEY="deep").status_code == 400


@pytest.mark.both_databases
def test_operations_beyond_the_time_limit_are_503(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_runner, "MAX_SECONDS", -1.0)
    [result] = run_batch(api, group("One"))
    assert (result["status"], result["body"]["code"]) == (503, "unavailable")
    assert not Group.objects.owned_by(alice).exists()


def test_waiting_for_the_lock_does_not_count_as_time_of_an_atomic_batch(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = 0.0

    @contextmanager
    def behind_others(owner: User) -> Iterator[None]:
        nonlocal waited
        with account_write(owner):
            waited = batch_runner.MAX_ATOMIC_SECONDS + 1
            yield

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + waited, perf_counter=time.perf_counter)
    monkeypatch.setattr(batch_runner, "time", clock)
    monkeypatch.setattr(batch_runner, "account_write", behind_others)
    body = {"operations": [group("One")], "atomic": True}
    assert statuses(api.ok("POST", BATCH, body)["results"]) == [201]


def test_the_caller_is_authenticated_once(api: Client, alice: User) -> None:
    reads = [operation("GET", "/api/dashboard/stats")] * 2
    run_batch(api, *reads)  # what is noted once a minute
    with CaptureQueriesContext(connection) as few:
        run_batch(api, *reads)
    with CaptureQueriesContext(connection) as many:
        run_batch(api, *reads * 10)
    alone = (len(many) - len(few)) / 18
    with CaptureQueriesContext(connection) as one:
        api.ok("GET", "/api/dashboard/stats")
    assert alone == len(one) - 1  # the token's


def test_etags_of_a_rolled_back_batch_give_no_304(api: Client, ada: Person) -> None:
    path = f"/api/people/{ada.pk}"
    run_batch(
        api,
        operation("PUT", path, {"surname": "Gone"}),
        operation("GET", path),
        operation("GET", "/api/nowhere"),
        atomic=True,
    )
    response = api.call("PUT", path, {"surname": "Here"})
    assert api.call("GET", path, HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 304
    assert api.call("GET", path, HTTP_IF_NONE_MATCH='"x"').json()["person"]["surname"] == "Here"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_atomic_batches_do_not_interleave() -> None:
    alice = make_user("alice@example.org")

    def send(client: Client, number: int) -> Any:
        names = ["A", f"Own {number}", "B"] if number % 2 else ["B", f"Own {number}", "A"]
        return client.call("POST", BATCH, {"operations": [group(name) for name in names], "atomic": True})

    assert repeat_concurrently(alice, 6, send) == Counter({200: 6})
    names = sorted(Group.objects.owned_by(alice).values_list("name", flat=True))
    assert len(names) == 3
    assert names[:2] == ["A", "B"]
    assert revision_of(alice) == 2  # after the one that began the account


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_key_run_once_inside_and_outside_a_batch() -> None:
    alice = make_user("alice@example.org")
    clients = [client_of(alice) for _ in range(6)]

    def send(number: int) -> Any:
        if number % 3 == 0:
            return clients[number].call("POST", "/api/groups", {"name": "One"}, HTTP_IDEMPOTENCY_KEY="once").status_code
        body = {"operations": [group("One", idempotency_key="once")], "atomic": number % 3 == 1}
        return clients[number].call("POST", BATCH, body).json()["results"][0]["status"]

    assert set(run_concurrently(*(partial(send, number) for number in range(6)))) <= {201, 409}
    assert Group.objects.owned_by(alice).count() == 1


@pytest.mark.django_db(transaction=True)
def test_killed_atomic_batch_leaves_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the process ends during the transaction, its key is rolled back too, and the next request runs."""
    alice = make_user("alice@example.org")
    api, real = client_of(alice), batch_runner.BatchRunner._run_operation
    body = {"operations": [group("One"), group("Two", idempotency_key="inner")], "atomic": True}

    def kill_process(self: Any, one: Any) -> Any:
        result = real(self, one)
        if self.results:
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as patch:
        patch.setattr(batch_runner.BatchRunner, "_run_operation", kill_process)
        with pytest.raises(KeyboardInterrupt):
            api.call("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY="outer")
    assert not Group.objects.owned_by(alice).exists()
    assert not StoredResponse.unscoped.exists()
    assert statuses(api.ok("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY="outer")["results"]) == [201, 201]


def test_routes_that_take_files_are_not_allowed() -> None:
    """Only files and documents of whole accounts may be larger than the limit of JSON bodies."""
    views = [
        callback
        for pattern in get_resolver().url_patterns
        for route in getattr(pattern, "url_patterns", ())
        if limit_of(callback := route.callback).max_bytes() > project.MAX_JSON_BYTES
    ]
    assert len(views) > 5
    for view in views:
        actions = getattr(view, "actions", {})  # none for a plain view, such as that of the DAV server: no batch has it
        for method in actions.keys() & {"post", "put", "patch"}:
            assert not is_allowed_in_batch(getattr(view.cls, actions[method])), actions
