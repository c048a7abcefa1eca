"""The lines of two cards of one person put together: each thing said once, item groups kept apart."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from people.vcard import values
from people.vcard.card import LISTS, Card, CardDate, KeptLine
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.limits import Limits
from people.vcard.revision.fields import category_key
from people.vcard.revision.state import COMPANIONS

#: Fields whose lines each hold one entry of them.
ENTRY_FIELDS = frozenset({*LISTS, "important_dates"})


def missing_lines(first: Sequence[KeptLine], second: Sequence[KeptLine], *, by_name: bool = False) -> list[KeptLine]:
    """The lines of `second` that nothing in `first` stands for, in item groups that `first` does not use.

    What a field holds is said once. Of what none holds, a line stands for the same one, or `by_name` for all of its
    property. What hangs on a line of an item group comes with it, and does not come alone.
    """
    there = {key for kept in first if (key := _key(kept, by_name=by_name))}
    lines = [parse_line(kept.text) for kept in second]
    wanted = [
        line.name not in COMPANIONS and (key := _key(kept, line, by_name=by_name)) is not None and key not in there
        for kept, line in zip(second, lines, strict=True)
    ]
    groups = {line.group.lower() for line, is_wanted in zip(lines, wanted, strict=True) if is_wanted and line.group}
    used = {line.group.lower() for kept in first if "." in kept.text and (line := parse_line(kept.text)).group}
    names = {group: _free_name(group, used) for group in groups}
    missing = []
    for kept, line, is_wanted in zip(second, lines, wanted, strict=True):
        group = (line.group or "").lower()
        if is_wanted or (line.name in COMPANIONS and group in groups):
            is_moved = bool(group) and names[group] != group
            missing.append(replace(kept, text=line.in_group(names[group]).spelled()) if is_moved else kept)
    return missing


def _key(kept: KeptLine, line: ContentLine | None = None, *, by_name: bool) -> Any:
    """What a line stands for; None for one whose entry is gone."""
    if not kept.fields:
        line = line or parse_line(kept.text)
        return ("name", line.name) if by_name else ("line", bare_text(kept.text, line))
    if len(kept.fields) > 1 or kept.fields[0] not in ENTRY_FIELDS:
        return "field", kept.fields[0]
    if kept.entry is None:  # a date may come back from the trash
        return ("line", kept.text) if kept.fields[0] == "important_dates" else None
    return "entry", kept.fields[0], entry_key(kept.entry)


def without_photo(card: Card, *, is_taken: bool) -> Card:
    """The card without the bytes of its photo. Its line keeps the value where nobody else has taken it."""
    if is_taken:
        lines = (
            replace(kept, text=parse_line(kept.text).with_value("").text) if "photo" in kept.fields else kept
            for kept in card.lines
        )
        return replace(card, photo=None, lines=tuple(lines))
    lines = (KeptLine(kept.text) if "photo" in kept.fields else kept for kept in card.lines)
    return replace(card, photo=None, lines=Limits([]).sized(lines))


def without_categories(card: Card, names: Collection[str]) -> Card:
    """The card without these groups; lines of their own, which no field holds, go on naming them."""
    refused = {name.casefold() for name in names}
    lines: list[KeptLine] = []
    for kept in card.lines:
        if "categories" not in kept.fields:
            lines.append(kept)
            continue
        line = parse_line(kept.text)
        pieces = values.split(line.value, ",")
        out = [piece for piece in pieces if category_key(piece) in refused]
        left = [piece for piece in pieces if piece not in out]
        lines += [KeptLine(line.with_value(",".join(left)).text, kept.fields)] if left else []
        lines += [KeptLine(line.with_value(",".join(out)).text)] if out else []
    categories = tuple(name for name in card.categories if name.casefold() not in refused)
    return replace(card, categories=categories, lines=tuple(lines))


def bare_text(text: str, line: ContentLine) -> str:
    """The line without its item group, whose number means nothing."""
    return text[len(line.group) + 1 :] if line.group else text


def entry_key(entry: Any) -> Any:
    """What tells entries of a field apart, to be looked up by."""
    return entry if isinstance(entry, CardDate) else tuple(sorted(entry.items(), key=_by_name))


def _by_name(item: tuple[str, Any]) -> str:
    return item[0]


def _free_name(group: str, used: Iterable[str]) -> str:
    while group in used:
        group += "x"
    return group
