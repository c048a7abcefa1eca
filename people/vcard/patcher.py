"""A card of a server, patched: only the lines that say something else than the person change."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from people.entries import Key, match_entries
from people.vcard.builder import LineBuilder
from people.vcard.card import Card, CardDate, KeptLine
from people.vcard.content_lines import ContentLine, fold, fold_old, parse_lines
from people.vcard.line_merge import ENTRY_FIELDS, entry_key
from people.vcard.merge import same_key
from people.vcard.parser import GENERATED, is_old, read_lines, with_agents_inline
from people.vcard.revision import revise
from people.vcard.revision.names import NAMES
from people.vcard.versions import in_version, modern, spelled_old
from people.vcard.writer import FIRST


def patch_card(text: str, card: Card, *, full_name: str | None = None, revised: str | None = None) -> str:
    """`text` changed so that it says what `card` does, in its own version; whatever says that already stays as it is.

    `card.photo` is that of the text where it has not changed. `full_name` is FN where it shall be another. `revised`
    becomes REV when anything changes.
    """
    originals = with_agents_inline(parse_lines(text))
    old = is_old(originals)
    version = next((line.value.strip() for line in originals if line.name == "VERSION"), "3.0")
    places = [place for place, line in enumerate(originals) if line.name and line.name not in GENERATED]
    lines = [modern(originals[place], old=old) for place in places]
    said = read_lines(lines, [])
    now = replace(card, lines=_bound_lines(said, card))
    revision = revise(lines, said, now, LineBuilder(version, lines), full_name=full_name)
    new = revision.place_new_lines()
    is_renamed = any(getattr(said, field) != getattr(card, field) for field in NAMES)
    if not revision.changed and not is_renamed and all(line.name in FIRST for line in new):
        return text  # a UID or N that is missing is no reason to write
    spell = partial(_spelled, version=version, old=old, end="\r\n" if "\r\n" in text else "\n")
    chunks = [line.original for line in originals]
    for number, standing in revision.changed.items():
        kept = chunks[places[number]]
        chunks[places[number]] = "".join(kept if line is lines[number] else spell(line) for line in standing)
    for place, line in enumerate(originals):
        if line.name == "REV" and revised:
            chunks[place] = spell(ContentLine("REV", revised))
    end = next((place for place, line in enumerate(originals) if line.name == "END"), len(chunks))
    chunks.insert(end, "".join(spell(line) for line in new if line.name not in FIRST))
    start = places[0] if places else end
    chunks.insert(start, "".join(spell(line) for line in new if line.name in FIRST))
    return "".join(chunks)


def _spelled(line: ContentLine, *, version: str, old: bool, end: str) -> str:
    text = fold_old(spelled_old(line)) if old else fold(in_version(line, version).spelled())
    return text.replace("\r\n", end)


def _bound_lines(said: Card, card: Card) -> tuple[KeptLine, ...]:
    """The lines of the text, each with what the entry that it says is by now."""
    now: dict[tuple[str, Hashable], Any] = {}
    for field in ENTRY_FIELDS:
        former = getattr(said, field)
        for entry, place in zip(getattr(card, field), _matched(field, card, said), strict=True):
            if place is not None:
                now[field, entry_key(former[place])] = entry
    bound = []
    for kept in said.lines:
        held = next((field for field in kept.fields if field in ENTRY_FIELDS), None)
        bound.append(replace(kept, entry=now.get((held, entry_key(kept.entry)))) if held and kept.entry else kept)
    return tuple(bound)


def _matched(field: str, now: Card, said: Card) -> list[int | None]:
    """For each entry of the person that of the text: by the line that it came with, its content, value or type."""
    same = same_key(field)
    keys: tuple[Key, ...] = (lambda pair: pair[1], lambda pair: entry_key(pair[0]), lambda pair: same(pair[0]))
    return match_entries(_with_lines(field, now), _with_lines(field, said), keys=keys, kind=lambda pair: _kind(pair[0]))


def _with_lines(field: str, card: Card) -> list[tuple[Any, object]]:
    """The entries, each with the text of the line that it was read from, or something that equals nothing else."""
    texts = {entry_key(kept.entry): kept.text for kept in card.lines if kept.entry and field in kept.fields}
    return [(entry, texts.get(entry_key(entry), object())) for entry in getattr(card, field)]


def _kind(entry: Any) -> Hashable:
    return (entry.type or entry.title) if isinstance(entry, CardDate) else entry["type"]
