"""Converts the tables of Monica's SQL export to the shape of its JSON export, so that one parser reads both."""

from collections import defaultdict
from typing import Any, BinaryIO

from contacts_project.kernel.json import JsonMapping
from people.importing.sources.monica_sql import Rows, by_id, read_tables
from people.importing.sources.tables import MAX_ROWS

Record = dict[str, Any]

#: The tables whose rows belong to a contact, by their type in the JSON export.
_CONTACT_TABLES = {
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
        *_CONTACT_TABLES.values(),
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

# Many rows may refer to one row of these tables. Its texts are cut, so that a hostile file cannot multiply a long one.
_SHARED = ("contact_field_types", "genders", "places", "relationship_types", "special_dates", "tags")
_MAX_SHARED = 1_000


def open_sql_export(file: BinaryIO) -> Record:
    """Return the account of an SQL export in the shape of the JSON export. Raises FieldError if it is no export."""
    rows = read_tables(file, _TABLES)
    # Of rows with the same id only the first counts; otherwise each of them would get the related rows.
    for table in ("contacts", "conversations"):
        rows[table] = list(by_id(rows[table]).values())[::-1]
    # One more than is imported: it says that there are more. Others would only take memory.
    rows["contacts"] = rows["contacts"][: MAX_ROWS + 1]
    for table in _SHARED:
        rows[table] = [{name: value and value[:_MAX_SHARED] for name, value in row.items()} for row in rows[table]]
    names = {str(row.get("id")): row.get("uuid") or f"contact-{row.get('id')}" for row in rows["contacts"]}
    related = _related_records(rows)
    contacts = [_contact(row, names, related[str(row.get("id"))]) for row in _Contacts(rows).rows()]
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
    """Joins the contacts with other tables, under the names of the JSON export."""

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


def _contact(row: Record, names: JsonMapping, related: dict[str, list[Record]]) -> Record:
    through = names.get(str(row.get("first_met_through_contact_id")))
    return {
        "uuid": names[str(row.get("id"))],
        "properties": {**row, "first_met_through": through},
        "data": [_list(kind, values) for kind, values in related.items()],
    }


def _related_records(rows: Rows) -> dict[str, dict[str, list[Record]]]:
    """The related records of each contact, by type."""
    places = by_id(rows["places"])
    messages: dict[str, list[Any]] = defaultdict(list)
    for row in rows["messages"]:
        messages[str(row.get("conversation_id"))].append(row)
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, table in _CONTACT_TABLES.items():
        for row in rows[table]:
            properties = row
            if kind == "contact_field":
                properties["type"] = row.get("contact_field_type_id")
            elif kind == "address":
                properties |= {**places.get(str(row.get("place_id")), {}), "name": row.get("name")}
            elif kind == "conversation":
                properties |= {
                    "messages": messages.pop(str(row.get("id")), []),
                    "happened_at": row.get("happened_at") or row.get("created_at"),
                }
            record = {"created_at": row.get("created_at"), "properties": properties}
            found[str(row.get("contact_id"))][kind].append(record)
    for row in rows["activity_contact"]:
        found[str(row.get("contact_id"))]["activity"].append(str(row.get("activity_id")))
    return found


def _list(kind: str, values: list[Record]) -> Record:
    return {"count": len(values), "type": kind, "values": values}
