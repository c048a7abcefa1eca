"""Builder of a card from one record of another product. Enforces the limits of a person."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contacts_project.kernel.charsets import has_controls, join_surrogates, remove_controls
from contacts_project.kernel.text_forms import case_key, nfc
from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.field_table import MAX_ENTRIES, OTHER
from people.importing.sources.days import DayReader
from people.vcard import Card, CardDate, CardLine, CardResult
from people.vcard.card import LIST_FIELDS
from people.vcard.content_lines import ContentLine
from people.vcard.full_name import names_of, says_only_name
from people.vcard.labels import write_label
from people.vcard.limits import (
    CONTROLS_REMOVED,
    MAX_CATEGORIES,
    TEXT_LIMITS,
    CardLimits,
    Remarks,
    date_text,
    field_text,
)
from people.vcard.values import escape, single_line

NAMELESS = define_text("nameless_record", "this record has no name, and nothing else to call it by")
_SECOND_VALUE = define_text("second_value", "a second %(field)s “%(value)s” was left out")
_YEARLESS = define_text("date_without_year", "the %(field)s “%(value)s” has no year and was left out")
_TOO_MANY_DATES = define_text("dates_left_out", "more than %(limit)s dates: the rest was left out")
_TOO_MANY_GROUPS = define_text("groups_left_out", "more than %(limit)s groups: the rest was left out")
_GUESSED_DAY = define_text(
    "date_order_uncertain",
    "the %(field)s “%(value)s” was read as %(day)s, but day and month could be the other way round",
)
_NO_DAY = define_text("not_a_day", "the %(field)s “%(value)s” is no day that could be read, and was left out")

#: The date fields and the text fields of a card, by their names in JSON.
DAY_FIELDS = {field.name: field.card for field in field_table.CARD_SCALARS if field.kind is field_table.FieldKind.DATE}
TEXT_FIELDS = {
    field.name: field.card
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.FieldKind.TEXT and not field.read_only
}
#: The flags of a card, by their names in JSON.
FLAG_FIELDS = {field.name: field.card for field in field_table.CARD_SCALARS if field.kind is field_table.FieldKind.FLAG}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordResult(CardResult):
    """A parsed record. `columns` are columns of the person that no card has; `key` is its key in the file.

    `to_user` is the name of the relationship type between the person and the user. `reminders` are the columns of the
    reminder of each important date that has one.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    reminders: Mapping[CardDate, Mapping[str, Any]] = field(default_factory=dict)
    key: str = ""
    to_user: str = ""


class RecordDraft:
    """A card under construction. `warnings` are what did not fit or was left out; they become the record's `reason`."""

    def __init__(self, days: DayReader, warnings: tuple[Text, ...] = ()) -> None:
        self.days = days
        self.warnings = Remarks(warnings)
        self.limits = CardLimits(self.warnings)
        self.columns: dict[str, Any] = {}
        self.full_name = self.to_user = ""
        self.photo: bytes | None = None
        self.uid: str | None = None
        self._texts: dict[str, Any] = {}
        self._notes: list[str] = []
        self._notes_size = 0
        self._days: dict[str, Any] = {}
        self._flags: dict[str, Any] = {}
        self._dates: list[CardDate] = []
        self._reminders: dict[CardDate, Mapping[str, Any]] = {}
        self._categories: dict[str, str] = {}
        self._lines: list[CardLine] = []
        self._items = 0

    def clean(self, text: str) -> str:
        """Return the text trimmed, in NFC, without control characters and lone surrogates, with `\\n` as line end."""
        if has_controls(text):
            self.warn(CONTROLS_REMOVED)
            text = remove_controls(text)
        return nfc(join_surrogates(text).replace("\r\n", "\n").replace("\r", "\n").strip())

    def warn(self, text: Text) -> None:
        self.warnings.append(text)

    def set_text(self, name: str, text: str) -> None:
        """Set a text field of the card. The first value wins; notes are concatenated."""
        value = self.clean(text)
        if name == "notes":
            # Text beyond the limit is not collected: one character more is enough to warn that the notes were cut.
            if value and self._notes_size <= TEXT_LIMITS["notes"]:
                self._notes.append(value)
                self._notes_size += len(value)
            return
        value = single_line(value)
        if (existing := self._texts.get(name)) and value and value != existing:
            self.warn(_SECOND_VALUE.format(field=field_text(name), value=value[:60]))
        elif value:
            self._texts[name] = value

    def add_entry(self, name: str, kind: str, **values: str | float | None) -> None:
        """Add an entry to a multi-value field, unless all its values are blank."""
        cleaned = {
            key: single_line(self.clean(value)) if isinstance(value, str) else value for key, value in values.items()
        }
        contents = [value for key, value in cleaned.items() if key not in {"protocol", "key"}]
        if any(value not in {"", None} for value in contents):
            self.limits.add(name, {"type": self.clean(kind) or OTHER, **cleaned})

    def add_custom(self, key: str, value: str) -> None:
        """Add a custom field for a value that has no field here, under its original name."""
        text = self.clean(value)
        if text:
            self.limits.add(
                "custom_fields", {"key": single_line(self.clean(key)) or OTHER, "value": text, "type": None}
            )

    def add_address(self, kind: str, parts: Mapping[str, str]) -> None:
        """Add an address, by the keys of its entry. All street lines after the first are joined into the second."""
        values = {key: self.clean(text) for key, text in parts.items()}
        lines = [line.strip() for key in ("streetLine1", "streetLine2") for line in values.pop(key, "").split("\n")]
        lines = [line for line in lines if line]
        address: dict[str, str | None] = dict.fromkeys(
            ("streetLine1", "streetLine2", "locality", "region", "country", "postalCode")
        )
        address |= {key: single_line(text) or None for key, text in values.items()}
        if lines:
            address |= {"streetLine1": lines[0], "streetLine2": ", ".join(lines[1:]) or None}
        if any(address.values()):
            self.limits.add("addresses", {"type": kind or OTHER, **address})

    def set_day(self, name: str, text: str) -> None:
        """Set a date field of the card. The first value wins; a date without a year is left out."""
        if found := self._read_day(field_text(name), text):
            day, is_yearless = found
            if is_yearless:
                self.warn(_YEARLESS.format(field=field_text(name), value=text.strip()[:40]))
            elif name in self._days and self._days[name] != day:
                self.warn(_SECOND_VALUE.format(field=field_text(name), value=text.strip()[:40]))
            else:
                self._days[name] = day

    def set_flag(self, name: str, value: bool = True) -> None:
        """Set a flag of the card, by its name on cards."""
        self._flags[name] = value

    @property
    def has_room_for_dates(self) -> bool:
        return len(self._dates) < MAX_ENTRIES

    def has_room(self, name: str) -> bool:
        """Whether a multi-value field takes another entry."""
        return len(self.limits.entries.get(name, ())) < MAX_ENTRIES

    def add_date(
        self, text: str, *, kind: str | None = None, title: str | None = None, reminder: Mapping[str, Any] | None = None
    ) -> bool:
        """Add an important date. Each predefined `kind` exists once; a second one is kept with a title instead.

        `reminder` are the columns of its reminder. Returns whether the card has the date, with this reminder.
        """
        if found := self._read_day(title or date_text(kind), text):
            return self.add_card_date(CardDate(date=found[0], type=kind, title=title, year_unknown=found[1]), reminder)
        return False

    def add_card_date(self, day: CardDate, reminder: Mapping[str, Any] | None = None) -> bool:
        title = self.limits.truncate_category(single_line(self.clean(day.title or ""))) or None
        same_type = next((other for other in self._dates if day.type and other.type == day.type), None)
        if same_type and (same_type.date, same_type.year_unknown) == (day.date, day.year_unknown):
            return not reminder
        kind = None if same_type else day.type
        title = title or (None if kind else str(day.type or "Date").capitalize())
        day = CardDate(date=day.date, type=kind, title=title, year_unknown=day.year_unknown)
        if day in self._dates:
            return not reminder or self._reminders.get(day) == reminder
        if not self.has_room_for_dates:
            self.warn(_TOO_MANY_DATES.format(limit=MAX_ENTRIES))
            return False
        self._dates.append(day)
        if reminder:
            self._reminders[day] = reminder
        return True

    def add_group(self, text: str) -> None:
        name = self.limits.truncate_category(single_line(self.clean(text)))
        if not name or case_key(name) in self._categories:
            return
        if len(self._categories) >= MAX_CATEGORIES:
            self.warn(_TOO_MANY_GROUPS.format(limit=MAX_CATEGORIES))
            return
        self._categories[case_key(name)] = name

    def add_related_person(self, kind: str, name: str) -> None:
        """Add a person that is only named, as the lines of the card that address books write (X-ABRELATEDNAMES)."""
        value = single_line(self.clean(name))
        if not value:
            return
        self._items += 1
        group = f"item{self._items}"
        label = write_label(single_line(self.clean(kind)).casefold() or OTHER)
        for line in (
            ContentLine("X-ABRELATEDNAMES", escape(value), group=group),
            ContentLine("X-ABLabel", escape(label), group=group),
        ):
            self._lines.append(CardLine(line.serialize()))

    def build_result(self, index: int, *, key: str = "") -> RecordResult:
        """Build the card; an error if the record has nothing that could serve as a name."""
        names = self._resolve_name()
        if self._notes:
            self._texts["notes"] = "\n\n".join(self._notes)
        limited: dict[str, Any] = self.limits.truncate_scalars(self._texts)
        if not limited["name"]:
            return RecordResult(index=index, name="", error=NAMELESS)
        lists: dict[str, Any] = {name: tuple(self.limits.entries.get(name, ())) for name in LIST_FIELDS}
        card = Card(
            **limited,
            **self._days,
            **self._flags,
            **lists,
            uid=self.uid,
            important_dates=tuple(self._dates),
            categories=tuple(self._categories.values()),
            photo=self.photo,
            lines=self.limits.limit_lines(self._lines),
        )
        return RecordResult(
            index=index,
            name=names,
            card=card,
            warnings=self.warnings.all_remarks(),
            columns=self.columns,
            reminders=self._reminders,
            key=key,
            to_user=self.to_user,
        )

    def _resolve_name(self) -> str:
        """Make sure that there is a name, as for vCards. Returns the name for the receipt."""
        texts = self._texts
        full = single_line(self.clean(self.full_name))
        for field_name in ("middle_name", "surname"):
            if not texts.get("name") and texts.get(field_name):
                texts["name"] = texts.pop(field_name)
        if full and not texts.get("name"):
            texts["name"] = full
            if len(full) > TEXT_LIMITS["name"]:
                texts.setdefault("display_name", full)
        elif full and not says_only_name(full, names_of(texts), whole=True):
            texts.setdefault("display_name", full)
        if not texts.get("name"):
            texts["name"] = self._fallback_name()
        return str(texts.get("display_name") or " ".join(filter(None, (texts.get("name"), texts.get("surname")))))

    def _fallback_name(self) -> str:
        for name in ("organization", "nickname"):
            if self._texts.get(name):
                return str(self._texts[name])
        for name in ("emails", "phone_numbers", "addresses", "im_handles", "urls"):
            for entry in self.limits.entries.get(name, ()):
                shown = [value for key, value in entry.items() if key not in {"type", "protocol"} and value]
                return ", ".join(map(str, shown))[: TEXT_LIMITS["name"]]
        return ""

    def _read_day(self, label: Text | str, text: str) -> tuple[dt.date, bool] | None:
        value = single_line(self.clean(text))
        if not value or not value.strip("0/.- :"):  # Outlook writes 0/0/00 for an empty date
            return None
        found = self.days.read(value)
        if found is None:
            self.warn(_NO_DAY.format(field=label, value=value[:40]))
        elif self.days.is_guess(value):
            day = found[0].strftime("%m-%d") if found[1] else found[0].isoformat()
            self.warn(_GUESSED_DAY.format(field=label, value=value[:40], day=day))
        return found
