"""The kinds of records that a copy may edit: where they are, and what their answers are called."""

from typing import Any, NamedTuple

JSON = dict[str, Any]


class Kind(NamedTuple):
    """`path` of the list, with the names of fields in it; `name` of one record in an answer; `of_others`, what that
    answer repeats of other records, which the change feed leaves out."""

    path: str
    name: str
    of_others: tuple[str, ...] = ()

    def list_path(self, record: JSON) -> str:
        """Where records are made."""
        return self.path.format_map(record)

    def record_path(self, record: JSON) -> str:
        """Where this one is."""
        return f"{self.list_path(record)}/{record['id']}"


KINDS = {
    "customFieldTemplate": Kind("/api/custom-field-templates", "customFieldTemplate"),
    "group": Kind("/api/groups", "group", ("people",)),
    "importantDate": Kind("/api/people/{personId}/important-dates", "importantDate"),
    "interaction": Kind("/api/interactions", "interaction"),
    "person": Kind("/api/people", "person", ("groups", "relationshipToUser", "relationships", "importantDates")),
    "relationship": Kind("/api/relationships", "relationship"),
    "relationshipType": Kind("/api/relationship-types", "relationshipType"),
}


def as_in_feed(type_: str, record: JSON) -> JSON:
    """A record of an answer as the change feed has it."""
    kept = {name: value for name, value in record.items() if name not in KINDS[type_].of_others}
    if "customFieldValues" in kept:
        values = kept["customFieldValues"]
        kept["customFieldValues"] = [{name: value[name] for name in ("id", "templateId", "value")} for value in values]
    return kept
