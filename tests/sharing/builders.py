"""Creates groups and shares through the API."""

from typing import Any

from tests.client import Client


def make_group(client: Client, name: str) -> str:
    """Create a group; returns its id."""
    group: str = client.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"]
    return group


def make_share(client: Client, name: str = "Family", *, group: str = "", **fields: Any) -> dict[str, Any]:
    """Create a share with a group of its own."""
    body = {"name": name, "groupId": make_group(client, group or name), **fields}
    share: dict[str, Any] = client.ok("POST", "/api/shares", body, status=201)["share"]
    return share
