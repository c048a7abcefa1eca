"""API calls that the tests of merging share."""

from typing import Any

from tests.client import Client

# The keys that may differ after an undo: only the time of the last change.
VOLATILE_KEYS = ("updatedAt",)


def read_person(api: Client, person: str) -> dict[str, Any]:
    response: dict[str, Any] = api.ok("get", f"/api/people/{person}")["person"]
    return response


def merge_people(api: Client, primary: str, secondary: str, overrides: Any = None, status: int = 200) -> Any:
    body = {"primaryId": primary, "secondaryId": secondary}
    if overrides is not None:
        body["fieldOverrides"] = overrides
    return api.ok("post", "/api/people/merge", body, status=status)


def undo_merge(api: Client, merge_id: str, status: int = 200) -> Any:
    return api.ok("post", f"/api/people/merge/{merge_id}/undo", status=status)


def snapshot(api: Client) -> dict[str, Any]:
    """Every response that shows people and their records, without the values that an undo may change."""
    people = api.ok("get", "/api/people?includeAll=true")["people"]
    return {
        "people": without_times(people),
        "single": [without_times(read_person(api, person["id"])) for person in people],
        "groups": without_times(api.ok("get", "/api/groups")["groups"]),
        "relationships": without_times(api.ok("get", "/api/relationships")["relationships"]),
        "duplicates": api.ok("get", "/api/people/duplicates"),
        "index": api.ok("get", "/api/people/search-index"),
    }


def without_times(value: Any) -> Any:
    """`value` without the keys in VOLATILE_KEYS, at any depth."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in VOLATILE_KEYS}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value
