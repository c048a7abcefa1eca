"""Reads Monica's SQL export into the shape of its JSON export, so that one parser reads both.

Only INSERT statements are parsed, in one pass over the text; every other statement is skipped up to its semicolon.
Nothing is executed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import MAX_DOCUMENT_VALUES, JsonMapping, JsonObject
from contacts_project.kernel.texts import define_text
from people.importing.sources.documents import too_many_values
from people.importing.sources.encodings import detect_encoding
from people.importing.sources.tables import MAX_ROWS

_NOT_MONICA = define_text("not_monica_sql", "This is no SQL export of Monica.")

Rows = dict[str, list[dict[str, Any]]]

# The patterns use possessive quantifiers, so that a hostile file cannot cause backtracking.
_STRING = r"'(?:[^'\\]++|\\.|'')*+'"
_SPACE = re.compile(r"(?:\s++|#[^\n]*+|--[ \t][^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))*+")
_INSERT = re.compile(r"INSERT\s+(?:IGNORE\s+)?INTO\s+`?(\w{1,64})`?\s*\(([^()';]{1,5000})\)\s*VALUES\s*", re.IGNORECASE)
_VALUE = re.compile(rf"\s*+(?:({_STRING})|([^\s,()';]++))\s*+([,)])", re.DOTALL)
_OTHER_STATEMENT = re.compile(rf"(?:[^;']++|{_STRING})*+(?:;|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "0": "", "Z": ""}
_MAX_COLUMNS = 200
# What a row counts besides its values: it becomes a record of the JSON export, which has objects of its own.
_RECORD_VALUES = 4
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
    "occupation": "occupations",
}
_TABLES = frozenset(
    {
        *_CONTACT_TABLES.values(),
        "contacts",
        "activities",
        "activity_contact",
        "activity_types",
        "companies",
        "life_event_types",
        "contact_field_types",
        "contact_tag",
        "genders",
        "messages",
        "places",
        "relationships",
        "relationship_types",
        "special_dates",
        "tags",
    }
)
#: What these tables hold is no record about people: accounts, settings, counts, queues, and what links other rows.
_IGNORED = frozenset(
    {
        *("accounts", "users", "invitations", "recovery_codes", "term_user", "modules", "reminder_rules"),
        *("activity_statistics", "activity_type_categories", "life_event_categories", "relationship_type_groups"),
        *("reminder_outbox", "weather", "contact_photo", "journal_entries"),
    }
)
#: The other tables under the names of the JSON export.
_OTHERS = {"photos": "photo", "entries": "journal_entry", "days": "day", "audit_logs": "audit_log"}
#: The export has neither the categories of pets nor the currencies: these are those that each Monica begins with.
_PETS = ("reptile", "bird", "cat", "dog", "fish", "hamster", "horse", "rabbit", "rat", "small animal")
_CURRENCIES = ("CAD", "USD", "GBP", "EUR", "RUB", "ZAR")
# Many rows may refer to one row of these tables. Its texts are cut, so that a hostile file cannot multiply a long one.
_SHARED = (
    *("activity_types", "companies", "contact_field_types", "genders", "life_event_types", "places"),
    *("relationship_types", "special_dates", "tags"),
)
_MAX_SHARED = 1_000


def read_tables(file: BinaryIO, table_names: frozenset[str], others: Counter[str] | None = None) -> Rows:
    """Return the rows of these tables; values are texts, None for NULL. Raises FieldError if there is no INSERT.

    Rows that are kept count towards the limit of values of a document. `others` counts the rows of all other tables.
    """
    codec = detect_encoding(file).codec
    file.seek(0)
    text = file.read().decode(codec, "replace")
    tables: Rows = defaultdict(list)
    position = _skip_space(text, 0)
    found = is_damaged = False
    values = 0
    while position < len(text):
        if match := _INSERT.match(text, position):
            found = True
            names = [name.strip().strip("`") for name in match[2].split(",")][:_MAX_COLUMNS]
            rows = tables[match[1]] if match[1] in table_names else None
            position = match.end()
            for row, end in _parse_rows(text, match.end(), names):
                position = end
                if rows is None:
                    if others is not None:
                        others[match[1]] += 1
                    continue
                values += len(row) + _RECORD_VALUES
                if values > MAX_DOCUMENT_VALUES:
                    raise too_many_values("Monica")
                rows.append(row)
        elif not is_damaged and (skipped := _OTHER_STATEMENT.match(text, position)):
            position = max(skipped.end(), position + 1)
        else:
            # A quote is never closed, so semicolons do not separate statements any more: from here on only search for
            # INSERT at the beginning of a line.
            is_damaged = True
            position = text.find("\nINSERT", position) + 1 or len(text)
        position = _skip_space(text, position)
    if not found:
        raise FieldError("file", _NOT_MONICA)
    return tables


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _parse_rows(text: str, position: int, names: list[str]) -> Iterator[tuple[JsonObject, int]]:
    """Yield the rows of a statement, each with the position behind it. Ends at the first text that is no row."""
    while text.startswith("(", position):
        values: list[str | None] = []
        position += 1
        while match := _VALUE.match(text, position):
            position = match.end()
            if len(values) < _MAX_COLUMNS:
                values.append(_parse_value(match[1], match[2]))
            if match[3] == ")":
                break
        else:
            return
        yield dict(zip(names, values, strict=False)), position
        position = _skip_space(text, position)
        if not text.startswith(",", position):
            return
        position = _skip_space(text, position + 1)


def _parse_value(quoted: str | None, bare: str) -> str | None:
    if quoted is None:
        return None if bare.upper() == "NULL" else bare
    return _ESCAPE.sub(lambda found: _ESCAPED_CHARACTERS.get(found[1], found[1]) if found[1] else "'", quoted[1:-1])


def by_id(rows: list[JsonObject]) -> Mapping[str, JsonObject]:
    """Rows by id. Of rows with the same id the first wins."""
    return {str(row.get("id")): row for row in reversed(rows)}


def open_sql_export(file: BinaryIO) -> Record:
    """Return the account of an SQL export in the shape of the JSON export. Raises FieldError if it is no export."""
    others = Counter[str]()
    rows = read_tables(file, _TABLES, others)
    # Of rows with the same id only the first counts; otherwise each of them would get the related rows.
    for table in ("contacts", "conversations"):
        rows[table] = list(by_id(rows[table]).values())[::-1]
    # One more than is imported: it says that there are more. Others would only take memory.
    rows["contacts"] = rows["contacts"][: MAX_ROWS + 1]
    for table in _SHARED:
        rows[table] = [{name: value and value[:_MAX_SHARED] for name, value in row.items()} for row in rows[table]]
    names = {str(row.get("id")): row.get("uuid") or f"contact-{row.get('id')}" for row in rows["contacts"]}
    joins = _Joins(rows)
    related = _related_records(rows, joins)
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
    contact_ids = {str(row.get("id")) for row in rows["contacts"]}
    strays = Counter(joins.unused())
    for key, lists in related.items():
        if key not in contact_ids:
            strays.update({kind: len(values) for kind, values in lists.items() if kind != "activity"})
    for table, count in others.items():
        if table not in _IGNORED:
            strays[_OTHERS.get(table, table)] += count
    return {
        "data": [
            _list("contact", contacts),
            _list("relationship", [{"properties": pair} for pair in pairs]),
            _list(
                "activity", [{"uuid": str(row.get("id")), "properties": _activity(row)} for row in rows["activities"]]
            ),
            *(_list(kind, [{}] * count) for kind, count in strays.items()),
        ],
        "instance": {
            table: [{"uuid": str(row.get("id")), "properties": row} for row in rows[table]]
            for table in ("contact_field_types", "activity_types", "life_event_types")
        },
    }


def _activity(row: Record) -> Record:
    return {**row, "type": row.get("activity_type_id")}


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


def _related_records(rows: Rows, joins: "_Joins") -> dict[str, dict[str, list[Record]]]:
    """The related records of each contact, by type."""
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, table in _CONTACT_TABLES.items():
        for row in rows[table]:
            # In place: a copy of each row would double the memory.
            contact, written = str(row.get("contact_id")), row.get("created_at")
            row.update(joins.joined(kind, row))
            found[contact][kind].append({"created_at": written, "properties": row})
    for row in rows["activity_contact"]:
        found[str(row.get("contact_id"))]["activity"].append(str(row.get("activity_id")))
    return found


class _Joins:
    """Joins the rows of contacts with other tables, under the names of the JSON export."""

    def __init__(self, rows: Rows) -> None:
        self.places, self.companies = by_id(rows["places"]), by_id(rows["companies"])
        self.employers = {str(row.get("company_id")) for row in rows["occupations"]}
        self.messages: dict[str, list[Any]] = defaultdict(list)
        for row in rows["messages"]:
            self.messages[str(row.get("conversation_id"))].append(row)

    def unused(self) -> dict[str, int]:
        """The number of rows that belong to no row that was joined, by type."""
        return {
            "message": sum(map(len, self.messages.values())),
            "company": len(self.companies.keys() - self.employers),
        }

    def joined(self, kind: str, row: Record) -> Record:
        """What the record of this row has beside the columns of its table."""
        found: Record = {}
        match kind:
            case "contact_field":
                found = {"type": row.get("contact_field_type_id")}
            case "life_event":
                found = {"type": row.get("life_event_type_id")}
            case "pet":
                found = {"category": _pick(_PETS, row.get("pet_category_id"))}
            case "debt" | "gift":
                found = _money(row)
            case "address":
                found = {**self.places.get(str(row.get("place_id")), {}), "name": row.get("name")}
            case "occupation":
                company = self.companies.get(str(row.get("company_id")), {})
                found = {"company": company.get("name"), "website": company.get("website")}
            case "conversation":
                found = {
                    "messages": self.messages.pop(str(row.get("id")), []),
                    "contact_field_type": row.get("contact_field_type_id"),
                    "happened_at": row.get("happened_at") or row.get("created_at"),
                }
        return found


def _list(kind: str, values: list[Record]) -> Record:
    return {"count": len(values), "type": kind, "values": values}


def _pick(names: Sequence[str], key: object) -> str:
    """The name with this id, which counts from 1; empty if it is none of them."""
    number = int(key) if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 4 else 0
    return names[number - 1] if 1 <= number <= len(names) else ""


def _money(row: Record) -> Record:
    """The amount, which the table has in cents. The currencies are not in the export: most are known by number only."""
    amount, key = str(row.get("amount") or ""), str(row.get("currency_id") or "")
    if not (amount.isascii() and amount.isdigit()):
        return {}
    name = _pick(_CURRENCIES, key)
    if name or not key:
        return {"amount": f"{amount[:-2] or 0}.{amount[-2:]:0>2}", "currency": name}
    return {"amount": amount, "currency": f"(× 0.01, currency {key})"}
