"""Content lines into one Card: the first of each scalar, preferred entries first, a name in any case."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from people.vcard import values
from people.vcard.card import DATES, LISTS, NAME_FORMATS, PLAIN_TEXTS, Card, CardDate, KeptLine, VCardError
from people.vcard.charsets import clean_controls, has_controls
from people.vcard.content_lines import ContentLine, parse_lines
from people.vcard.limits import MAX_CATEGORIES, MAX_ENTRIES, MAX_UID, TEXTS, Limits
from people.vcard.readers import Context, labels_of, read_line
from people.vcard.versions import modern

_MAX_WARNINGS = 20
# What _names does not read.
_PLAIN = tuple(field for field in PLAIN_TEXTS if field != "nickname")
#: Made anew for every card that is written.
GENERATED = frozenset({"BEGIN", "END", "VERSION", "PRODID", "REV"})


def read_card(text: str) -> tuple[Card, tuple[str, ...]]:
    """The card in `text` and what could not be shown of it; VCardError when nothing in it names anybody."""
    warnings: list[str] = []
    if has_controls(text):
        warnings.append("control characters were removed")
        text = clean_controls(text)
    card = read_lines(properties_of(parse_lines(text), warnings), warnings)
    if not card.name:
        raise VCardError("the card has no name, and nothing else to call it by")
    card = replace(card, lines=Limits(warnings).sized(card.lines))
    if len(warnings) > _MAX_WARNINGS:
        warnings[_MAX_WARNINGS:] = [f"and {len(warnings) - _MAX_WARNINGS} more remarks"]
    return card, tuple(warnings)


def properties_of(lines: Iterable[ContentLine], warnings: list[str]) -> list[ContentLine]:
    """The properties of a card as 3.0 spells them, without those that are made anew; `original` stays with each."""
    found = with_agents_inline(lines)
    old = is_old(found)
    strays = (line.value.strip() for line in found if not line.name)
    warnings += [f"this is no vCard line and was left out: {text[:60]}" for text in strays if text]
    return [modern(line, old=old) for line in found if line.name and line.name not in GENERATED]


def read_lines(lines: Sequence[ContentLine], warnings: list[str], held: Sequence[bool] = ()) -> Card:
    """What the lines say, with them as its `lines`, in order. `held`: read only those, the others say nothing."""
    return _Parser(lines, warnings, held).card()


def is_old(lines: Sequence[ContentLine]) -> bool:
    """Whether they are of a card of version 2.1."""
    return any(line.name == "VERSION" and line.value.strip() == "2.1" for line in lines[:50])


def with_agents_inline(lines: Iterable[ContentLine]) -> list[ContentLine]:
    """A card nested in 2.1's AGENT becomes one escaped line, as 3.0 has it; it is about somebody else."""
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
            if result and result[-1].name == "AGENT":
                inner.insert(0, result.pop())
            agent = values.escape("\n".join(part.spelled().strip() for part in inner if part.name != "AGENT"))
            original = "".join(part.original for part in inner)
            result.append(ContentLine("AGENT", agent, text=f"AGENT:{agent}", original=original))
            inner = []
    return result


@dataclass(slots=True)
class _Found:
    """One thing that the line at `place` says. `rank` is its preference: 1 is the most preferred, 101 none."""

    field: str
    value: object
    place: int
    rank: int


class _Parser:
    """One card. `fields` and `entries` are by the places of the lines: what of the card each of them says."""

    def __init__(self, lines: Sequence[ContentLine], warnings: list[str], held: Sequence[bool]) -> None:
        self.lines, self.warnings = lines, warnings
        self.limits = Limits(warnings)
        self.fields: list[tuple[str, ...]] = [()] * len(lines)
        self.entries: dict[int, object] = {}
        self.found: dict[str, list[_Found]] = {}
        context = Context(labels=labels_of(lines), warnings=warnings)
        for place, line in enumerate(lines):
            if held and not held[place]:
                continue
            statements = read_line(line, context)
            rank = _rank(line) if statements and line.params else 101
            for field, value in statements:
                self.found.setdefault(field, []).append(_Found(field, value, place, rank))

    def card(self) -> Card:
        scalars = {
            **self._names(),
            "organization": self._organization(),
            **{field: self._text(field) for field in _PLAIN},
            "notes": self._notes(),
        }
        self._read_lists()
        scalars["name"] = scalars["name"] or self._fallback_name(scalars)
        fitted = {field: self.limits.scalar(field, scalars.get(field)) for field in TEXTS}
        is_group = "kind" in self.found
        facts = {
            **{field: self._date(field) for field in DATES},
            "uid": self._uid(),
            "important_dates": self._important_dates(),
            "categories": self._categories(),
            "photo": self._photo(),
        }
        return Card(
            **{**fitted, "name": fitted["name"] or ""},  # type: ignore[arg-type]  # the keys of TEXTS are fields
            **{field: tuple(self.limits.entries.get(field, ())) for field in LISTS},  # type: ignore[arg-type]  # as above
            **facts,  # type: ignore[arg-type]  # as above
            photo_url=next((str(found.value) for found in self.found.get("photo_url", ())), None),
            kind="group" if is_group else "individual",
            members=tuple(dict.fromkeys(str(found.value) for found in self.found.get("members", ())))
            if is_group
            else (),
            lines=tuple(map(self._kept_line, range(len(self.lines)))),
        )

    def _first(self, field: str) -> object:
        """What the first line says; the others are held by no field unless they say the same."""
        found = self.found.get(field)
        if not found:
            return None
        for other in found:
            if other.value == found[0].value:
                self._hold(other.place, field)
        return found[0].value

    def _text(self, field: str) -> str | None:
        value = self._first(field)
        return None if value is None else str(value)

    def _hold(self, place: int, field: str, entry: object = None) -> None:
        if field not in self.fields[place]:
            self.fields[place] = (*self.fields[place], field)
        if entry is not None:
            self.entries[place] = entry

    def _notes(self) -> str:
        found = self.found.get("notes", ())
        for note in found:
            self._hold(note.place, "notes")
        return "\n\n".join(dict.fromkeys(str(note.value) for note in found))

    def _names(self) -> dict[str, str | None]:
        value = self._first("n")
        names: dict[str, str | None] = dict(value) if isinstance(value, dict) else {}
        full, own = self._text("fn") or "", self._text("display_name")
        names["second_last_name"] = self._text("second_last_name") or names.get("second_last_name")
        names["nickname"] = self._text("nickname")
        if not names.get("name") and (names.get("surname") or names.get("middle_name")):
            given = "middle_name" if names.get("middle_name") else "surname"
            names["name"], names[given] = names[given], None
        is_long = not names.get("name") and len(full) > TEXTS["name"]
        names["name"] = names.get("name") or full
        if full and (own == full or is_long or not is_shown_so(full, names)):
            names["display_name"] = full
        return names

    def _organization(self) -> str | None:
        """Units (departments) have no place on a person: they become the custom field `Department`."""
        value = self._first("organization")
        if not isinstance(value, tuple):
            return None
        name, units = value
        department = {"key": "Department", "value": units, "type": None}
        for found in self.found["organization"] if units else ():
            if found.value == value:
                self.found.setdefault("custom_fields", []).append(_Found("custom_fields", department, found.place, 0))
        return str(name)

    def _read_lists(self) -> None:
        self._join_doubled_messengers()
        for field in LISTS:
            for found in sorted(self.found.get(field, ()), key=lambda found: found.rank):
                if isinstance(found.value, dict) and (taken := self.limits.add(field, found.value)):
                    self._hold(found.place, *taken)

    def _join_doubled_messengers(self) -> None:
        """Apple says each handle twice, as IMPP and as X-AIM or the like: that is one entry, held by both lines."""
        found = self.found.get("im_handles", [])
        named = {_messenger(handle): handle.value for handle in found if self.lines[handle.place].name == "IMPP"}
        for handle in found:
            handle.value = named.get(_messenger(handle), handle.value)

    def _fallback_name(self, scalars: dict[str, str | None]) -> str:
        """What to call somebody without a name by (open points, section 11); empty when there is nothing."""
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
                return ", ".join(str(entry[key]) for key in keys if entry[key])[: TEXTS["name"]]
        return ""

    def _date(self, field: str) -> date | None:
        value = self._first(field)
        return value if isinstance(value, date) else None

    def _uid(self) -> str | None:
        uids = list(dict.fromkeys(str(found.value) for found in self.found.get("uid", ())))
        if len(uids) > 1:
            self.warnings.append("the card has several UIDs; the first was taken")
        if uids and len(uids[0]) > MAX_UID:
            self.warnings.append(f"the UID is longer than {MAX_UID} characters and is kept unseen")
            return None
        return self._text("uid")

    def _important_dates(self) -> tuple[CardDate, ...]:
        """A predefined type stands once on a person: a second one keeps its date under a title."""
        dates: dict[CardDate, None] = {}
        for found in self.found.get("important_dates", ()):
            day = found.value
            if not isinstance(day, CardDate):
                continue
            title = self.limits.category(day.title or "") or None
            taken = next((other for other in dates if other.type and other.type == day.type), None)
            if taken and (taken.date, taken.year_unknown) == (day.date, day.year_unknown):
                day = taken
            elif taken:
                title = title or str(day.type).capitalize()
                day = CardDate(date=day.date, title=title, year_unknown=day.year_unknown)
            else:
                day = CardDate(date=day.date, type=day.type, title=title, year_unknown=day.year_unknown)
            if day not in dates and len(dates) >= MAX_ENTRIES:
                self.warnings.append(f"more than {MAX_ENTRIES} dates: the rest is kept unseen")
                break
            dates[day] = None
            self._hold(found.place, "important_dates", day)
        return tuple(dates)

    def _categories(self) -> tuple[str, ...]:
        named: dict[str, str] = {}
        for found in self.found.get("categories", ()):
            name = self.limits.category(str(found.value))
            if name.casefold() not in named and len(named) >= MAX_CATEGORIES:
                self.warnings.append(f"more than {MAX_CATEGORIES} categories: the rest is kept unseen")
                break
            named.setdefault(name.casefold(), name)
            self._hold(found.place, "categories")
        return tuple(named.values())

    def _photo(self) -> bytes | None:
        value = self._first("photo")
        return value if isinstance(value, bytes) else None

    def _kept_line(self, place: int) -> KeptLine:
        entry: Any = self.entries.get(place)
        return KeptLine(self.lines[place].spelled(), self.fields[place], entry)


def _rank(line: ContentLine) -> int:
    declared = line.first_param("PREF") or ""
    if declared.isascii() and declared.isdigit() and len(declared) <= 3:
        return int(declared)
    return 1 if "pref" in line.types else 101


def is_shown_so(full: str, names: dict[str, str | None]) -> bool:
    """Whether FN says what one of the formats makes of the name, but for white space."""
    card = Card(**names)  # type: ignore[arg-type]  # the parts of a name are fields
    words = full.split()
    return any(words == card.shown_as(form).split() for form in NAME_FORMATS)


def _messenger(found: _Found) -> tuple[str, str]:
    entry = found.value if isinstance(found.value, dict) else {}
    return str(entry["protocol"]).casefold(), str(entry["handle"])
