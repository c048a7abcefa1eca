"""Webhooks of an imported account are disabled until their owner has a signing secret."""

from typing import Any

from accounts.models import User
from contacts_project.kernel.ids import new_id
from notifications.channels import channels
from tests.client import Client

URL = "https://127.0.0.1/hook"


def import_webhook(client: Client, *, enabled: bool) -> str:
    """Import a webhook; returns its id."""
    record = {"id": str(new_id()), "type": "WEBHOOK", "label": "Home", "url": URL, "enabled": enabled}
    document = {"format": "contact-network", "version": 1, "notificationDestinations": [record]}
    key: str = client.ok("POST", "/api/user/import", document)["results"][0]["newId"]
    return key


def first_endpoint(client: Client) -> Any:
    [found] = client.ok("GET", "/api/notifications/endpoints")["endpoints"]
    return found


def test_imported_webhook_is_disabled_until_its_secret_is_rotated(api: Client, alice: User) -> None:
    path = f"/api/notifications/endpoints/{import_webhook(api, enabled=True)}"
    assert first_endpoint(api)["enabled"] is False
    assert [target.off_reason for target in channels()["webhook"].targets(alice)] == ["disabled"]
    assert api.ok("PUT", path, {"enabled": True}, status=400)["details"][0]["field"] == "enabled"
    assert "rotateSecret" in api.ok("POST", f"{path}/test", status=400)["error"]
    assert api.ok("PUT", path, {"rotateSecret": True})["secret"].startswith("whsec_")
    assert first_endpoint(api)["enabled"] is True
    assert [target.off_reason for target in channels()["webhook"].targets(alice)] == [None]
    assert api.ok("GET", "/api/user/export")["notificationDestinations"][0]["enabled"] is True


def test_imported_webhook_that_was_disabled_stays_disabled(api: Client) -> None:
    path = f"/api/notifications/endpoints/{import_webhook(api, enabled=False)}"
    api.ok("PUT", path, {"rotateSecret": True})
    assert first_endpoint(api)["enabled"] is False
    api.ok("PUT", path, {"enabled": True})
    assert first_endpoint(api)["enabled"] is True


def test_rotating_and_enabling_in_one_request(api: Client) -> None:
    path = f"/api/notifications/endpoints/{import_webhook(api, enabled=False)}"
    assert api.ok("PUT", path, {"rotateSecret": True, "enabled": True})["secret"]
    assert first_endpoint(api)["enabled"] is True
