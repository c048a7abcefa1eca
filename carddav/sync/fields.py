"""What one side says of a contact, as a field map: the same shape for a card and for a person.

The keys are the contract's names; the values are JSON, so that a base is stored as it is: text or null, entries without
ids for the multi-value fields, names for `groups`, and a token for `photo`, which each side makes of its own bytes.
What no card can hold is not in it, nor `lastContact`, which is kept here alone.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from people.photos.files import content_hash, photo_hash
from people.vcard import Card, CardDate, Entry

Fields = dict[str, Any]

_DAYS = frozenset({"anniversary", "deathday"})

#: Field of Card by the contract's name.
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
EMPTY: Fields = {
    **dict.fromkeys(SCALARS),
    **{field: [] for field in (*LISTS, "importantDates", "groups")},
    "photo": None,
}


def fields_of(card: Card, photo: str | None = None) -> Fields:
    """The field map of what `card` says; `photo` is the token of that side."""
    fields: Fields = {field: _json(getattr(card, attribute)) for field, attribute in SCALARS.items()}
    fields |= {field: [dict(entry) for entry in getattr(card, attribute)] for field, attribute in LISTS.items()}
    fields["importantDates"] = [_date_entry(day) for day in card.important_dates]
    fields["groups"] = list(card.categories)
    fields["photo"] = photo
    return fields


def remote_fields(card: Card) -> Fields:
    """The field map of a card of the server."""
    return fields_of(card, photo_token(card))


def local_fields(card: Card, photo: str | None) -> Fields:
    """The field map of a person, whose card it is; `photo` is the name of its file."""
    return fields_of(card, photo_hash(photo) if photo else None)


def photo_token(card: Card) -> str | None:
    """What tells one picture of a server from another: the hash of its bytes, or its address."""
    if card.photo:
        return content_hash(card.photo)
    return f"url:{card.photo_url}" if card.photo_url else None


def card_with(card: Card, fields: Fields, changed: set[str], photo: bytes | None = None) -> Card:
    """The card saying what `fields` do in those that are `changed`; everything else stays. `photo`: the new bytes."""
    values: dict[str, Any] = {}
    for field in changed:
        if field in SCALARS:
            values[SCALARS[field]] = _scalar(field, fields[field])
        elif field in LISTS:
            values[LISTS[field]] = tuple(fields[field])
    if "importantDates" in changed:
        values["important_dates"] = tuple(map(card_date, fields["importantDates"]))
    if "groups" in changed:
        values["categories"] = tuple(fields["groups"])
    if "photo" in changed:
        values |= {"photo": photo, "photo_url": None}
    return replace(card, **values)


def changed_fields(before: Fields, after: Fields) -> set[str]:
    """The fields that say something else. A base of an older version may lack a field: that is no change."""
    return {field for field in EMPTY if field in before and before[field] != after[field]}


def _scalar(field: str, value: Any) -> Any:
    if field in _DAYS:
        return date.fromisoformat(value) if value else None
    return (value or "") if field == "name" else value


def _json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value or None


def _date_entry(day: CardDate) -> dict[str, Any]:
    return {"type": day.type, "title": day.title, "date": day.date.isoformat(), "yearUnknown": day.year_unknown}


def card_date(entry: Entry) -> CardDate:
    """The date of an entry of a field map."""
    return CardDate(
        date=date.fromisoformat(str(entry["date"])),
        type=None if entry["type"] is None else str(entry["type"]),
        title=None if entry["title"] is None else str(entry["title"]),
        year_unknown=bool(entry["yearUnknown"]),
    )
