"""From what the lines say to one Card: first of each scalar, preferred entries first, a name in any case."""

import re
from collections.abc import Iterable
from datetime import date

from people.vcard.card import Card, CardDate, Entry, VCardError
from people.vcard.decoding import clean_controls, has_controls
from people.vcard.fitting import MAX_CATEGORIES, MAX_ENTRIES, MAX_UID, SCALARS, Fitter
from people.vcard.lines import parse_lines
from people.vcard.reading import Found, read_entries

_MAX_WARNINGS = 20
_LISTS = ("phone_numbers", "emails", "addresses", "urls", "im_handles", "locations", "custom_fields")
# Commas and the like only tell which way round a name stands.
_WORD = re.compile(r"[^\s,.;\"'()“”„]+")


def read_card(text: str) -> tuple[Card, tuple[str, ...]]:
    """The card in `text` and what was changed to hold it; VCardError when nothing in it names anybody."""
    warnings: list[str] = []
    if has_controls(text):
        warnings.append("control characters were removed")
        text = clean_controls(text)
    assembly = _Assembly(read_entries(parse_lines(text), warnings), warnings)
    card = assembly.card()
    if len(warnings) > _MAX_WARNINGS:
        warnings[_MAX_WARNINGS:] = [f"and {len(warnings) - _MAX_WARNINGS} more remarks"]
    return card, tuple(warnings)


class _Assembly:
    def __init__(self, found: list[Found], warnings: list[str]) -> None:
        self.by_field: dict[str, list[Found]] = {}
        for entry in found:
            self.by_field.setdefault(entry.field, []).append(entry)
        self.warnings = warnings
        self.fitter = Fitter(warnings)
        self.extra = [str(entry.value) for entry in self.by_field.get("extra", ())]

    def card(self) -> Card:
        scalars = self._names()
        scalars |= {
            "organization": self._organization(),
            "job_title": self._text("job_title", "TITLE"),
            "gender": self._text("gender", "GENDER"),
            "notes": "\n\n".join(dict.fromkeys(self._texts("notes"))),
        }
        self._drop_doubled_messengers()
        for field in _LISTS:
            for entry in sorted(self.by_field.get(field, ()), key=lambda found: found.rank):
                self.fitter.add(field, _entry(entry.value))
        scalars["name"] = scalars["name"] or self._fallback_name(scalars)
        photo, photo_url = self._photos()
        fitted = {field: self.fitter.scalar(field, scalars.get(field)) for field in SCALARS}
        is_group = bool(self.by_field.get("kind"))
        return Card(
            **{**fitted, "name": fitted["name"] or ""},  # type: ignore[arg-type]  # the keys of SCALARS are fields
            **{field: tuple(self.fitter.entries.get(field, ())) for field in _LISTS},  # type: ignore[arg-type]  # as above
            anniversary=self._date("anniversary"),
            last_contact=self._date("last_contact"),
            uid=self._uid(),
            important_dates=self._important_dates(),
            categories=self._categories(),
            photo=photo,
            photo_url=photo_url,
            kind="group" if is_group else "individual",
            members=tuple(dict.fromkeys(self._texts("members"))) if is_group else (),
            extra=self.fitter.unknown(dict.fromkeys(self.extra)),
        )

    def _texts(self, field: str) -> list[str]:
        return [str(entry.value) for entry in self.by_field.get(field, ())]

    def _text(self, field: str, prop: str) -> str | None:
        """The first one; the others stay verbatim, or as lines of their own where several stood in one."""
        found = self.by_field.get(field, [])
        for other in found[1:]:
            if str(other.value) != str(found[0].value):
                is_same_line = other.line is found[0].line
                self.extra.append(f"{prop}:{_escaped(str(other.value))}" if is_same_line else other.line.spelled())
        return str(found[0].value) if found else None

    def _names(self) -> dict[str, str | None]:
        names = _structured_name(self.by_field.get("n", []))
        full = self._text("fn", "FN") or ""
        second = next(iter(self._texts("second_last_name")), None)
        names["second_last_name"] = second or names.get("second_last_name")
        names["nickname"] = self._text("nickname", "NICKNAME")
        if not names.get("name") and (names.get("surname") or names.get("middle_name")):
            given = "middle_name" if names.get("middle_name") else "surname"
            names["name"], names[given] = names[given], None
        own = next(iter(self._texts("display_name")), "")
        is_long = not names.get("name") and len(full) > SCALARS["name"]
        names["name"] = names.get("name") or full
        if full and (own == full or is_long or _says_more(full, names.values())):
            names["display_name"] = full
        return names

    def _organization(self) -> str | None:
        """Units (departments) have no place on a person: they become the custom field `Department`."""
        found = self.by_field.get("organization", [])
        self.extra += [other.line.spelled() for other in found[1:] if other.value != found[0].value]
        if not found:
            return None
        name, units = _pair(found[0].value)
        if units:
            self.by_field.setdefault("custom_fields", []).insert(
                0, Found("custom_fields", {"key": "Department", "value": units, "type": None}, found[0].line)
            )
        return name

    def _drop_doubled_messengers(self) -> None:
        """Apple says each handle twice, as IMPP and as X-AIM or the like."""
        found = self.by_field.get("im_handles", [])
        named = {_messenger(entry) for entry in found if entry.line.name == "IMPP"}
        self.by_field["im_handles"] = [
            entry for entry in found if entry.line.name == "IMPP" or _messenger(entry) not in named
        ]

    def _fallback_name(self, scalars: dict[str, str | None]) -> str:
        for name in (scalars["organization"], scalars["nickname"]):
            if name:
                return name
        for field, key in (
            ("emails", "email"),
            ("phone_numbers", "number"),
            ("im_handles", "handle"),
            ("urls", "url"),
        ):
            for entry in self.fitter.entries.get(field, ()):
                return str(entry[key])[: SCALARS["name"]]
        raise VCardError("the card has no name, and nothing else to call it by")

    def _date(self, field: str) -> date | None:
        found = self.by_field.get(field, [])
        self.extra += [other.line.spelled() for other in found[1:] if other.value != found[0].value]
        return next((entry.value for entry in found if isinstance(entry.value, date)), None)

    def _uid(self) -> str | None:
        uids = list(dict.fromkeys(self._texts("uid")))
        if not uids:
            return None
        if len(uids) > 1:
            self.warnings.append("the card has several UIDs; the first was taken")
        if len(uids[0]) > MAX_UID:
            self.warnings.append(f"the UID is longer than {MAX_UID} characters and was left out")
            return None
        return uids[0]

    def _important_dates(self) -> tuple[CardDate, ...]:
        """A predefined type stands once on a person: a second one keeps its date under a title."""
        dates: list[CardDate] = []
        for entry in self.by_field.get("important_dates", ()):
            if not isinstance(entry.value, CardDate):
                continue
            day = entry.value
            taken = next((d for d in dates if d.type and d.type == day.type), None)
            if taken and (taken.date, taken.year_unknown) == (day.date, day.year_unknown):
                continue
            title = self.fitter.category(day.title or "") or None
            if taken:
                title = title or str(day.type).capitalize()
            dates.append(
                CardDate(
                    date=day.date,
                    type=None if taken else day.type,
                    title=title,
                    year_unknown=day.year_unknown,
                )
            )
        if len(dates) > MAX_ENTRIES:
            self.warnings.append(f"more than {MAX_ENTRIES} dates: the rest was left out")
        return tuple(dict.fromkeys(dates))[:MAX_ENTRIES]

    def _categories(self) -> tuple[str, ...]:
        named: dict[str, str] = {}
        for text in self._texts("categories"):
            name = self.fitter.category(text)
            named.setdefault(name.casefold(), name)
        if len(named) > MAX_CATEGORIES:
            self.warnings.append(f"more than {MAX_CATEGORIES} categories: the rest was left out")
        return tuple(named.values())[:MAX_CATEGORIES]

    def _photos(self) -> tuple[bytes | None, str | None]:
        """The first picture, and the first address of one elsewhere; that and further ones stay verbatim."""
        photo: bytes | None = None
        photo_url: str | None = None
        for entry in (*self.by_field.get("photo", ()), *self.by_field.get("photo_url", ())):
            value, spelled = entry.value if isinstance(entry.value, tuple) else (None, "")
            if isinstance(value, bytes) and photo is None:
                photo = value
                continue
            photo_url = value if photo_url is None and isinstance(value, str) else photo_url
            self.extra.append(spelled)
        return photo, photo_url


def _structured_name(found: list[Found]) -> dict[str, str | None]:
    value = found[0].value if found else None
    return {key: str(part) for key, part in value.items()} if isinstance(value, dict) else {}


def _says_more(full: str, parts: Iterable[str | None]) -> bool:
    """Whether FN holds a word that no part of the name does; else it is only one order of the parts."""
    known = {word for part in parts if part for word in _WORD.findall(part.casefold())}
    return not known.issuperset(_WORD.findall(full.casefold()))


def _entry(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def _messenger(found: Found) -> tuple[str, str]:
    entry = _entry(found.value)
    return str(entry["protocol"]).casefold(), str(entry["handle"])


def _pair(value: object) -> tuple[str, str]:
    return value if isinstance(value, tuple) else ("", "")


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")
