"""Converts people to vCards and back. Only this module maps columns to the fields of a Card."""

from collections.abc import Iterable, Mapping
from typing import Any

from contacts_project.kernel.json import JsonMapping, JsonObject
from people import field_table
from people.entries import ENTRY_KEYS, identify_entries
from people.models import ImportantDate, Person
from people.vcard import Card, CardDate, CardLine
from people.vcard.content_lines import parse_line
from people.vcard.line_updates.copies import label_indexes, reads_as

#: Field of Card by column of Person. Multi-value fields have the same name in both.
SCALARS: Mapping[str, str] = {field.column: field.card for field in field_table.CARD_SCALARS}

#: The fields of Card that a stored card line may name.
LINE_FIELDS = frozenset(
    {*ENTRY_KEYS, *SCALARS.values(), "n", "fn", "important_dates", "categories", "photo"} - {"name"}
)


def card_of(
    person: Person, dates: Iterable[ImportantDate], categories: Iterable[str], photo: bytes | None = None
) -> Card:
    """Build the Card of `person`, with its stored lines."""
    values: dict[str, Any] = {field: getattr(person, column) for column, field in SCALARS.items()}
    values |= {
        column: tuple({key: entry.get(key) for key in keys} for entry in getattr(person, column))
        for column, keys in ENTRY_KEYS.items()
    }
    days = {str(row.pk): date_of(row) for row in dates}
    entries_by_id: dict[str, Any] = {}
    # Most people have no card lines, and exports call this for everyone.
    if person.card_lines:
        pairs = ((getattr(person, column), values[column]) for column in ENTRY_KEYS)
        entries_by_id = {
            old["id"]: entry for stored, entries in pairs for old, entry in zip(stored, entries, strict=True)
        } | days
    return Card(
        **values,
        important_dates=tuple(days.values()),
        categories=tuple(categories),
        lines=tuple(
            CardLine(line["line"], tuple(line.get("fields", ())), entries_by_id.get(line.get("id")))
            for line in person.card_lines
        ),
        photo=photo,
    )


def date_of(row: ImportantDate) -> CardDate:
    return CardDate(**{key.column: getattr(row, key.column) for key in field_table.CARD_DATE_KEYS})


def put_card(person: Person, card: Card, dates: Iterable[ImportantDate]) -> None:
    """Set the columns of `person` to the values of `card` (not saved). Entries that exist already keep their ids.

    `dates` are the rows of the card's important dates, saved or not.
    """
    values: dict[str, Any] = {column: getattr(card, field) for column, field in SCALARS.items()}
    values["uid"] = card.uid or person.uid
    for column in Person.LIST_COLUMNS:
        values[column] = identify_entries(column, getattr(card, column), getattr(person, column))
    values["card_lines"] = _stored_lines(card, person, values, dates)
    for column, value in values.items():
        setattr(person, column, value)


def remove_lines(person: Person, column: str) -> None:
    """Remove the lines of entries that the multi-value field does not contain any more (not saved), and the labels of
    addresses that were edited or removed."""
    entries = {entry["id"]: entry for entry in getattr(person, column)}
    held = {index: line for index, line in enumerate(person.card_lines) if line.get("fields") == [column]}
    gone = {index for index, line in held.items() if line.get("id") not in entries}
    if column == "addresses":
        lines = [parse_line(line["line"]) for line in person.card_lines]
        edited = {index for index in held.keys() - gone if not reads_as(lines[index], entries[held[index]["id"]])}
        gone.update(label_indexes(lines, gone | edited))
    if gone:
        person.card_lines = [line for index, line in enumerate(person.card_lines) if index not in gone]


def _stored_lines(
    card: Card, person: Person, documents: JsonMapping, dates: Iterable[ImportantDate]
) -> list[JsonObject]:
    """The card's lines in the format of Person.card_lines: with the id of the entry or date that each line holds."""
    if not card.lines:
        return []
    ids: dict[Any, str] = {
        (column, *(entry[key] for key in keys)): entry["id"]
        for column, keys in ENTRY_KEYS.items()
        for entry in documents[column]
    }
    for row in dates:
        ids |= {date_of(row): str(row.pk), row.type: str(row.pk)}
    # A date in the trash is not in `dates`, but its line keeps its id for when the date is restored.
    former_ids = {line["line"]: line.get("id") for line in person.card_lines}
    lines = []
    for kept in card.lines:
        line: dict[str, Any] = {"line": kept.text}
        if kept.fields:
            line["fields"] = list(kept.fields)
        if entry_id := _find_entry_id(kept, ids) if kept.entry is not None else former_ids.get(kept.text):
            line["id"] = entry_id
        lines.append(line)
    return lines


def _find_entry_id(kept: CardLine, ids: Mapping[object, str]) -> str | None:
    if isinstance(kept.entry, CardDate):
        # By type too: a person has one date of a type, whose day may differ from the card's.
        return ids.get(kept.entry) or (ids.get(kept.entry.type) if kept.entry.type else None)
    if kept.entry is None:
        return None
    column = next(field for field in kept.fields if field in ENTRY_KEYS)
    return ids.get((column, *(kept.entry.get(key) for key in ENTRY_KEYS[column])))
