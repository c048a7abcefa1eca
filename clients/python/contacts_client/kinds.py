"""The types of records that a copy can edit: their paths, and the keys of their responses."""

from typing import Any, NamedTuple

JSON = dict[str, Any]


class Kind(NamedTuple):
    """`path` of the list, which may contain fields of the record; `name` is the key of a record in a response.

    `not_in_feed` are the fields of that response which repeat data of other records; the change feed omits them.
    """

    path: str
    name: str
    not_in_feed: tuple[str, ...] = ()

    def list_path(self, record: JSON) -> str:
        return self.path.format_map(record)

    def record_path(self, record: JSON) -> str:
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


#: Fields that the service computes from other records, or on each write.
DERIVED_FIELDS = frozenset(
    {
        "contactReminderFrom",
        "createdAt",
        "displayName",
        "lastContact",
        "memberCount",
        "people",
        "person",
        "relatedPerson",
        "relationshipType",
        "updatedAt",
    }
)
#: What hangs on a person. Of a relationship each of the two has a record.
HANGING_TYPES = ("importantDate", "interaction", "relationship")


def hangs_on(record: JSON, person_id: str) -> bool:
    """Whether the date, interaction or relationship is one of the person's."""
    return person_id in record.get("personIds", [record.get("personId")])


def to_feed_record(type_: str, record: JSON) -> JSON:
    """Convert a record of a response to the form that it has in the change feed."""
    kept = {name: value for name, value in record.items() if name not in KINDS[type_].not_in_feed}
    if "customFieldValues" in kept:
        values = kept["customFieldValues"]
        kept["customFieldValues"] = [{name: value[name] for name in ("id", "templateId", "value")} for value in values]
    return kept
