"""Applies the limits of a person to the values of a card, with a warning for each change.

Text is truncated. A value that would be useless then (a phone number, an e-mail or web address) becomes a custom field.
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

_SCALAR_FIELDS = {field.card: field for field in field_table.CARD_SCALARS}
#: The maximum length of each text field of a card, in characters. A UID is missing: it is never truncated.
TEXT_LIMITS: Mapping[str, int] = {
    name: field.limit for name, field in _SCALAR_FIELDS.items() if field.kind is Kind.TEXT and name != "uid"
}
MAX_UID = _SCALAR_FIELDS["uid"].limit
_LIST_FIELDS = {field.card: field for field in field_table.LISTS}
_TYPE_KEY = _LIST_FIELDS["phone_numbers"].keys[0]
_UNTRUNCATED_KEYS = {name: key for name, field in _LIST_FIELDS.items() for key in field.keys if key.never_truncated}
_TRUNCATED_KEYS = {
    name: [key for key in field.keys if key.limit and not key.never_truncated and key.name != "type"]
    for name, field in _LIST_FIELDS.items()
}
_FIELD_LABELS = {name: field.label for name, field in (*_SCALAR_FIELDS.items(), *_LIST_FIELDS.items())} | {
    "important_dates": "date"
}


class Remarks(list[str]):
    """The distinct remarks about one record. The first MAX_REMARKS are kept, the others are counted."""

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

    def all_remarks(self) -> tuple[str, ...]:
        return (*self, f"and {self.others} more remarks") if self.others else tuple(self)


class Limits:
    """Collects the values of one card within the limits of a person. Appends to `warnings` what did not fit."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.entries: dict[str, list[Entry]] = {}

    def truncate_scalar(self, field: str, value: str | None) -> str | None:
        return self._truncate(value, TEXT_LIMITS[field], _field_label(field)) or None

    def truncate_category(self, value: str) -> str:
        return self._truncate(value, 100, "group name")

    def add(self, field: str, entry: Entry) -> tuple[str, Entry] | None:
        """Add an entry unless it is there already. Returns its field and the entry as stored, None beyond the limit."""
        field, entry = self.limit_entry(field, entry)
        kept = self.entries.setdefault(field, [])
        if entry not in kept:
            if len(kept) >= MAX_ENTRIES:
                self._warn_once(
                    f"more than {MAX_ENTRIES} entries of the kind {_field_label(field)}: the rest is kept unseen"
                )
                return None
            kept.append(entry)
        return field, entry

    def limit_entry(self, field: str, entry: Entry) -> tuple[str, Entry]:
        """The entry within the limits, and its field, which is `custom_fields` if the value is invalid or too long."""
        kind = clean_line(str(entry.get("type") or "")) or (None if field == "custom_fields" else OTHER)
        limited = {**entry, "type": self._truncate(kind, _TYPE_KEY.limit, _TYPE_KEY.label) or None}
        if field in _UNTRUNCATED_KEYS:
            # May become a custom field, whose keys are then truncated below.
            field, limited = self._keep_whole(field, limited)
        for key in _TRUNCATED_KEYS[field]:
            value = clean_line(str(limited[key.name])) if key.default_key else limited[key.name]
            text = self._truncate(value, key.limit, key.label)
            limited[key.name] = text if key.required else text or limited.get(key.default_key)
        return field, limited

    def _keep_whole(
        self, field: str, entry: dict[str, str | float | None]
    ) -> tuple[str, dict[str, str | float | None]]:
        """The entry unchanged, or as a custom field if its value is invalid or too long."""
        key = _UNTRUNCATED_KEYS[field]
        value = str(entry[key.name])
        if len(value) <= key.limit and (key.kind is not KeyKind.EMAIL or is_email(value)):
            return field, entry
        reason = f"longer than {key.limit} characters" if len(value) > key.limit else "not valid"
        self.warnings.append(f"the {_field_label(field)} “{value[:60]}” is {reason} and was kept as a custom field")
        return "custom_fields", {"key": _field_label(field), "value": value, "type": entry["type"]}

    def limit_lines(self, lines: Iterable[KeptLine]) -> tuple[KeptLine, ...]:
        """The lines within MAX_LINES_SIZE characters. The photo does not count: it is not stored in the line."""
        kept: list[KeptLine] = []
        size = 0
        for line in lines:
            length = 0 if "photo" in line.fields else len(line.text)
            if size + length > MAX_LINES_SIZE:
                self._warn_once(f"{line.text.partition(':')[0][:40]} is too large to be kept")
            else:
                size += length
                kept.append(line)
        return tuple(kept)

    def _truncate(self, value: str | float | None, limit: int, what: str) -> str:
        text = str(value or "")
        if len(text) <= limit:
            return text
        self.warnings.append(f"the {what} “{text[:40]}…” was cut to {limit} characters")
        return text[:limit].rstrip()

    def _warn_once(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)


def _field_label(field: str) -> str:
    return _FIELD_LABELS.get(field, field)
