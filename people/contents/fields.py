"""Field maps: the contents of one contact, in the same shape for a person and for a card.

The keys are the API's field names. The values are JSON, so that a base is stored as it is: text, true or null for
scalars, entries without ids for multi-value fields, names for `groups`, and for `photo` a token that each side derives
from its own bytes. Fields that no card can hold are left out, and so is `lastContact`, which is never sent.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from people import field_table
from people.entries import date_entry
from people.field_table import FieldKind, PersonField
from people.photos.names import content_hash, photo_hash
from people.vcard import Card, CardDate, Entry

Fields = dict[str, Any]

#: By the API's field name.
SCALARS: Mapping[str, PersonField] = {field.name: field for field in field_table.CARD_SCALARS if field.synced}
LISTS: Mapping[str, PersonField] = {field.name: field for field in field_table.LISTS}
_LISTS_OF_ROWS = ("importantDates", "groups")
ENTRY_FIELDS: Mapping[str, PersonField] = {
    **LISTS,
    **{field.name: field for field in field_table.FIELDS if field.name in _LISTS_OF_ROWS},
}
"""Everything that is merged entry by entry."""
COLUMNS_OF_ENTRIES: Mapping[str, str] = {
    **{name: field.card for name, field in ENTRY_FIELDS.items()},
    "relationships": "relationships",
}
"""What people.entries calls the fields that are merged entry by entry. Relationships are in the field maps of shares
alone."""
EMPTY_FIELDS: Fields = {**dict.fromkeys(SCALARS), **{field: [] for field in ENTRY_FIELDS}, "photo": None}


def build_fields(card: Card, photo: str | None = None) -> Fields:
    """The field map of `card`; `photo` is the photo token of that side."""
    fields: Fields = {}
    for name, field in SCALARS.items():
        value = getattr(card, field.card)
        # An empty text and a flag that is off equal a missing property, so all are null.
        fields[name] = value.isoformat() if isinstance(value, date) else value or None
    fields |= {name: [dict(entry) for entry in getattr(card, field.card)] for name, field in LISTS.items()}
    fields["importantDates"] = [date_entry(day) for day in card.important_dates]
    fields["groups"] = list(card.categories)
    fields["photo"] = photo
    return fields


def remote_fields(card: Card) -> Fields:
    """The field map of a card as the server has it."""
    return build_fields(card, photo_token(card))


def local_fields(card: Card, photo: str | None) -> Fields:
    """The field map of a person given as a card; `photo` is the name of the person's photo file."""
    return build_fields(card, photo_hash(photo) if photo else None)


def photo_token(card: Card) -> str | None:
    """Identifies the picture of a remote card: the hash of its bytes, or its URL."""
    if card.photo:
        return content_hash(card.photo)
    return f"url:{card.photo_url}" if card.photo_url else None


def replace_fields(card: Card, fields: Fields, changed: set[str], photo: bytes | None = None) -> Card:
    """A copy of the card in which the `changed` fields have the values of `fields`. `photo` are the new bytes."""
    values: dict[str, Any] = {}
    for name in changed:
        if name in SCALARS:
            field, value = SCALARS[name], fields[name]
            values[field.card] = (value or "") if field.required else column_value(field, value)
        elif name in LISTS:
            values[LISTS[name].card] = tuple(fields[name])
    if "importantDates" in changed:
        values["important_dates"] = tuple(map(card_date, fields["importantDates"]))
    if "groups" in changed:
        values["categories"] = tuple(fields["groups"])
    if "photo" in changed:
        # The new bytes replace a picture that the card referred to by URL.
        values |= {"photo": photo, "photo_url": None}
    return replace(card, **values)


def changed_fields(before: Fields, after: Fields) -> set[str]:
    """The fields whose values differ. A field that an older base does not have counts as unchanged."""
    return {field for field in EMPTY_FIELDS if field in before and before[field] != after[field]}


def column_value(field: PersonField, value: Any) -> Any:
    """The value of a single-valued field as its column has it."""
    if field.kind is FieldKind.FLAG:
        return bool(value)
    return date.fromisoformat(value) if field.kind is FieldKind.DATE and value else value


def card_date(entry: Entry) -> CardDate:
    """The CardDate of an entry of a field map."""
    values: dict[str, Any] = {key.column: entry[key.name] for key in field_table.CARD_DATE_KEYS}
    return CardDate(**{**values, "date": date.fromisoformat(values["date"])})
