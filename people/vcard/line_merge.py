"""Merges the content lines of two cards of one person, without repeating values or mixing item groups."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from itertools import count
from operator import itemgetter

from contacts_project.kernel.text_forms import case_key, nfc
from people.vcard import values
from people.vcard.card import ENTRY_FIELDS, Card, CardDate, Entry, KeptLine
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.limits import Limits
from people.vcard.line_updates.fields import category_key
from people.vcard.line_updates.state import COMPANION_PROPERTIES


def missing_lines(first: Sequence[KeptLine], second: Sequence[KeptLine], *, by_name: bool = False) -> list[KeptLine]:
    """The lines of `second` that have no counterpart in `first`, in item groups that `first` does not use.

    The counterpart of a line with a field is a line with the same field and entry; that of another line is one with the
    same text, or with `by_name` one of the same property. Companions of a line (labels in its item group) go with it.
    """
    if not second:
        return []
    known_keys = {key for kept in first if (key := _line_key(kept, by_name=by_name))}
    lines = [parse_line(kept.text) for kept in second]
    is_missing = [
        line.name not in COMPANION_PROPERTIES
        and (key := _line_key(kept, line, by_name=by_name)) is not None
        and key not in known_keys
        for kept, line in zip(second, lines, strict=True)
    ]
    groups = {line.group.lower() for line, missing in zip(lines, is_missing, strict=True) if missing and line.group}
    # Only a text with a dot can have an item group, and parsing every line would be slow.
    used = {line.group.lower() for kept in first if "." in kept.text and (line := parse_line(kept.text)).group}
    # One counter for all groups, so that each name is tried once: a hostile card may use any of them.
    numbers, reserved = count(1), used | groups
    names: dict[str, str] = {}
    for group in sorted(groups):
        names[group] = group
        if group in used:
            names[group] = next(name for number in numbers if (name := f"{group}x{number}") not in reserved)
    result = []
    for kept, line, missing in zip(second, lines, is_missing, strict=True):
        group = (line.group or "").lower()
        if missing or (line.name in COMPANION_PROPERTIES and group in groups):
            is_moved = bool(group) and names[group] != group
            result.append(replace(kept, text=line.in_group(names[group]).serialize()) if is_moved else kept)
    return result


def _line_key(kept: KeptLine, line: ContentLine | None = None, *, by_name: bool) -> Hashable:
    """The key that a line shares with its counterpart; None if its entry was removed."""
    if not kept.fields:
        line = line or parse_line(kept.text)
        return ("name", line.name) if by_name else ("line", text_without_group(kept.text, line))
    if len(kept.fields) > 1 or kept.fields[0] not in ENTRY_FIELDS:
        return "field", kept.fields[0]
    if kept.entry is None:  # a date may be restored from the trash, so its line stays
        return ("line", nfc(kept.text)) if kept.fields[0] == "important_dates" else None
    return "entry", kept.fields[0], entry_key(kept.entry)


def without_photo(card: Card, *, is_stored_elsewhere: bool) -> Card:
    """The card without its photo.

    If the photo is stored elsewhere, the value of its line is removed, too. Otherwise the line keeps its value, counts
    as one that sets no field, and must fit into the limit of the lines.
    """
    if is_stored_elsewhere:
        lines = (
            replace(kept, text=parse_line(kept.text).with_value("").text) if "photo" in kept.fields else kept
            for kept in card.lines
        )
        return replace(card, photo=None, lines=tuple(lines))
    lines = (KeptLine(kept.text) if "photo" in kept.fields else kept for kept in card.lines)
    return replace(card, photo=None, lines=Limits([]).limit_lines(lines))


def without_categories(card: Card, names: Collection[str]) -> Card:
    """The card without these categories. They move to CATEGORIES lines that set no field, so that none is lost."""
    refused = {case_key(name) for name in names}
    lines: list[KeptLine] = []
    for kept in card.lines:
        if "categories" not in kept.fields:
            lines.append(kept)
            continue
        line = parse_line(kept.text)
        pieces = values.split(line.value, ",")
        refused_pieces: list[str] = []
        remaining: list[str] = []
        for piece in pieces:
            (refused_pieces if category_key(piece) in refused else remaining).append(piece)
        lines += [KeptLine(line.with_value(",".join(remaining)).text, kept.fields)] if remaining else []
        lines += [KeptLine(line.with_value(",".join(refused_pieces)).text)] if refused_pieces else []
    categories = tuple(name for name in card.categories if case_key(name) not in refused)
    return replace(card, categories=categories, lines=tuple(lines))


def text_without_group(text: str, line: ContentLine) -> str:
    """The text of a line in NFC, without its item group, whose number has no meaning. For comparisons."""
    return nfc(text[len(line.group) + 1 :] if line.group else text)


def entry_key(entry: Entry | CardDate) -> Hashable:
    """A hashable key of an entry with all its values."""
    return entry if isinstance(entry, CardDate) else tuple(sorted(entry.items(), key=itemgetter(0)))
