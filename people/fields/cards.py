"""People as vCards and back: the one place that knows which column holds what a card says."""

from collections.abc import Iterable, Mapping
from typing import Any

from people import field_table
from people.entries import SHAPES, identify_entries
from people.models import ImportantDate, Person
from people.vcard import Card, CardDate, KeptLine

#: Field of Card by column of Person; the documents are called the same on both sides.
SCALARS: Mapping[str, str] = {field.column: field.card for field in field_table.CARD_SCALARS}

#: What a line of a card may say of a person: the fields of Card that hold something.
LINE_FIELDS = frozenset({*SHAPES, *SCALARS.values(), "n", "fn", "important_dates", "categories", "photo"} - {"name"})


def card_of(
    person: Person, dates: Iterable[ImportantDate], categories: Iterable[str], photo: bytes | None = None
) -> Card:
    """Everything of `person` that a card can say."""
    values: dict[str, Any] = {field: getattr(person, column) for column, field in SCALARS.items()}
    values |= {
        column: tuple({key: entry.get(key) for key in keys} for entry in getattr(person, column))
        for column, keys in SHAPES.items()
    }
    days = {str(row.pk): date_of(row) for row in dates}
    held: dict[str, Any] = {}
    if person.card_lines:
        pairs = ((getattr(person, column), values[column]) for column in SHAPES)
        held = {
            old["id"]: entry for stored, entries in pairs for old, entry in zip(stored, entries, strict=True)
        } | days
    return Card(
        **values,
        important_dates=tuple(days.values()),
        categories=tuple(categories),
        lines=tuple(
            KeptLine(line["line"], tuple(line.get("fields", ())), held.get(line.get("id")))
            for line in person.card_lines
        ),
        photo=photo,
    )


def date_of(row: ImportantDate) -> CardDate:
    return CardDate(date=row.date, type=row.type, title=row.title, year_unknown=row.year_unknown)


def put_card(person: Person, card: Card, dates: Iterable[ImportantDate]) -> None:
    """Set the columns of `person` to what `card` says. Entries keep their ids.

    `dates` are the rows of its important dates, saved or not.
    """
    values: dict[str, Any] = {column: getattr(card, field) for column, field in SCALARS.items()}
    values["uid"] = card.uid or person.uid
    for column in Person.DOCUMENTS:
        values[column] = identify_entries(column, getattr(card, column), getattr(person, column))
    values["card_lines"] = _stored(card, person, values, dates)
    for column, value in values.items():
        setattr(person, column, value)


def remove_lines(person: Person, column: str) -> None:
    """Drop the lines of entries that are gone from a multi-value field (not saved)."""
    ids = {entry["id"] for entry in getattr(person, column)}
    gone = [line for line in person.card_lines if line.get("fields") == [column] and line.get("id") not in ids]
    if gone:
        person.card_lines = [line for line in person.card_lines if line not in gone]


def _stored(
    card: Card, person: Person, documents: Mapping[str, Any], dates: Iterable[ImportantDate]
) -> list[dict[str, Any]]:
    """The card's lines as the row has them: with the id of the entry or date that each one holds."""
    if not card.lines:
        return []
    ids: dict[Any, str] = {
        (column, *(entry[key] for key in keys)): entry["id"]
        for column, keys in SHAPES.items()
        for entry in documents[column]
    }
    for row in dates:
        ids |= {date_of(row): str(row.pk), row.type: str(row.pk)}
    former = {line["line"]: line.get("id") for line in person.card_lines}  # dates in the trash keep their lines
    lines = []
    for kept in card.lines:
        line: dict[str, Any] = {"line": kept.text}
        if kept.fields:
            line["fields"] = list(kept.fields)
        if held := _id_of(kept, ids) if kept.entry is not None else former.get(kept.text):
            line["id"] = held
        lines.append(line)
    return lines


def _id_of(kept: KeptLine, ids: Mapping[Any, str]) -> str | None:
    if isinstance(kept.entry, CardDate):
        return ids.get(kept.entry) or (ids.get(kept.entry.type) if kept.entry.type else None)
    if kept.entry is None:
        return None
    column = next(field for field in kept.fields if field in SHAPES)
    return ids.get((column, *(kept.entry.get(key) for key in SHAPES[column])))
