"""Files of calendars for tests."""

import datetime as dt


def ics(*events: str, head: str = "") -> bytes:
    """A file with these events, each its lines without BEGIN and END, with the line ends of RFC 5545."""
    blocks = "".join(f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT\n" for event in events)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{head}{blocks}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def event(uid: str, start: str, *lines: str, summary: str = "", end: str = "") -> str:
    """The lines of an event. `start` may have parameters (`;TZID=...:2026...`)."""
    return "\n".join(
        line
        for line in (
            f"UID:{uid}",
            f"DTSTART{start if start[0] in ';:' else f':{start}'}",
            f"DTEND{end if end[:1] in ';:' else f':{end}'}" if end else "",
            f"SUMMARY:{summary}" if summary else "",
            *lines,
        )
        if line
    )


def utc(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y%m%dT%H%M%SZ}"


def attendee(address: str, **parameters: str) -> str:
    named = "".join(f";{name}={value}" for name, value in parameters.items())
    return f"ATTENDEE{named}:mailto:{address}"
