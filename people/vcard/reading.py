"""What each content line of a card says, with the line that says it.

A property that nobody maps, or one whose value cannot be understood, is `extra` and stays verbatim.
"""

from dataclasses import dataclass
from functools import partial

from people.vcard import contacting, dating, describing, values
from people.vcard.labels import read_label
from people.vcard.lines import ContentLine
from people.vcard.saying import Context, Handler, extra

_HANDLERS: dict[str, Handler] = {**describing.HANDLERS, **contacting.HANDLERS, **dating.HANDLERS}
# Made anew for every card that is written, or told by the entries themselves.
_GENERATED = frozenset({"BEGIN", "END", "VERSION", "PRODID", "REV", "PROFILE"})


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a line says. `rank` is its preference: 1 is the most preferred, 101 none."""

    field: str
    value: object
    line: ContentLine
    rank: int = 101


def read_entries(lines: list[ContentLine], warnings: list[str]) -> list[Found]:
    """Everything the lines of one card say, in their order. What is odd is told in `warnings`."""
    lines = _with_agents_inline(lines)
    context = Context(old=_is_old(lines), labels=_labels(lines), warnings=warnings)
    found = [entry for line in lines for entry in _read_line(line, context)]
    kept = {entry.line.group.lower() for entry in found if entry.field == "extra" and entry.line.group}
    return [entry for entry in map(partial(_keep_label, kept), found) if entry]


def _keep_label(groups: set[str], entry: Found) -> Found | None:
    """A label stays verbatim where the line it labels does."""
    if entry.field != "label":
        return entry
    line = entry.line
    return Found("extra", line.spelled(), line) if line.group and line.group.lower() in groups else None


def _read_line(line: ContentLine, context: Context) -> list[Found]:
    if not line.name:
        if line.value.strip():
            context.warnings.append(f"this is no vCard line and was left out: {line.value.strip()[:60]}")
        return []
    if line.name in _GENERATED or (not line.value.strip() and line.name != "N"):
        return []
    if line.name == "X-ABLABEL":
        return [Found("label", None, line)]
    handler = _HANDLERS.get(line.name, extra)
    rank = _rank(line)
    return [Found(name, value, line, rank) for name, value in handler(line, context)]


def _rank(line: ContentLine) -> int:
    declared = line.first_param("PREF") or ""
    if declared.isascii() and declared.isdigit() and len(declared) <= 3:
        return int(declared)
    return 1 if "pref" in line.types else 101


def _is_old(lines: list[ContentLine]) -> bool:
    return any(line.name == "VERSION" and line.value.strip() == "2.1" for line in lines[:50])


def _labels(lines: list[ContentLine]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for line in lines:
        if line.name == "X-ABLABEL" and line.group and (label := read_label(values.single_line(values.text(line)))):
            labels.setdefault(line.group.lower(), label)
    return labels


def _with_agents_inline(lines: list[ContentLine]) -> list[ContentLine]:
    """A card nested in 2.1's AGENT becomes one escaped line, as 3.0 has it; it is about somebody else."""
    result: list[ContentLine] = []
    inner: list[str] = []
    depth = 0
    for line in lines:
        is_begin = line.name == "BEGIN" and line.value.strip().upper() == "VCARD"
        is_end = line.name == "END" and line.value.strip().upper() == "VCARD"
        depth += is_begin
        if depth > 1:
            inner.append(line.spelled().strip())
        elif not (is_begin or is_end):
            result.append(line)
        depth -= is_end
        if inner and depth <= 1:
            if result and result[-1].name == "AGENT":
                result.pop()
            agent = values.escape("\n".join(inner))
            result.append(ContentLine("AGENT", agent, text=f"AGENT:{agent}"))
            inner = []
    return result
