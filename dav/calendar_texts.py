"""Texts of iCalendar (RFC 5545): the members of the calendars, and parts of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from people.dates.calendar_events import fold_line

HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Contact network service//Devices//EN\r\nCALSCALE:GREGORIAN\r\n"
END = "END:VCALENDAR\r\n"
_NAME = re.compile(r"[^;:]*")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class Part:
    """What a client asks for of a component (RFC 4791, 9.6.1); None: all of it."""

    properties: frozenset[str] | None = None
    components: dict[str, "Part"] | None = None


@dataclass
class Component:
    """A component of our own text: its name, its lines (unfolded) and its components."""

    name: str
    lines: list[str] = field(default_factory=list)
    components: list["Component"] = field(default_factory=list)

    def values(self, name: str) -> list[str]:
        return [_ESCAPED.sub(_unescape, line.partition(":")[2]) for line in self.lines if name_of(line) == name]


def name_of(line: str) -> str:
    found = _NAME.match(line)
    return found[0].upper() if found else ""


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] in "nN" else found[1]


def document(components: Iterable[str]) -> str:
    return f"{HEAD}{''.join(components)}{END}"


def parse(text: str) -> Component:
    """The components of a text that this service wrote."""
    outer = Component("")
    open_components = [outer]
    for line in text.replace("\r\n ", "").split("\r\n"):
        if line.startswith("BEGIN:"):
            component = Component(line[6:])
            open_components[-1].components.append(component)
            open_components.append(component)
        elif line.startswith("END:"):
            open_components.pop()
        elif line:
            open_components[-1].lines.append(line)
    return outer.components[0]


def selected(text: str, part: Part) -> str:
    """The part of a text that a client asks for."""
    return "".join(f"{line}\r\n" for line in _lines(parse(text), part))


def _lines(component: Component, part: Part) -> Iterator[str]:
    yield f"BEGIN:{component.name}"
    for line in component.lines:
        if part.properties is None or name_of(line) in part.properties:
            yield fold_line(line)
    for inner in component.components:
        if part.components is None:
            yield from _lines(inner, Part())
        elif inner.name in part.components:
            yield from _lines(inner, part.components[inner.name])
    yield f"END:{component.name}"


def task(*, uid: str, stamp: str, due: str, summary: str, url: str) -> str:
    """A VTODO that is still to be done."""
    lines: Sequence[str] = (
        "BEGIN:VTODO",
        f"UID:{uid}",
        f"DTSTAMP:{stamp}",
        f"DUE;VALUE=DATE:{due}",
        f"SUMMARY:{summary}",
        f"URL:{url}",
        "STATUS:NEEDS-ACTION",
        "END:VTODO",
    )
    return "".join(f"{fold_line(line)}\r\n" for line in lines)
