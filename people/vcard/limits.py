"""Applies the limits of a person to the values of a card, with a warning for each change.

Text is truncated. A value that would be useless then (a phone number, an e-mail or web address) becomes a custom field.
"""

from collections.abc import Iterable, Mapping

from contacts_project.kernel.text_forms import is_email
from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.field_table import OTHER, FieldKind, KeyKind
from people.vcard.card import CardLine, Entry
from people.vcard.values import clean_line

_GROUP_NAME = define_text("noun_group_name", "group name")
CONTROLS_REMOVED = define_text("controls_removed", "control characters were removed")
_MORE = define_text("more_remarks", "and %(count)s more remark", plural="and %(count)s more remarks", number="count")
_KEPT_TOO_LONG = define_text(
    "kept_too_long", "the %(field)s “%(value)s” is longer than %(limit)s characters and was kept as a custom field"
)
_KEPT_INVALID = define_text("kept_invalid", "the %(field)s “%(value)s” is not valid and was kept as a custom field")

_TOO_MANY_ENTRIES = define_text(
    "entries_kept_unseen", "more than %(limit)s entries of the kind %(field)s: the rest is kept unseen"
)
_LINE_TOO_LARGE = define_text("line_too_large", "%(property)s is too large to be kept")
_CUT = define_text("value_cut", "the %(field)s “%(value)s…” was cut to %(limit)s characters")

MAX_ENTRIES = field_table.MAX_ENTRIES
MAX_CATEGORIES = 100
MAX_LINES_SIZE = 1024 * 1024
MAX_REMARKS = 20

_SCALAR_FIELDS = {field.card: field for field in field_table.CARD_SCALARS}
#: The maximum length of each text field of a card, in characters. A UID is missing: it is never truncated.
TEXT_LIMITS: Mapping[str, int] = {
    name: field.limit for name, field in _SCALAR_FIELDS.items() if field.kind is FieldKind.TEXT and name != "uid"
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

_FIELD_TEXTS = {name: define_text(f"field_{name}", label) for name, label in _FIELD_LABELS.items()}
_KEY_TEXTS = {
    key.label: define_text(f"key_{key.label.replace(' ', '_')}", key.label)
    for field in field_table.LISTS
    for key in field.keys
    if key.label
}
_DATE_TEXTS = {
    "": define_text("noun_date", "date"),
    "BIRTHDAY": define_text("noun_birthday", "birthday"),
    "ANNIVERSARY": define_text("noun_anniversary", "anniversary"),
    "NAMEDAY": define_text("noun_nameday", "name day"),
    "MEMORIAL": define_text("noun_memorial", "memorial day"),
}


class Remarks(list[Text]):
    """The distinct remarks about one record. The first MAX_REMARKS are kept, the others are counted.

    So a new remark is compared with at most MAX_REMARKS others, however many remarks a hostile record gives rise to.
    """

    def __init__(self, remarks: Iterable[Text] = ()) -> None:
        super().__init__(remarks)
        self.others = 0

    def append(self, remark: Text) -> None:
        if remark in self:
            return
        if len(self) < MAX_REMARKS:
            super().append(remark)
        else:
            self.others += 1

    def extend(self, remarks: Iterable[Text]) -> None:
        for remark in remarks:
            self.append(remark)

    def all_remarks(self) -> tuple[Text, ...]:
        return (*self, _MORE.format(count=self.others)) if self.others else tuple(self)


class CardLimits:
    """Collects the values of one card within the limits of a person. Appends to `warnings` what did not fit."""

    def __init__(self, warnings: list[Text]) -> None:
        self.warnings = warnings
        self.entries: dict[str, list[Entry]] = {}

    def truncate_scalars(self, values: Mapping[str, str | None]) -> dict[str, str | None]:
        """All text fields of a card; None for one that is missing or empty."""
        return {
            field: self._truncate(text, limit, _FIELD_TEXTS[field]) or None if (text := values.get(field)) else None
            for field, limit in TEXT_LIMITS.items()
        }

    def truncate_category(self, value: str) -> str:
        return self._truncate(value, 100, _GROUP_NAME)

    def add(self, field: str, entry: Entry) -> tuple[str, Entry] | None:
        """Add an entry unless it is there already. Returns its field and the entry as stored, None beyond the limit."""
        field, entry = self.limit_entry(field, entry)
        kept = self.entries.setdefault(field, [])
        if entry not in kept:
            if len(kept) >= MAX_ENTRIES:
                self.warnings.append(too_many_entries(field))
                return None
            kept.append(entry)
        return field, entry

    def limit_entry(self, field: str, entry: Entry) -> tuple[str, Entry]:
        """The entry within the limits, and its field, which is `custom_fields` if the value is invalid or too long."""
        kind = clean_line(str(entry.get("type") or "")) or (None if field == "custom_fields" else OTHER)
        limited = {**entry, "type": self._truncate(kind, _TYPE_KEY.limit, _KEY_TEXTS[_TYPE_KEY.label]) or None}
        if field in _UNTRUNCATED_KEYS:
            # May become a custom field, whose keys are then truncated below.
            field, limited = self._keep_whole(field, limited)
        for key in _TRUNCATED_KEYS[field]:
            value = clean_line(str(limited[key.name])) if key.default_key else limited[key.name]
            text = self._truncate(value, key.limit, _KEY_TEXTS[key.label])
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
        text = field_text(field)
        if len(value) > key.limit:
            self.warnings.append(_KEPT_TOO_LONG.format(field=text, value=value[:60], limit=key.limit))
        else:
            self.warnings.append(_KEPT_INVALID.format(field=text, value=value[:60]))
        return "custom_fields", {"key": _FIELD_LABELS.get(field, field), "value": value, "type": entry["type"]}

    def limit_lines(self, lines: Iterable[CardLine]) -> tuple[CardLine, ...]:
        """The lines within MAX_LINES_SIZE characters. The photo does not count: it is not stored in the line."""
        kept: list[CardLine] = []
        size = 0
        for line in lines:
            length = 0 if "photo" in line.fields else len(line.text)
            if size + length > MAX_LINES_SIZE:
                self.warnings.append(_LINE_TOO_LARGE.format(property=line.text.partition(":")[0][:40]))
            else:
                size += length
                kept.append(line)
        return tuple(kept)

    def _truncate(self, value: str | float | None, limit: int, what: Text) -> str:
        text = str(value or "")
        if len(text) <= limit:
            return text
        self.warnings.append(_CUT.format(field=what, value=text[:40], limit=limit))
        return text[:limit].rstrip()


def field_text(field: str) -> Text:
    """The name of a field in remarks."""
    return _FIELD_TEXTS[field]


def too_many_entries(field: str) -> Text:
    """The remark that entries of a multi-value field exceed its limit."""
    return _TOO_MANY_ENTRIES.format(limit=MAX_ENTRIES, field=field_text(field))


def date_text(kind: str | None) -> Text:
    """The name of a predefined type of important dates in remarks."""
    return _DATE_TEXTS[kind or ""]
