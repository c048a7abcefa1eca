"""Pairs of entries that are the same, or different, by the table of docs/entries.md. Used for people.entries itself,
for merging, importing and syncing."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from people import field_table
from people.vcard import Card, CardDate, write_card


@dataclass(frozen=True)
class Case:
    """Two entries of one field of a person, by the API's names."""

    field: str
    one: dict[str, Any]
    other: dict[str, Any]

    def __str__(self) -> str:
        differing = [key for key in self.one if self.one.get(key) != self.other.get(key)]
        texts = [" ".join(str(entry.get(key)) for key in differing) for entry in (self.one, self.other)]
        return f"{self.field}: {texts[0]} | {texts[1]}"


def _phones(*pairs: tuple[str, str]) -> list[Case]:
    return [Case("phoneNumbers", {"type": "home", "number": a}, {"type": "work", "number": b}) for a, b in pairs]


def _emails(*pairs: tuple[str, str]) -> list[Case]:
    return [Case("emails", {"type": "home", "email": a}, {"type": "work", "email": b}) for a, b in pairs]


def _urls(*pairs: tuple[str, str]) -> list[Case]:
    return [Case("urls", {"type": "home", "url": a}, {"type": "work", "url": b}) for a, b in pairs]


def _handles(*pairs: tuple[tuple[str, str], tuple[str, str]]) -> list[Case]:
    return [
        Case(
            "imHandles",
            {"type": "home", "protocol": a[0], "handle": a[1]},
            {"type": "work", "protocol": b[0], "handle": b[1]},
        )
        for a, b in pairs
    ]


def _places(*pairs: tuple[tuple[float, float], tuple[float, float]]) -> list[Case]:
    return [
        Case(
            "locations",
            {"type": "home", "latitude": a[0], "longitude": a[1], "label": "Here"},
            {"type": "work", "latitude": b[0], "longitude": b[1], "label": "There"},
        )
        for a, b in pairs
    ]


_ADDRESS = {
    "streetLine1": "Große Straße 1",
    "streetLine2": "Hinterhaus",
    "locality": "Zürich",
    "region": "ZH",
    "country": "Switzerland",
    "postalCode": "8001",
}


def _addresses(*changes: dict[str, str]) -> list[Case]:
    return [
        Case("addresses", {"type": "home", **_ADDRESS}, {"type": "work", **_ADDRESS, **change}) for change in changes
    ]


def _custom(*pairs: tuple[tuple[str, str], tuple[str, str]]) -> list[Case]:
    return [Case("customFields", {"key": a[0], "value": a[1]}, {"key": b[0], "value": b[1]}) for a, b in pairs]


def _dates(*pairs: tuple[dict[str, Any], dict[str, Any]]) -> list[Case]:
    whole = {"type": None, "title": None, "date": "2001-02-03", "yearUnknown": False}
    return [Case("importantDates", {**whole, **a}, {**whole, **b}) for a, b in pairs]


SAME = [
    *_phones(
        ("+49 151 23456789", "+49-151/23456789"),
        ("+49 151 23456789", "+49 (0)151 23456789"),
        ("+49 151 23456789", "0049 151 23456789"),
        ("+49 151 23456789", "011 49 151 23456789"),
        ("0151 23456789", "(0151) 234-567-89"),
        ("+49 151 23456789", "0151 23456789"),
        ("+49 151 23456789", "151 23456789"),
        ("+36 30 1234567", "06 30 1234567"),
        ("+7 912 3456789", "8 912 3456789"),
        ("+1 212 5551234", "1 212 5551234"),
        ("+1 212 5551234", "(212) 555-1234"),
        ("+39 06 1234567", "06 1234567"),
        ("+49 30 1234 ext. 5", "030 1234 x5"),
        ("+49 151 23456789", "+٤٩ ١٥١ ٢٣٤٥٦٧٨٩"),
    ),
    *_emails(
        ("Ada@Example.org", "ada@example.ORG"),
        ("ada@müller.example", "ada@xn--mller-kva.example"),
    ),
    *_urls(
        ("https://Example.org/a", "HTTP://example.ORG/a"),
        ("https://example.org", "https://example.org/"),
        ("https://example.org/a", "http://example.org/a/"),
        ("https://müller.example/", "https://xn--mller-kva.example"),
        ("https://x.org/caf\u00e9", "https://x.org/cafe\u0301"),
    ),
    *_handles((("Matrix", "@ada:x.org"), ("matrix", "@ada:x.org"))),
    *_places(((51.5, -0.25), (51.5000001, -0.2500004))),
    *_addresses(
        {},
        {"streetLine1": "GROSSE  Strasse 1", "locality": "zurich"},
        {"locality": "Zu\u0308rich"},
        {"country": "CH"},
        {"country": "schweiz"},
        {"country": "Suisse"},
        {"country": "CHE"},
    ),
    *_custom(
        (("Engine", "Analytical"), ("engine", "Analytical")), (("Caf\u00e9", "\u00e9"), ("cafe\u0301", "e\u0301"))
    ),
    *_dates(
        ({"type": "BIRTHDAY"}, {"type": "BIRTHDAY", "title": "The day"}),
        ({"title": "Met Babbage"}, {"title": "met babbage"}),
    ),
]

DIFFERENT = [
    *_phones(
        ("+43 151 23456789", "+49 151 23456789"),
        ("+49 151 23456789", "+49 151 23456780"),
        ("0151 23456789", "151 23456789"),
        ("+49 30 1234", "+49 30 1234 ext. 5"),
        ("030 1234 ext. 5", "030 1234 ext. 6"),
        ("030 1234", "030 1234 x5"),
        ("+49 151 23456789", "8 151 23456789"),
        ("+49 151 23456789", "23456789"),
        ("0800 FLOWERS", "0800 TREES"),
    ),
    *_emails(("ada@x.org", "ada@y.org"), ("ada.l@x.org", "adal@x.org")),
    *_urls(
        ("https://example.org/A", "https://example.org/a"),
        ("https://example.org/a?Q", "https://example.org/a?q"),
        ("https://example.org/a#B", "https://example.org/a#b"),
        ("https://example.org/a", "ftp://example.org/a"),
        ("https://example.org/a", "https://example.org:8443/a"),
    ),
    *_handles((("matrix", "@ada:x.org"), ("matrix", "@Ada:x.org")), (("matrix", "ada"), ("irc", "ada"))),
    *_places(((51.5, -0.25), (51.500001, -0.25))),
    *_addresses({"streetLine2": "Vorderhaus"}, {"postalCode": "8002"}, {"country": "Austria"}, {"region": "Zurich"}),
    *_custom((("Engine", "Analytical"), ("Engine", "analytical")), (("Engine", "1"), ("Motor", "1"))),
    *_dates(
        ({"type": "BIRTHDAY"}, {"type": "ANNIVERSARY"}),
        ({"title": "Met Babbage"}, {"title": "Met Byron"}),
        ({"title": "Met Babbage"}, {"title": "Met Babbage", "date": "2002-02-03"}),
    ),
]


def card_with(case_entry: dict[str, Any], field: str, name: str, uid: str) -> str:
    """The text of a card with this one entry."""
    columns = {row.name: row.card for row in field_table.FIELDS}
    entry: Any
    if field == "importantDates":
        day = {key.column: case_entry[key.name] for key in field_table.CARD_DATE_KEYS}
        entry = CardDate(**{**day, "date": dt.date.fromisoformat(day["date"])})
    else:
        keys = next(row.keys for row in field_table.LISTS if row.name == field)
        entry = {key.name: case_entry.get(key.name) for key in keys if not key.read_only}
    values: dict[str, Any] = {columns[field]: (entry,)}
    return write_card(Card(name=name, uid=uid, **values), "3.0")
