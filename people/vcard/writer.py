"""Writes a card as text: a new one, or a text in which only lines whose values differ from the person change."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from people.entries import pair_entries
from people.vcard.builder import PRODID, LineBuilder
from people.vcard.card import ENTRY_FIELDS, Card, CardLine
from people.vcard.content_lines import ContentLine, fold, fold_21, parse_line
from people.vcard.line_merge import as_entry, entry_key
from people.vcard.line_updates import update_lines
from people.vcard.line_updates.fields import NAME_FIELDS
from people.vcard.parser import GENERATED_PROPERTIES, CardText, is_version_21, read_lines
from people.vcard.versions import convert_line, convert_to_21

#: Properties that are placed at the beginning of a card when they are added.
LEADING_PROPERTIES = ("UID", "FN", "N")


def write_card(card: Card, version: str = "4.0", *, full_name: str | None = None, revised: str | None = None) -> str:
    """The card as text in `version`, folded, with CRLF. Lines keep their order; those of edited values are changed.

    `full_name` overrides FN; `revised` is the value of REV.
    """
    written = [fold(line.serialize()) for line in card_lines(card, version, full_name=full_name)]
    head = ["BEGIN:VCARD\r\n", f"VERSION:{version}\r\n", f"PRODID:{PRODID}\r\n"]
    return "".join([*head, *written, *([fold(f"REV:{revised}")] if revised else []), "END:VCARD\r\n"])


def card_lines(card: Card, version: str, *, full_name: str | None = None) -> list[ContentLine]:
    """The content lines of the card in `version`, without GENERATED_PROPERTIES."""
    lines = [parse_line(kept.text) for kept in card.lines]
    parsed = read_lines(lines, [], [bool(kept.fields) for kept in card.lines]) if lines else Card()
    update = update_lines(lines, parsed, card, LineBuilder(version, lines), full_name=full_name)
    rest = update.place_new_lines()
    first = [line for line in rest if line.name in LEADING_PROPERTIES]
    existing = (line for index, old in enumerate(lines) for line in update.replacements.get(index, [old]))
    written = (*first, *existing, *(line for line in rest if line.name not in LEADING_PROPERTIES))
    return [convert_line(line, version) for line in written if line.name and line.name not in GENERATED_PROPERTIES]


def patch_card(text: str, card: Card, *, full_name: str | None = None, revised: str | None = None) -> str:
    """Change `text` so that its values are those of `card`. Its version and all other lines stay byte for byte.

    `card.photo` must be the photo in `text` unless it has changed. `full_name` overrides FN. `revised` becomes REV if
    anything changes.
    """
    return patch_text(CardText(text), card, full_name=full_name, revised=revised).text


def patch_text(source: CardText, card: Card, *, full_name: str | None = None, revised: str | None = None) -> CardText:
    """As `patch_card`, of a text that may be parsed already. Returns `source` itself if nothing changes."""
    originals, lines, parsed = source.lines, source.properties, source.parsed
    is_v21 = is_version_21(originals)
    version = next((line.value.strip() for line in originals if line.name == "VERSION"), "3.0")
    indexes = [index for index, line in enumerate(originals) if line.name and line.name not in GENERATED_PROPERTIES]
    target = replace(card, lines=_bind_entries(parsed, card))
    update = update_lines(lines, parsed, target, LineBuilder(version, lines), full_name=full_name)
    new = update.place_new_lines()
    is_renamed = any(getattr(parsed, field) != getattr(card, field) for field in NAME_FIELDS)
    if not update.replacements and not is_renamed and all(line.name in LEADING_PROPERTIES for line in new):
        # A missing UID, FN or N alone is no reason to write to the server.
        return source
    end_of_line = "\r\n" if "\r\n" in source.text else "\n"
    serialize_line = partial(_serialize_line, version=version, is_v21=is_v21, end=end_of_line)
    chunks = [line.original for line in originals]
    for number, replacements in update.replacements.items():
        original = chunks[indexes[number]]
        # An unchanged line among them keeps its original text, with folds and spelling.
        chunks[indexes[number]] = "".join(
            original if line is lines[number] else serialize_line(line) for line in replacements
        )
    for index, line in enumerate(originals):
        if line.name == "REV" and revised:
            chunks[index] = serialize_line(ContentLine("REV", revised))
    end = next((index for index, line in enumerate(originals) if line.name == "END"), len(chunks))
    chunks.insert(end, "".join(serialize_line(line) for line in new if line.name not in LEADING_PROPERTIES))
    start = indexes[0] if indexes else end
    chunks.insert(start, "".join(serialize_line(line) for line in new if line.name in LEADING_PROPERTIES))
    return CardText("".join(chunks))


def _serialize_line(line: ContentLine, *, version: str, is_v21: bool, end: str) -> str:
    text = fold_21(convert_to_21(line)) if is_v21 else fold(convert_line(line, version).serialize())
    return text.replace("\r\n", end)


def _bind_entries(parsed: Card, card: Card) -> tuple[CardLine, ...]:
    """The lines of the text, each with the current version of its entry."""
    target: dict[tuple[str, Hashable], Any] = {}
    for field in ENTRY_FIELDS:
        parsed_entries = getattr(parsed, field)
        for entry, index in zip(getattr(card, field), _match_entries(field, card, parsed), strict=True):
            if index is not None:
                target[field, entry_key(parsed_entries[index])] = entry
    bound = []
    for kept in parsed.lines:
        field_name = next((field for field in kept.fields if field in ENTRY_FIELDS), None)
        if field_name and kept.entry:
            bound.append(replace(kept, entry=target.get((field_name, entry_key(kept.entry)))))
        else:
            bound.append(kept)
    return tuple(bound)


def _match_entries(field: str, target: Card, parsed: Card) -> list[int | None]:
    """For each entry of the person the index of its counterpart in the text: the one with the line from which it was
    read, else the one that it is."""
    new, old = getattr(target, field), getattr(parsed, field)
    indexes = {text: index for index, text in enumerate(_line_texts(field, parsed)) if text}
    found = [indexes.pop(text, None) if text else None for text in _line_texts(field, target)]
    left = [position for position, index in enumerate(found) if index is None]
    free = sorted(set(range(len(old))).difference(index for index in found if index is not None))
    pairs = pair_entries(
        field, [as_entry(new[position]) for position in left], [as_entry(old[index]) for index in free], edits=True
    )
    for position, pair in zip(left, pairs, strict=True):
        found[position] = None if pair is None else free[pair]
    return found


def _line_texts(field: str, card: Card) -> list[str | None]:
    """For each entry of the field the text of the line from which it was read, if any."""
    texts = {entry_key(kept.entry): kept.text for kept in card.lines if kept.entry and field in kept.fields}
    return [texts.get(entry_key(entry)) for entry in getattr(card, field)]
