"""The tables of Monica's SQL export in the shape of its JSON export, so that one reader does for both."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, BinaryIO

from people.importing.sources.monica_sql import Rows, by_id, read_tables

Record = dict[str, Any]

#: By type in the JSON export, the table whose rows hang on a contact.
_HANGING = {
    "call": "calls",
    "contact_field": "contact_fields",
    "debt": "debts",
    "gift": "gifts",
    "note": "notes",
    "reminder": "reminders",
    "task": "tasks",
    "address": "addresses",
    "pet": "pets",
    "conversation": "conversations",
    "life_event": "life_events",
    "document": "documents",
}
_TABLES = frozenset(
    {
        *_HANGING.values(),
        "contacts",
        "activities",
        "activity_contact",
        "contact_field_types",
        "contact_tag",
        "genders",
        "messages",
        "places",
        "relationships",
        "relationship_types",
        "special_dates",
        "tags",
        "journal_entries",
    }
)

# Many rows may name one row of these, so what it says is cut to what a person could hold of it.
_SHARED = ("contact_field_types", "genders", "places", "relationship_types", "special_dates", "tags")
_MAX_SHARED = 1_000


def open_sql_export(file: BinaryIO) -> Record:
    """The account in a file. Raises FieldError where it has no statement of an export."""
    rows = read_tables(file, _TABLES)
    # Of rows that share an id only the first counts: what hangs on it is read once.
    for table in ("contacts", "conversations"):
        rows[table] = list(by_id(rows[table]).values())[::-1]
    for table in _SHARED:
        rows[table] = [{name: value and value[:_MAX_SHARED] for name, value in row.items()} for row in rows[table]]
    names = {str(row.get("id")): row.get("uuid") or f"contact-{row.get('id')}" for row in rows["contacts"]}
    hanging = _hanging(rows)
    contacts = [_contact(row, names, hanging[str(row.get("id"))]) for row in _Contacts(rows).rows()]
    kinds = by_id(rows["relationship_types"])
    pairs = [
        {
            "type": kinds.get(str(row.get("relationship_type_id")), {}).get("name"),
            "contact_is": names.get(str(row.get("contact_is"))),
            "of_contact": names.get(str(row.get("of_contact"))),
        }
        for row in rows["relationships"]
    ]
    return {
        "data": [
            _list("contact", contacts),
            _list("relationship", [{"properties": pair} for pair in pairs]),
            _list("activity", [{"uuid": str(row.get("id")), "properties": row} for row in rows["activities"]]),
        ],
        "properties": {"journal_entries": rows["journal_entries"]},
        "instance": {
            "contact_field_types": [
                {"uuid": str(row.get("id")), "properties": row} for row in rows["contact_field_types"]
            ]
        },
    }


class _Contacts:
    """The contacts, each with what other tables say of it in the words of the JSON export."""

    def __init__(self, rows: Rows) -> None:
        self.table = rows["contacts"]
        self.genders = by_id(rows["genders"])
        self.days = by_id(rows["special_dates"])
        tags = by_id(rows["tags"])
        self.tags: dict[str, list[Any]] = defaultdict(list)
        for row in rows["contact_tag"]:
            self.tags[str(row.get("contact_id"))].append(tags.get(str(row.get("tag_id")), {}).get("name"))

    def rows(self) -> list[Record]:
        return [
            {
                **row,
                "gender": self.genders.get(str(row.get("gender_id")), {}).get("type"),
                "birthdate": self.days.get(str(row.get("birthday_special_date_id"))),
                "deceased_date": self.days.get(str(row.get("deceased_special_date_id"))),
                "first_met_date": self.days.get(str(row.get("first_met_special_date_id"))),
                "tags": self.tags.get(str(row.get("id")), []),
            }
            for row in self.table
        ]


def _contact(row: Record, names: Mapping[str, Any], hanging: dict[str, list[Any]]) -> Record:
    through = names.get(str(row.get("first_met_through_contact_id")))
    return {
        "uuid": names[str(row.get("id"))],
        "properties": {**row, "first_met_through": through},
        "data": [_list(kind, values) for kind, values in hanging.items()],
    }


def _hanging(rows: Rows) -> dict[str, dict[str, list[Any]]]:
    """By contact and type what hangs on it."""
    places = by_id(rows["places"])
    messages: dict[str, list[Any]] = defaultdict(list)
    for row in rows["messages"]:
        messages[str(row.get("conversation_id"))].append(row)
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, table in _HANGING.items():
        for row in rows[table]:
            said = dict(row)
            if kind == "contact_field":
                said["type"] = row.get("contact_field_type_id")
            elif kind == "address":
                said |= {**places.get(str(row.get("place_id")), {}), "name": row.get("name")}
            elif kind == "conversation":
                said |= {
                    "messages": messages.pop(str(row.get("id")), []),
                    "happened_at": row.get("happened_at") or row.get("created_at"),
                }
            record = {"created_at": row.get("created_at"), "properties": said}
            found[str(row.get("contact_id"))][kind].append(record)
    for row in rows["activity_contact"]:
        found[str(row.get("contact_id"))]["activity"].append(str(row.get("activity_id")))
    return found


def _list(kind: str, values: list[Any]) -> Record:
    return {"count": len(values), "type": kind, "values": values}
