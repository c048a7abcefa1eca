"""Fits what a card says into the limits of a person (open points, section 3), and says what it had to do.

A value that makes no sense when cut (a number, an address on the net) becomes a custom field; text is cut.
"""

from collections.abc import Iterable, Mapping

from contacts_project.kernel.api.fields import is_email
from people import field_table
from people.field_table import OTHER, KeyKind, Kind
from people.vcard.card import Entry, KeptLine
from people.vcard.values import clean_line

MAX_ENTRIES = field_table.MAX_ENTRIES
MAX_CATEGORIES = 100
MAX_LINES_SIZE = 1024 * 1024
MAX_REMARKS = 20

_SCALARS = {field.card: field for field in field_table.CARD_SCALARS}
#: Characters of each text of a card but its UID, which is not cut.
TEXTS: Mapping[str, int] = {
    name: field.limit for name, field in _SCALARS.items() if field.kind is Kind.TEXT and name != "uid"
}
MAX_UID = _SCALARS["uid"].limit
_LISTS = {field.card: field for field in field_table.LISTS}
_TYPE = _LISTS["phone_numbers"].keys[0]
_WHOLE = {name: key for name, field in _LISTS.items() for key in field.keys if key.whole}
_CUT = {
    name: [key for key in field.keys if key.limit and not key.whole and key.name != "type"]
    for name, field in _LISTS.items()
}
_WORDS = {name: field.word for name, field in (*_SCALARS.items(), *_LISTS.items())} | {"important_dates": "date"}


class Remarks(list[str]):
    """What there is to say of one record, each once: the first MAX_REMARKS, the others are counted."""

    def __init__(self, remarks: Iterable[str] = ()) -> None:
        super().__init__(remarks)
        self.others = 0

    def append(self, remark: str) -> None:
        if remark in self:
            return
        if len(self) < MAX_REMARKS:
            super().append(remark)
        else:
            self.others += 1

    def told(self) -> tuple[str, ...]:
        return (*self, f"and {self.others} more remarks") if self.others else tuple(self)


class Limits:
    """Collects what a card says within the limits of a person; `warnings` says in words what did not fit."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.entries: dict[str, list[Entry]] = {}

    def scalar(self, field: str, value: str | None) -> str | None:
        return self._cut(value, TEXTS[field], _word(field)) or None

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
        kind = clean_line(str(entry.get("type") or "")) or (None if field == "custom_fields" else OTHER)
        whole = {**entry, "type": self._cut(kind, _TYPE.limit, _TYPE.word) or None}
        if field in _WHOLE:
            field, whole = self._fit_whole(field, whole)
        for key in _CUT[field]:
            said = clean_line(str(whole[key.name])) if key.default_key else whole[key.name]
            text = self._cut(said, key.limit, key.word)
            whole[key.name] = text if key.required else text or whole.get(key.default_key)
        return field, whole

    def _fit_whole(self, field: str, entry: dict[str, str | float | None]) -> tuple[str, dict[str, str | float | None]]:
        key = _WHOLE[field]
        value = str(entry[key.name])
        if len(value) <= key.limit and (key.kind is not KeyKind.EMAIL or is_email(value)):
            return field, entry
        why = f"longer than {key.limit} characters" if len(value) > key.limit else "not valid"
        self.warnings.append(f"the {_word(field)} “{value[:60]}” is {why} and was kept as a custom field")
        return "custom_fields", {"key": _word(field), "value": value, "type": entry["type"]}

    def sized(self, lines: Iterable[KeptLine]) -> tuple[KeptLine, ...]:
        """The lines, up to a size that a person's row may carry; a photo that a field holds does not count."""
        kept: list[KeptLine] = []
        size = 0
        for line in lines:
            length = 0 if "photo" in line.fields else len(line.text)
            if size + length > MAX_LINES_SIZE:
                self._once(f"{line.text.partition(':')[0][:40]} is too large to be kept")
            else:
                size += length
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
