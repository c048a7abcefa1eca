"""A client that replicates an account by GET /api/changes, and the same records from their own routes."""

from typing import Any
from urllib.parse import urlencode

from tests.client import Client

# The feed sends these lists of a person as records of their own. In the other types, the fields repeat values of other
# records, and may be older than those records.
FIELDS_OF_OTHER_RECORDS = {
    "person": ("groups", "relationshipToUser", "relationships", "importantDates", "shares"),
    "group": ("memberCount",),
    "relationship": ("person", "relatedPerson", "relationshipType"),
    "relationshipType": ("inverse",),
    "interaction": ("people",),
}


class Replica:
    """The records that a client has of an account, by type and id."""

    def __init__(self, client: Client, **query: Any) -> None:
        self.client, self.query = client, query
        self.cursor: str | None = None
        self.records: dict[tuple[str, str], Any] = {}
        self.etags: dict[tuple[str, str], str] = {}

    def read_page(self) -> dict[str, Any]:
        """Read one page and apply its changes; returns the response."""
        query = {**self.query, **({"cursor": self.cursor} if self.cursor else {})}
        response: dict[str, Any] = self.client.ok("GET", f"/api/changes?{urlencode(query)}")
        for change in response["changes"]:
            key = change["type"], change["id"]
            if change["deleted"]:
                assert change["record"] is None is change["etag"]
                self.records.pop(key, None)
            else:
                self.records[key], self.etags[key] = change["record"], change["etag"]
        self.cursor = response["cursor"]
        return response

    def own_fields(self) -> dict[tuple[str, str], Any]:
        """The records without the fields of other records."""
        return {(kind, key): own_fields_of(kind, record) for (kind, key), record in self.records.items()}

    def catch_up(self) -> list[dict[str, Any]]:
        """Read all further pages; returns the changes."""
        changes = []
        while True:
            response = self.read_page()
            changes += response["changes"]
            if not response["hasMore"]:
                return changes

    def records_of_type(self, kind: str) -> dict[str, Any]:
        """The records of one type, by id."""
        return {key: record for (name, key), record in self.records.items() if name == kind}


def load_account_records(client: Client) -> dict[tuple[str, str], Any]:
    """All active records of the account, from the routes of each type."""
    people = client.ok("GET", "/api/people?includeAll=true")["people"]
    dates = {date["id"]: date for person in people for date in person["importantDates"]}
    user = client.ok("GET", "/api/user/profile")["user"]
    lists = {
        "person": _by_id(people),
        "importantDate": dates,
        "relationship": _by_id(client.ok("GET", "/api/relationships")["relationships"]),
        "interaction": _by_id(client.ok("GET", "/api/interactions?limit=500")["interactions"]),
        "relationshipType": _by_id(client.ok("GET", "/api/relationship-types")["relationshipTypes"]),
        "group": _by_id(client.ok("GET", "/api/groups")["groups"]),
        "customFieldTemplate": _by_id(client.ok("GET", "/api/custom-field-templates")["customFieldTemplates"]),
        "destination": _by_id(client.ok("GET", "/api/notifications/endpoints")["endpoints"]),
        "settings": {user["id"]: user},
    }
    return {
        (kind, key): own_fields_of(kind, record) for kind, records in lists.items() for key, record in records.items()
    }


def own_fields_of(kind: str, record: dict[str, Any]) -> dict[str, Any]:
    """A record without the fields of other records."""
    left = {name: value for name, value in record.items() if name not in FIELDS_OF_OTHER_RECORDS.get(kind, ())}
    if kind == "person":
        left["customFieldValues"] = [
            {name: value[name] for name in ("id", "templateId", "value")} for value in record["customFieldValues"]
        ]
    return left


def _by_id(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {record["id"]: record for record in records}
