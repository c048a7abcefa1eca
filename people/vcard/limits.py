"""Fits what a card says into the limits of a person (open points, section 3), and says what it had to do.

A value that makes no sense when cut (a number, an address on the net) becomes a custom field; text is cut.
"""

import re
from collections.abc import Iterable, Mapping

from people.vcard.card import Entry, KeptLine
from people.vcard.labels import OTHER
from people.vcard.values import clean_line

MAX_ENTRIES = 100
MAX_CATEGORIES = 100
MAX_UID = 255
MAX_LINES_SIZE = 1024 * 1024
_TYPE, _VALUE = 50, 1000

SCALARS: Mapping[str, int] = {
    "name": 100,
    "surname": 100,
    "middle_name": 100,
    "second_last_name": 100,
    "nickname": 100,
    "prefix": 50,
    "suffix": 50,
    "gender": 50,
    "organization": 200,
    "job_title": 200,
    "display_name": 200,
    "notes": 10_000,
}
_WORDS = {
    "middle_name": "middle name",
    "second_last_name": "second last name",
    "job_title": "job title",
    "display_name": "display name",
    "phone_numbers": "phone number",
    "emails": "e-mail address",
    "urls": "web address",
    "im_handles": "messenger handle",
    "addresses": "address",
    "locations": "location",
    "custom_fields": "custom field",
    "important_dates": "date",
}
_WHOLE = {
    "phone_numbers": ("number", 50),
    "emails": ("email", 254),
    "urls": ("url", 500),
    "im_handles": ("handle", 200),
}
_ADDRESS = {
    "streetLine1": 200,
    "streetLine2": 200,
    "locality": 100,
    "region": 100,
    "country": 100,
    "postalCode": 20,
}
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN_LABEL = re.compile(r"[^\W_]([^\W_]|-){0,62}")


def is_email(address: str) -> bool:
    """A mailbox at a domain name: what Django takes, but for quoted local parts and address literals."""
    local, at, domain = address.rpartition("@")
    labels = domain.split(".")
    return (
        len(address) <= 254
        and bool(at)
        and len(local) <= 64
        and _LOCAL_PART.fullmatch(local) is not None
        and 2 <= len(labels) <= 100
        and all(_DOMAIN_LABEL.fullmatch(label) and not label.endswith("-") for label in labels)
        and len(labels[-1]) >= 2
        and not labels[-1].isdigit()
    )


class Limits:
    """Collects what a card says within the limits of a person; `warnings` says in words what did not fit."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.entries: dict[str, list[Entry]] = {}

    def scalar(self, field: str, value: str | None) -> str | None:
        return self._cut(value, SCALARS[field], _word(field)) or None

    def category(self, value: str) -> str:
        return self._cut(value, 100, "group name")

    def add(self, field: str, entry: Entry) -> tuple[str, Entry] | None:
        """The field and the entry, in the shape of the person's document, by which this one is there; None beyond the
        limit. The same entry twice is one.
        """
        field, entry = self.fitted(field, entry)
        kept = self.entries.setdefault(field, [])
        if entry not in kept:
            if len(kept) >= MAX_ENTRIES:
                self._once(f"more than {MAX_ENTRIES} entries of the kind {_word(field)}: the rest is kept unseen")
                return None
            kept.append(entry)
        return field, entry

    def fitted(self, field: str, entry: Entry) -> tuple[str, Entry]:
        """The entry cut to the limits, as a custom field where its value cannot be cut."""
        entry = {**entry, "type": clean_line(str(entry.get("type") or "")) or None}
        if field != "custom_fields":
            entry = {**entry, "type": entry["type"] or OTHER}
        entry["type"] = self._cut(entry["type"], _TYPE, "type") or None
        if field in _WHOLE:
            field, entry = self._fit_whole(field, entry)
        if field == "addresses":
            entry |= {key: self._cut(entry[key], limit, "address") or None for key, limit in _ADDRESS.items()}
        elif field == "locations":
            entry["label"] = self._cut(entry["label"], 100, "location label") or None
        elif field == "custom_fields":
            entry["key"] = self._cut(entry["key"], 100, "custom field name")
            entry["value"] = self._cut(entry["value"], _VALUE, "custom field")
        elif field == "im_handles":
            entry["protocol"] = self._cut(clean_line(str(entry["protocol"])), 50, "messenger") or entry["type"]
        return field, entry

    def _fit_whole(self, field: str, entry: dict[str, str | float | None]) -> tuple[str, dict[str, str | float | None]]:
        key, limit = _WHOLE[field]
        value = str(entry[key])
        if len(value) <= limit and (field != "emails" or is_email(value)):
            return field, entry
        why = f"longer than {limit} characters" if len(value) > limit else "not valid"
        self.warnings.append(f"the {_word(field)} “{value[:60]}” is {why} and was kept as a custom field")
        return "custom_fields", {"key": _word(field), "value": value, "type": entry["type"]}

    def sized(self, lines: Iterable[KeptLine]) -> tuple[KeptLine, ...]:
        """The lines, up to a size that a person's row may carry; a photo that a field holds does not count."""
        kept: list[KeptLine] = []
        size = 0
        for line in lines:
            room = 0 if "photo" in line.fields else len(line.text)
            if size + room > MAX_LINES_SIZE:
                self._once(f"{line.text.partition(':')[0][:40]} is too large to be kept")
            else:
                size += room
                kept.append(line)
        return tuple(kept)

    def _cut(self, value: str | float | None, limit: int, what: str) -> str:
        text = str(value or "")
        if len(text) <= limit:
            return text
        self.warnings.append(f"the {what} “{text[:40]}…” was cut to {limit} characters")
        return text[:limit].rstrip()

    def _once(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)


def _word(field: str) -> str:
    return _WORDS.get(field, field)
