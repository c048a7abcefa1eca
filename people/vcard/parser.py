"""Builds a Card from its text (CardText) or its content lines.

Of a single-valued property the first line counts. Entries are sorted by preference. A card always has a name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from contacts_project.kernel.charsets import has_controls, remove_controls
from contacts_project.kernel.text_forms import case_key
from contacts_project.kernel.texts import Text, define_text
from people.vcard import values
from people.vcard.card import (
    DATE_FIELDS,
    FLAG_FIELDS,
    LIST_FIELDS,
    PLAIN_TEXT_FIELDS,
    Card,
    CardDate,
    CardLine,
    VCardError,
)
from people.vcard.content_lines import ContentLine, parse_lines
from people.vcard.full_name import names_of, says_only_name
from people.vcard.limits import CONTROLS_REMOVED, MAX_CATEGORIES, MAX_ENTRIES, MAX_UID, TEXT_LIMITS, CardLimits, Remarks
from people.vcard.readers import ReaderContext, group_labels, read_line
from people.vcard.versions import convert_from_21

_NO_LINE = define_text("not_a_vcard_line", "this is no vCard line and was left out: %(line)s")
_SEVERAL_UIDS = define_text("several_uids", "the card has several UIDs; the first was taken")
_LONG_UID = define_text("long_uid", "the UID is longer than %(limit)s characters and is kept unseen")
_MORE_DATES = define_text("dates_kept_unseen", "more than %(limit)s dates: the rest is kept unseen")
_MORE_CATEGORIES = define_text("categories_kept_unseen", "more than %(limit)s categories: the rest is kept unseen")

#: Of a card, or of a quoted-printable value in it, that is not UTF-8.
CHARSET_GUESSED = define_text(
    "charset_guessed",
    "the card is not UTF-8 and names no CHARSET that fits; it was read as Windows-1252, so letters may be wrong",
)

#: Sorts after every valid PREF, which is from 1 to 100 (RFC 6350, 5.3).
NO_PREFERENCE = 101
# `_build_names` reads the nickname.
_TEXT_FIELDS = tuple(field for field in PLAIN_TEXT_FIELDS if field != "nickname")
#: Properties that are generated whenever a card is written, and so are not kept.
GENERATED_PROPERTIES = frozenset({"BEGIN", "END", "VERSION", "PRODID", "REV"})
_NAMELESS = define_text("nameless_card", "the card has no name, and nothing else to call it by")


def normalize_properties(lines: Iterable[ContentLine], warnings: list[Text]) -> list[ContentLine]:
    """The properties of a card in the spelling of 3.0, without GENERATED_PROPERTIES; each keeps its `original`.

    Appends to `warnings` for each line that is not a property, and once if a charset is guessed.
    """
    found = inline_agents(lines)
    is_v21 = is_version_21(found)
    strays = (line.value.strip() for line in found if not line.name)
    warnings.extend(_NO_LINE.format(line=text[:60]) for text in strays if text)
    if any(values.has_guessed_charset(line) for line in found):
        warnings.append(CHARSET_GUESSED)
    return [
        convert_from_21(line, is_v21=is_v21) for line in found if line.name and line.name not in GENERATED_PROPERTIES
    ]


def read_lines(lines: Sequence[ContentLine], warnings: list[Text], included: Sequence[bool] = ()) -> Card:
    """Build a card from `lines`, which become its `lines` in the same order.

    `included` has a flag for each line that is read; without it, all are. Other lines are kept but set no field.
    """
    return _Parser(lines, warnings, included).card()


def is_version_21(lines: Sequence[ContentLine]) -> bool:
    """Whether these are the lines of a card of version 2.1."""
    return any(line.name == "VERSION" and line.value.strip() == "2.1" for line in lines[:50])


def inline_agents(lines: Iterable[ContentLine]) -> list[ContentLine]:
    """Replace a card nested in an AGENT property of 2.1 by one escaped line, as in 3.0.

    The nested card describes another person, so its properties must not be read as those of the outer card.
    """
    result: list[ContentLine] = []
    inner: list[ContentLine] = []
    depth = 0
    for line in lines:
        is_begin = line.name == "BEGIN" and line.value.strip().upper() == "VCARD"
        is_end = line.name == "END" and line.value.strip().upper() == "VCARD"
        depth += is_begin
        if depth > 1:
            inner.append(line)
        else:
            result.append(line)
        depth -= is_end
        if inner and depth <= 1:
            # Not one that a nested card before it has become: its text would be joined again for each of them.
            if result and result[-1].name == "AGENT" and not result[-1].value.strip():
                inner.insert(0, result.pop())
            agent = values.escape("\n".join(part.serialize().strip() for part in inner if part.name != "AGENT"))
            original = "".join(part.original for part in inner)
            result.append(ContentLine("AGENT", agent, text=f"AGENT:{agent}", original=original))
            inner = []
    return result


@dataclass(slots=True)
class _FoundValue:
    """A value read from the line at `index`. `preference` is its PREF: 1 is the most preferred."""

    field: str
    value: object
    index: int
    preference: int


class _Parser:
    """The parser of one card.

    `found` are the values that were read, by field. `fields` and `entries` record, by index of the line, which fields
    of the card and which entry come from it.
    """

    def __init__(self, lines: Sequence[ContentLine], warnings: list[Text], included: Sequence[bool]) -> None:
        self.lines, self.warnings = lines, warnings
        self.limits = CardLimits(warnings)
        self.fields: list[tuple[str, ...]] = [()] * len(lines)
        self.entries: dict[int, Any] = {}
        self.found: dict[str, list[_FoundValue]] = {}
        context = ReaderContext(labels=group_labels(lines), warnings=warnings)
        for index, line in enumerate(lines):
            if included and not included[index]:
                continue
            found_values = read_line(line, context)
            preference = preference_of(line) if found_values and line.params else NO_PREFERENCE
            for field, value in found_values:
                self.found.setdefault(field, []).append(_FoundValue(field, value, index, preference))

    def card(self) -> Card:
        scalars = {
            **self._build_names(),
            "organization": self._read_organization(),
            **{field: self._first_text(field) for field in _TEXT_FIELDS},
            "notes": self._join_notes(),
        }
        # First the lists: a card without a name is called by one of their entries.
        self._read_lists()
        scalars["name"] = scalars["name"] or self._fallback_name(scalars)
        limited = self.limits.truncate_scalars(scalars)
        is_group = "kind" in self.found
        other_values = {
            **{field: self._first_date(field) for field in DATE_FIELDS},
            **{field: self._any_flag(field) for field in FLAG_FIELDS},
            "uid": self._read_uid(),
            "important_dates": self._read_important_dates(),
            "categories": self._read_categories(),
            "photo": self._first_photo(),
        }
        return Card(
            **{**limited, "name": limited["name"] or ""},  # type: ignore[arg-type]  # the keys of TEXT_LIMITS are fields
            **{field: tuple(self.limits.entries.get(field, ())) for field in LIST_FIELDS},  # type: ignore[arg-type]  # as above
            **other_values,  # type: ignore[arg-type]  # as above
            photo_url=next((str(found.value) for found in self.found.get("photo_url", ())), None),
            kind="group" if is_group else "individual",
            members=tuple(dict.fromkeys(str(found.value) for found in self.found.get("members", ())))
            if is_group
            else (),
            lines=tuple(
                CardLine(line.serialize(), self.fields[index], self.entries.get(index))
                for index, line in enumerate(self.lines)
            ),
        )

    def _first_value(self, field: str) -> object:
        """The value of the first line. Later lines are assigned to the field only if they have the same value."""
        found = self.found.get(field)
        if not found:
            return None
        for other in found:
            if other.value == found[0].value:
                self._assign_line(other.index, field)
        return found[0].value

    def _first_text(self, field: str) -> str | None:
        value = self._first_value(field)
        return None if value is None else str(value)

    def _assign_line(self, index: int, field: str, entry: object = None) -> None:
        if field not in self.fields[index]:
            self.fields[index] = (*self.fields[index], field)
        if entry is not None:
            self.entries[index] = entry

    def _join_notes(self) -> str:
        found = self.found.get("notes", ())
        for note in found:
            self._assign_line(note.index, "notes")
        return "\n\n".join(dict.fromkeys(str(note.value) for note in found))

    def _build_names(self) -> dict[str, str | None]:
        value = self._first_value("n")
        names: dict[str, str | None] = dict(value) if isinstance(value, dict) else {}
        full, override = self._first_text("fn") or "", self._first_text("display_name")
        names["second_last_name"] = self._first_text("second_last_name") or names.get("second_last_name")
        names["nickname"] = self._first_text("nickname")
        # A person needs a name, so a lone middle or family name becomes it.
        if not names.get("name") and (names.get("surname") or names.get("middle_name")):
            given = "middle_name" if names.get("middle_name") else "surname"
            names["name"], names[given] = names[given], None
        is_long = not names.get("name") and len(full) > TEXT_LIMITS["name"]
        names["name"] = names.get("name") or full
        if full and (override == full or is_long or not says_only_name(full, names_of(names))):
            names["display_name"] = full
        return names

    def _read_organization(self) -> str | None:
        """The name in ORG. Its units (departments) have no field and become the custom field `Department`."""
        value = self._first_value("organization")
        if not isinstance(value, tuple):
            return None
        name, units = value
        department = {"key": "Department", "value": units, "type": None}
        for found in self.found["organization"] if units else ():
            if found.value == value:
                # Preference 0 sorts it before all other custom fields.
                self.found.setdefault("custom_fields", []).append(
                    _FoundValue("custom_fields", department, found.index, 0)
                )
        return str(name)

    def _read_lists(self) -> None:
        self._join_doubled_messengers()
        for field in LIST_FIELDS:
            for found in sorted(self.found.get(field, ()), key=lambda found: found.preference):
                if isinstance(found.value, dict) and (added := self.limits.add(field, found.value)):
                    self._assign_line(found.index, *added)

    def _join_doubled_messengers(self) -> None:
        """Make one entry of a handle that is in two lines: Apple writes each as IMPP and as X-AIM or similar."""
        found = self.found.get("im_handles", [])
        by_key = {_handle_key(handle): handle.value for handle in found if self.lines[handle.index].name == "IMPP"}
        for handle in found:
            handle.value = by_key.get(_handle_key(handle), handle.value)

    def _fallback_name(self, scalars: dict[str, str | None]) -> str:
        """A name for a card without one, from its other values; empty if there is none."""
        for name in (scalars["organization"], scalars["nickname"]):
            if name:
                return name
        for field, keys in (
            ("emails", ("email",)),
            ("phone_numbers", ("number",)),
            ("addresses", ("streetLine1", "streetLine2", "locality", "region", "postalCode", "country")),
            ("im_handles", ("handle",)),
            ("urls", ("url",)),
        ):
            for entry in self.limits.entries.get(field, ()):
                return ", ".join(str(entry[key]) for key in keys if entry[key])[: TEXT_LIMITS["name"]]
        return ""

    def _first_date(self, field: str) -> date | None:
        value = self._first_value(field)
        return value if isinstance(value, date) else None

    def _any_flag(self, field: str) -> bool:
        """Whether a line sets the flag: a card may have a line of each program that knows it."""
        found = self.found.get(field, ())
        for one in found:
            self._assign_line(one.index, field)
        return any(one.value for one in found)

    def _read_uid(self) -> str | None:
        uids = list(dict.fromkeys(str(found.value) for found in self.found.get("uid", ())))
        if len(uids) > 1:
            self.warnings.append(_SEVERAL_UIDS)
        if uids and len(uids[0]) > MAX_UID:
            self.warnings.append(_LONG_UID.format(limit=MAX_UID))
            return None
        return self._first_text("uid")

    def _read_important_dates(self) -> tuple[CardDate, ...]:
        """The important dates. A person has each predefined type once; a second date of a type gets a title instead."""
        dates: dict[CardDate, None] = {}
        for found in self.found.get("important_dates", ()):
            day = found.value
            if not isinstance(day, CardDate):
                continue
            title = self.limits.truncate_category(day.title or "") or None
            same_type = next((other for other in dates if other.type and other.type == day.type), None)
            if same_type and (same_type.date, same_type.year_unknown) == (day.date, day.year_unknown):
                day = same_type
            elif same_type:
                title = title or str(day.type).capitalize()
                day = CardDate(date=day.date, title=title, year_unknown=day.year_unknown)
            else:
                day = CardDate(date=day.date, type=day.type, title=title, year_unknown=day.year_unknown)
            if day not in dates and len(dates) >= MAX_ENTRIES:
                self.warnings.append(_MORE_DATES.format(limit=MAX_ENTRIES))
                break
            dates[day] = None
            self._assign_line(found.index, "important_dates", day)
        return tuple(dates)

    def _read_categories(self) -> tuple[str, ...]:
        names: dict[str, str] = {}
        for found in self.found.get("categories", ()):
            name = self.limits.truncate_category(str(found.value))
            if case_key(name) not in names and len(names) >= MAX_CATEGORIES:
                self.warnings.append(_MORE_CATEGORIES.format(limit=MAX_CATEGORIES))
                break
            names.setdefault(case_key(name), name)
            self._assign_line(found.index, "categories")
        return tuple(names.values())

    def _first_photo(self) -> bytes | None:
        value = self._first_value("photo")
        return value if isinstance(value, bytes) else None


def preference_of(line: ContentLine) -> int:
    """From 1, the most preferred, to 100; 101 if the line is not marked (RFC 6350, 5.3)."""
    declared = line.first_param("PREF") or ""
    if declared.isascii() and declared.isdigit() and len(declared) <= 3:
        return int(declared)
    return 1 if "pref" in line.types else NO_PREFERENCE


def _handle_key(found: _FoundValue) -> tuple[str, str]:
    entry = found.value if isinstance(found.value, dict) else {}
    return str(entry["protocol"]).casefold(), str(entry["handle"])


class CardText:
    """The text of one card, with what is parsed of it: each part when it is first asked for, and once.

    What it returns is shared: nobody may change it.
    """

    __slots__ = ("_lines", "_parsed", "_properties", "_read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: list[ContentLine] | None = None
        self._properties: list[ContentLine] | None = None
        self._parsed: Card | None = None
        self._read: tuple[Card, tuple[Text, ...]] | None = None

    @property
    def lines(self) -> list[ContentLine]:
        """All lines, including BEGIN and END; those of a card nested in an AGENT property are one."""
        if self._lines is None:
            self._lines = inline_agents(parse_lines(self.text))
        return self._lines

    @property
    def properties(self) -> list[ContentLine]:
        """Those of the lines that are properties of the card (normalize_properties)."""
        if self._properties is None:
            self._properties = normalize_properties(self.lines, [])
        return self._properties

    @property
    def parsed(self) -> Card:
        """The card with all its lines, as many as there are. It may have no name."""
        if self._parsed is None:
            self._parsed = read_lines(self.properties, [])
        return self._parsed

    @property
    def card(self) -> Card:
        """The card within the limits. Raises VCardError if it contains nothing that can serve as a name."""
        return self.read()[0]

    def read(self) -> tuple[Card, tuple[Text, ...]]:
        """The card, with warnings about what could not be shown. Raises VCardError."""
        if self._read is None:
            warnings = Remarks()
            if has_controls(self.text):
                warnings.append(CONTROLS_REMOVED)
                properties = normalize_properties(parse_lines(remove_controls(self.text)), warnings)
                parsed = read_lines(properties, warnings)
            else:
                self._properties = normalize_properties(self.lines, warnings)
                parsed = self._parsed = read_lines(self._properties, warnings)
            if not parsed.name:
                raise VCardError(_NAMELESS)
            card = replace(parsed, lines=CardLimits(warnings).limit_lines(parsed.lines))
            self._read = card, warnings.all_remarks()
        return self._read


def read_card(text: str) -> tuple[Card, tuple[Text, ...]]:
    """Parse a card. Returns it with warnings about what could not be shown.

    Raises VCardError if the card contains nothing that can serve as a name.
    """
    return CardText(text).read()
