"""Destinations through the API: create, update, list, delete, and every reason to refuse."""

import datetime as dt
import socket
from contextlib import AbstractContextManager
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.external_waits import TooManyExternalWaitsError, release_thread
from notifications.models import Destination
from tests.client import Client
from tests.loopback import Recorder, Reply, closed_port
from tests.notifications.conftest import answer_as_ntfy

pytestmark = pytest.mark.sqlite_suffices

PATH = "/api/notifications/endpoints"
HOOK = "https://127.0.0.1/hook"


def webhook(**changes: Any) -> dict[str, Any]:
    return {"type": "WEBHOOK", "label": "Mine", "url": HOOK, **changes}


def create(api: Client, **changes: Any) -> Any:
    return api.ok("post", PATH, webhook(**changes), status=201)


def refused(api: Client, status: int = 400, **changes: Any) -> Any:
    return api.ok("post", PATH, webhook(**changes), status=status).get("code")


def fail(destination_id: str, times: int = 3) -> None:
    row = Destination.unscoped.rows().get(pk=destination_id)
    for _ in range(times):
        row.record_failure("timeout", timezone.now(), counts=True, is_gone=False)
    row.save()


def listed(api: Client) -> Any:
    return api.ok("get", PATH)["endpoints"]


def test_secret_of_a_new_webhook_is_shown_once(api: Client) -> None:
    response = create(api)
    assert response["secret"].startswith("whsec_")
    endpoint = response["endpoint"]
    assert {key: endpoint[key] for key in ("type", "label", "url", "enabled", "consecutiveFailures")} == {
        "type": "WEBHOOK",
        "label": "Mine",
        "url": HOOK,
        "enabled": True,
        "consecutiveFailures": 0,
    }
    nothing_yet = ("lastSuccessAt", "lastFailureAt", "lastFailureCode", "autoDisabledAt")
    assert [endpoint[key] for key in nothing_yet] == [None] * 4
    assert endpoint["createdAt"].endswith("Z")
    assert listed(api) == [endpoint]


def test_new_ntfy_topic_is_returned_without_its_token(api: Client, ntfy: Recorder) -> None:
    response = create(api, type="NTFY", url=f"{ntfy.url}/push/birthdays", token="tk_secret")
    assert set(response) == {"endpoint"}
    assert "tk_secret" not in str(listed(api))
    assert [request.path for request in ntfy.received] == ["/push/v1/health"]


@pytest.mark.both_databases
def test_secrets_are_encrypted_in_the_database(api: Client) -> None:
    from django.db import connection

    secret = create(api)["secret"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM notifications_destination")
        (stored,) = cursor.fetchone()
    assert secret not in stored
    assert Destination.unscoped.rows().get().secret == secret


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "EMAIL"}, "invalid"),
        ({"type": None}, "invalid"),
        ({"label": ""}, "invalid"),
        ({"label": "x" * 61}, "invalid"),
        ({"label": 5}, "invalid"),
        ({"url": None}, "invalid"),
        ({"url": ""}, "invalid"),
        ({"url": 5}, "invalid"),
        ({"url": "nonsense"}, "invalid"),
        ({"url": "https://"}, "invalid"),
        ({"url": "https://127.0.0.1/a b"}, "invalid"),
        ({"url": "https://127.0.0.1/" + "x" * 483}, "too_long"),
        ({"url": "ftp://127.0.0.1/"}, "policy"),
        ({"url": "http://93.184.215.14/"}, "policy"),
        ({"url": "https://10.0.0.1/"}, "policy"),
        ({"url": "https://169.254.169.254/latest"}, "policy"),
        ({"url": "https://[::1]/"}, "policy"),
        ({"url": "https://2130706433/"}, "policy"),
        ({"url": "https://user:secret@127.0.0.1/"}, "credentials_in_url"),
        ({"url": "https://user@127.0.0.1/"}, "credentials_in_url"),
        ({"token": "x"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/not a topic"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/top.ic"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/" + "t" * 65}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/topic?auth=QmFzaWM"}, "credentials_in_url"),
        ({"type": "NTFY", "url": "https://127.0.0.1/topic", "token": ""}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/topic", "token": "x" * 256}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/topic", "token": "a\nb"}, "invalid"),
        ({"type": "NTFY", "url": "https://127.0.0.1/topic", "token": "schlüssel"}, "invalid"),
    ],
)
def test_unusable_body_is_refused_with_its_code(api: Client, changes: dict[str, Any], code: str) -> None:
    response = api.ok("post", PATH, webhook(**changes), status=400)
    assert response["code"] == code
    assert response["details"]
    assert listed(api) == []


def test_invalid_json_is_refused_with_its_code(api: Client) -> None:
    response = orjson.loads(api.generic("POST", PATH, b'{"type":').content)
    assert (response["code"], bool(response["details"])) == ("invalid", True)


def test_longest_url_and_label_are_accepted(api: Client) -> None:
    url = "https://127.0.0.1/" + "x" * 482
    assert len(url) == 500
    assert create(api, url=url, label="ü" * 60)["endpoint"]["url"] == url


def test_port_outside_the_policy_is_refused(api: Client, settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_PORTS = []
    assert refused(api, url="https://127.0.0.1:8443/") == "policy"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (socket.gaierror(-2, "unknown"), "dns"),
        (["10.0.0.1"], "policy"),
        (["93.184.215.14", "127.0.0.2", "10.0.0.1"], "policy"),
    ],
)
@pytest.mark.parametrize("type_", ["WEBHOOK", "NTFY"])
def test_host_is_resolved_before_storing(
    api: Client, monkeypatch: pytest.MonkeyPatch, answer: Any, code: str, type_: str
) -> None:
    import ipaddress

    def resolve(host: str, port: int) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return [ipaddress.ip_address(text) for text in answer]

    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", resolve)
    assert refused(api, type=type_, url="https://inside.example/topic") == code


def test_plain_http_to_an_unknown_host_is_refused_for_its_scheme(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", lambda host, port: [])
    assert refused(api, url="http://gone.example/hook") == "policy"


NOT_NTFY = {
    "404": Reply(404),
    "redirect": Reply(302, {"Location": "/push/v1/health"}, b'{"healthy":true}'),
    "html": Reply(200, {"Content-Type": "text/html"}, b"<html>"),
    "not a boolean": Reply(200, body=b'{"healthy":"yes"}'),
    "a list": Reply(200, body=b"[true]"),
    "too long": Reply(200, body=b'{"healthy":true,"x":"' + b"x" * 65536 + b'"}'),
}


@pytest.mark.parametrize("reply", NOT_NTFY.values(), ids=NOT_NTFY)
def test_other_server_is_not_ntfy(api: Client, ntfy: Recorder, reply: Reply) -> None:
    ntfy.reply = reply
    assert refused(api, type="NTFY", url=f"{ntfy.url}/push/topic") == "not_ntfy"


def test_unreachable_server_is_not_ntfy(api: Client) -> None:
    assert refused(api, type="NTFY", url=f"http://127.0.0.1:{closed_port()}/topic") == "not_ntfy"


def test_ntfy_is_searched_from_the_longest_parent_path(api: Client, ntfy: Recorder) -> None:
    create(api, type="NTFY", url=f"{ntfy.url}/push/team/topic")
    assert [request.path for request in ntfy.received] == ["/push/team/v1/health", "/push/v1/health"]
    assert Destination.unscoped.rows().get().server_url == f"{ntfy.url}/push"


def test_ntfy_at_the_root_of_its_host(api: Client, ntfy: Recorder) -> None:
    ntfy.reply = Reply(200, body=b'{"healthy":false}')
    create(api, type="NTFY", url=f"{ntfy.url}/topic")
    assert [request.path for request in ntfy.received] == ["/v1/health"]


def test_deep_path_does_not_multiply_requests(api: Client, ntfy: Recorder) -> None:
    assert refused(api, type="NTFY", url=f"{ntfy.url}/{'a/' * 100}topic") == "not_ntfy"
    assert len(ntfy.received) == 5


SAME = [
    "HTTPS://127.0.0.1/hook",
    "https://127.0.0.1:443/hook",
    "https://127.0.0.1/hook#part",
]
OTHER = [
    "https://127.0.0.1/Hook",
    "https://127.0.0.1/hook?x=1",
    "https://127.0.0.1/hook/",
    "https://127.0.0.1:80/hook",
]


@pytest.mark.parametrize("url", SAME)
def test_same_url_is_a_duplicate(api: Client, url: str) -> None:
    create(api)
    assert refused(api, 409, url=url) == "duplicate"


@pytest.mark.parametrize("url", OTHER)
def test_other_url_is_not_a_duplicate(api: Client, url: str) -> None:
    create(api)
    create(api, url=url)


def test_two_accounts_may_have_the_same_url(api: Client, stranger: Client) -> None:
    create(api)
    create(stranger)


def test_sixth_destination_is_refused_without_a_code(api: Client) -> None:
    for number in range(5):
        create(api, url=f"{HOOK}/{number}")
    response = api.ok("post", PATH, webhook(url=f"{HOOK}/6"), status=409)
    assert "code" not in response
    api.ok("delete", f"{PATH}/{listed(api)[0]['id']}")
    create(api, url=f"{HOOK}/6")


def test_update_changes_only_given_fields(api: Client) -> None:
    endpoint = create(api)["endpoint"]
    path = f"{PATH}/{endpoint['id']}"
    assert api.ok("put", path, {"label": "New", "type": "NTFY", "id": "x", "unknown": 1}) == {"success": True}
    (row,) = listed(api)
    assert {**row, "updatedAt": ""} == {**endpoint, "label": "New", "updatedAt": ""}
    # Writing back what was read must work: the same URL is no change, so no network call checks it.
    assert api.ok("put", path, row) == {"success": True}
    assert api.ok("put", path, {}) == {"success": True}


@pytest.mark.one_database
@pytest.mark.parametrize(
    "body",
    [
        {"label": ""},
        {"label": None},
        {"label": "x" * 61},
        {"enabled": 1},
        {"enabled": None},
        {"url": None},
        {"rotateSecret": False},
        {"rotateSecret": "yes"},
        {"token": "x"},
        {"url": "nonsense"},
    ],
)
def test_update_has_the_same_checks_as_creation(api: Client, body: dict[str, Any]) -> None:
    endpoint = create(api)["endpoint"]
    assert api.ok("put", f"{PATH}/{endpoint['id']}", body, status=400)["code"] == "invalid"
    assert listed(api) == [endpoint]


def test_new_url_is_checked_as_at_creation(api: Client) -> None:
    create(api, url=f"{HOOK}/other")
    path = f"{PATH}/{create(api)['endpoint']['id']}"
    for url, status, code in [
        ("https://10.0.0.1/", 400, "policy"),
        ("https://u:p@127.0.0.1/", 400, "credentials_in_url"),
        ("https://127.0.0.1/" + "x" * 500, 400, "too_long"),
        (f"{HOOK}/other", 409, "duplicate"),
    ]:
        assert api.ok("put", path, {"url": url}, status=status)["code"] == code
    api.ok("put", path, {"url": f"{HOOK}/third"})
    assert listed(api)[1]["url"] == f"{HOOK}/third"
    # A different spelling of the destination's own URL is not a duplicate.
    api.ok("put", path, {"url": f"{HOOK.replace('https', 'HTTPS')}/third"})


def test_new_ntfy_url_is_verified_and_found_again(api: Client, ntfy: Recorder) -> None:
    path = f"{PATH}/{create(api, type='NTFY', url=f'{ntfy.url}/push/one')['endpoint']['id']}"
    ntfy.reply = Reply(404)
    assert api.ok("put", path, {"url": f"{ntfy.url}/elsewhere/two"}, status=400)["code"] == "not_ntfy"
    ntfy.reply = answer_as_ntfy
    api.ok("put", path, {"url": f"{ntfy.url}/push/deeper/two"})
    assert Destination.unscoped.rows().get().server_url == f"{ntfy.url}/push"


def test_token_can_be_kept_changed_or_removed(api: Client, ntfy: Recorder) -> None:
    url = f"{ntfy.url}/push/topic"
    path = f"{PATH}/{create(api, type='NTFY', url=url, token='one')['endpoint']['id']}"

    def stored() -> str:
        return str(Destination.unscoped.rows().get().secret)

    api.ok("put", path, {"label": "New"})
    assert stored() == "one"
    api.ok("put", path, {"token": "two"})
    assert api.ok("put", path, {"token": " "}, status=400)["details"][0]["field"] == "token"
    assert stored() == "two"
    api.ok("put", path, {"token": None})
    assert stored() == ""
    assert api.ok("put", path, {"rotateSecret": True}, status=400)["code"] == "invalid"


def test_rotated_secret_is_shown_once_and_the_old_one_signs_for_a_day(api: Client) -> None:
    created = create(api)
    response = api.ok("put", f"{PATH}/{created['endpoint']['id']}", {"rotateSecret": True})
    assert response["success"] is True
    assert response["secret"] != created["secret"]
    row = Destination.unscoped.rows().get()
    now = timezone.now()
    assert row.signing_secrets(now) == [response["secret"], created["secret"]]
    assert row.signing_secrets(now + dt.timedelta(hours=24)) == [response["secret"]]


@pytest.mark.parametrize("body", [{"url": f"{HOOK}/new"}, {"rotateSecret": True}])
def test_new_url_or_secret_clears_failures_and_does_not_enable(api: Client, body: dict[str, Any]) -> None:
    for enabled in (True, False):
        created = create(api, url=f"{HOOK}/{enabled}")["endpoint"]
        path = f"{PATH}/{created['id']}"
        api.ok("put", path, {"enabled": enabled})
        fail(created["id"])
        api.ok("put", path, {key: f"{value}{enabled}" if key == "url" else value for key, value in body.items()})
        row = listed(api)[-1]
        assert (row["consecutiveFailures"], row["lastFailureAt"], row["lastFailureCode"]) == (0, None, None)
        assert row["enabled"] is enabled


def test_new_token_clears_failures(api: Client, ntfy: Recorder) -> None:
    created = create(api, type="NTFY", url=f"{ntfy.url}/push/topic")["endpoint"]
    fail(created["id"])
    api.ok("put", f"{PATH}/{created['id']}", {"token": "new"})
    assert listed(api)[0]["consecutiveFailures"] == 0


def test_label_and_enabled_do_not_clear_failures(api: Client) -> None:
    created = create(api)["endpoint"]
    fail(created["id"])
    path = f"{PATH}/{created['id']}"
    api.ok("put", path, {"label": "New", "enabled": True})
    api.ok("put", path, {"enabled": False})
    row = listed(api)[0]
    assert (row["consecutiveFailures"], row["lastFailureCode"], row["enabled"]) == (3, "timeout", False)


@pytest.mark.both_databases
def test_enabling_clears_the_automatic_disabling(api: Client) -> None:
    created = create(api)["endpoint"]
    fail(created["id"], times=10)
    row = listed(api)[0]
    assert row["enabled"] is False
    assert row["autoDisabledAt"] is not None
    api.ok("put", f"{PATH}/{created['id']}", {"enabled": True})
    row = listed(api)[0]
    assert (row["enabled"], row["consecutiveFailures"], row["autoDisabledAt"]) == (True, 0, None)


def test_deleted_destination_is_404(api: Client) -> None:
    path = f"{PATH}/{create(api)['endpoint']['id']}"
    assert api.ok("delete", path) == {"success": True}
    assert listed(api) == []
    for method, body in (("delete", None), ("put", {"label": "x"}), ("post", None)):
        api.ok(method, path + ("/test" if method == "post" else ""), body, status=404)
    create(api)


def test_malformed_ids_are_404(api: Client) -> None:
    api.ok("put", f"{PATH}/nonsense", {"label": "x"}, status=404)
    api.ok("delete", f"{PATH}/nonsense", status=404)
    api.ok("post", f"{PATH}/nonsense/test", status=404)


class TestPlans:
    """Where there are plans, webhooks belong to the paid one; ntfy is always free."""

    @pytest.fixture(autouse=True)
    def _saas(self, settings: Any) -> None:
        settings.SAAS_MODE = True

    @pytest.fixture
    def mine(self, api: Client, alice: User) -> str:
        """A disabled webhook, created while alice had the paid plan."""
        alice.plan = "PRO"
        alice.save()
        path = f"{PATH}/{create(api)['endpoint']['id']}"
        alice.plan = "PERSONAL"
        alice.save()
        return path

    def test_webhook_needs_pro(self, api: Client, alice: User, ntfy: Recorder) -> None:
        assert refused(api, 403) == "plan_limit"
        create(api, type="NTFY", url=f"{ntfy.url}/push/topic")
        alice.plan = "PRO"
        alice.save()
        create(api)

    @pytest.mark.parametrize("body", [{"url": f"{HOOK}/new"}, {"rotateSecret": True}])
    def test_changing_the_url_and_rotating_the_secret_need_pro(
        self, api: Client, mine: str, body: dict[str, Any]
    ) -> None:
        assert api.ok("put", mine, body, status=403)["code"] == "plan_limit"

    def test_testing_needs_pro(self, api: Client, mine: str) -> None:
        api.ok("post", f"{mine}/test", status=403)

    def test_enabling_needs_pro_but_disabling_and_renaming_do_not(self, api: Client, mine: str) -> None:
        api.ok("put", mine, {"label": "New"})
        api.ok("put", mine, {"enabled": True})  # already enabled, so this changes nothing
        api.ok("put", mine, {"enabled": False})
        api.ok("put", mine, {"enabled": True}, status=403)
        api.ok("delete", mine)


def test_request_refused_for_too_many_waiting_calls_does_not_count(api: Client) -> None:
    made = create(api)["endpoint"]["id"]

    def full() -> AbstractContextManager[None]:
        raise TooManyExternalWaitsError

    token = release_thread.set(full)
    try:
        for _ in range(11):  # more than any rate limit holds
            for method, path, body in (
                ("POST", "", webhook(url="https://127.0.0.1/other")),
                ("POST", f"/{made}/test", None),
                ("PUT", f"/{made}", {"url": "https://127.0.0.1/new"}),
            ):
                response = api.call(method, f"/api/notifications/endpoints{path}", body)
                assert (response.status_code, response.json()["code"]) == (503, "unavailable")
                assert int(response["Retry-After"]) > 0
    finally:
        release_thread.reset(token)
    assert api.ok("POST", f"/api/notifications/endpoints/{made}/test")["ok"] is False
    create(api, url="https://127.0.0.1/other")
