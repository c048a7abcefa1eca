"""Field maps: the contents of one contact, in the same shape for a person and for a card.

The keys are the API's field names. The values are JSON, so that a base is stored as it is: text or null for scalars,
entries without ids for multi-value fields, names for `groups`, and for `photo` a token that each side derives from its
own bytes. Fields that no card can hold are left out, and so is `lastContact`, which is never sent.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from people.photos.files import content_hash, photo_hash
from people.vcard import Card, CardDate, Entry

Fields = dict[str, Any]

DATE_SCALARS = frozenset({"anniversary", "deathday"})

#: Attribute of Card by the API's field name.
SCALARS: Mapping[str, str] = {
    "name": "name",
    "surname": "surname",
    "middleName": "middle_name",
    "secondLastName": "second_last_name",
    "nickname": "nickname",
    "phoneticName": "phonetic_name",
    "phoneticSurname": "phonetic_surname",
    "prefix": "prefix",
    "suffix": "suffix",
    "displayNameOverride": "display_name",
    "organization": "organization",
    "jobTitle": "job_title",
    "gender": "gender",
    "anniversary": "anniversary",
    "deathday": "deathday",
    "notes": "notes",
}
LISTS: Mapping[str, str] = {
    "phoneNumbers": "phone_numbers",
    "emails": "emails",
    "addresses": "addresses",
    "urls": "urls",
    "imHandles": "im_handles",
    "locations": "locations",
    "customFields": "custom_fields",
}
EMPTY_FIELDS: Fields = {
    **dict.fromkeys(SCALARS),
    **{field: [] for field in (*LISTS, "importantDates", "groups")},
    "photo": None,
}


def build_fields(card: Card, photo: str | None = None) -> Fields:
    """The field map of `card`; `photo` is the photo token of that side."""
    fields: Fields = {}
    for field, attribute in SCALARS.items():
        value = getattr(card, attribute)
        # An empty text equals a missing property, so both are null.
        fields[field] = value.isoformat() if isinstance(value, date) else value or None
    fields |= {field: [dict(entry) for entry in getattr(card, attribute)] for field, attribute in LISTS.items()}
    fields["importantDates"] = [
        {"type": day.type, "title": day.title, "date": day.date.isoformat(), "yearUnknown": day.year_unknown}
        for day in card.important_dates
    ]
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
    for field in changed:
        if field in SCALARS:
            values[SCALARS[field]] = _parse_scalar(field, fields[field])
        elif field in LISTS:
            values[LISTS[field]] = tuple(fields[field])
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


def _parse_scalar(field: str, value: Any) -> Any:
    if field in DATE_SCALARS:
        return date.fromisoformat(value) if value else None
    return (value or "") if field == "name" else value


def card_date(entry: Entry) -> CardDate:
    """The CardDate of an entry of a field map."""
    return CardDate(
        date=date.fromisoformat(str(entry["date"])),
        type=None if entry["type"] is None else str(entry["type"]),
        title=None if entry["title"] is None else str(entry["title"]),
        year_unknown=bool(entry["yearUnknown"]),
    )
