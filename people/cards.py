"""People as vCards and back: the one place that knows which column holds what a card says."""

from collections.abc import Iterable, Mapping
from typing import Any

from people.documents import SHAPES, settle
from people.models import ImportantDate, Person
from people.vcard import Card, CardDate

#: Field of Card by column of Person; the documents are called the same on both sides.
SCALARS: Mapping[str, str] = {
    "name": "name",
    "surname": "surname",
    "middle_name": "middle_name",
    "second_last_name": "second_last_name",
    "nickname": "nickname",
    "prefix": "prefix",
    "suffix": "suffix",
    "display_name_override": "display_name",
    "organization": "organization",
    "job_title": "job_title",
    "gender": "gender",
    "anniversary": "anniversary",
    "last_contact": "last_contact",
    "notes": "notes",
    "uid": "uid",
}


def card_of(person: Person, dates: Iterable[CardDate], categories: Iterable[str], photo: bytes | None = None) -> Card:
    """Everything of `person` that a card can say."""
    values: dict[str, Any] = {field: getattr(person, column) for column, field in SCALARS.items()}
    values |= {
        column: tuple({key: entry.get(key) for key in keys} for entry in getattr(person, column))
        for column, keys in SHAPES.items()
    }
    return Card(
        **values,
        important_dates=tuple(dates),
        categories=tuple(categories),
        extra=tuple(person.vcard_extra),
        photo=photo,
    )


def date_of(row: ImportantDate) -> CardDate:
    return CardDate(date=row.date, type=row.type, title=row.title, year_unknown=row.year_unknown)


def put_card(person: Person, card: Card) -> set[str]:
    """Set the columns of `person` to what `card` says; returns those that changed. Entries keep their ids."""
    wanted: dict[str, Any] = {column: getattr(card, field) for column, field in SCALARS.items()}
    wanted |= {column: settle(column, getattr(card, column), getattr(person, column)) for column in Person.DOCUMENTS}
    wanted["vcard_extra"] = list(card.extra)
    wanted["uid"] = card.uid or person.uid
    changed = {column for column, value in wanted.items() if getattr(person, column) != value}
    for column in changed:
        setattr(person, column, wanted[column])
    return changed
