"""Merges the content lines of two cards of one person, without repeating values or mixing item groups."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from operator import itemgetter

from contacts_project.kernel.text_forms import case_key, nfc
from people.entries import date_entry
from people.field_table import OTHER
from people.phone_numbers import parse_phone
from people.vcard import values
from people.vcard.card import ENTRY_FIELDS, Card, CardDate, CardLine, Entry
from people.vcard.content_lines import ContentLine, fold, parse_line
from people.vcard.labels import HIDDEN_TYPES
from people.vcard.limits import CardLimits
from people.vcard.line_updates.fields import category_key
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.parser import CardText


def missing_lines(first: Sequence[CardLine], second: Sequence[CardLine], *, by_name: bool = False) -> list[CardLine]:
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


def _line_key(kept: CardLine, line: ContentLine | None = None, *, by_name: bool) -> Hashable:
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
    lines = (CardLine(kept.text) if "photo" in kept.fields else kept for kept in card.lines)
    return replace(card, photo=None, lines=CardLimits([]).limit_lines(lines))


def without_categories(card: Card, names: Collection[str]) -> Card:
    """The card without these categories. They move to CATEGORIES lines that set no field, so that none is lost."""
    refused = {case_key(name) for name in names}
    lines: list[CardLine] = []
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
        lines += [CardLine(line.with_value(",".join(remaining)).text, kept.fields)] if remaining else []
        lines += [CardLine(line.with_value(",".join(refused_pieces)).text)] if refused_pieces else []
    categories = tuple(name for name in card.categories if case_key(name) not in refused)
    return replace(card, categories=categories, lines=tuple(lines))


def text_without_group(text: str, line: ContentLine) -> str:
    """The text of a line in NFC, without its item group, whose number has no meaning. For comparisons."""
    return nfc(text[len(line.group) + 1 :] if line.group else text)


def as_entry(value: Entry | CardDate) -> Entry:
    """An entry of ENTRY_FIELDS as pair_entries takes it."""
    return date_entry(value) if isinstance(value, CardDate) else value


def entry_key(entry: Entry | CardDate) -> Hashable:
    """A hashable key of an entry with all its values."""
    return entry if isinstance(entry, CardDate) else tuple(sorted(entry.items(), key=itemgetter(0)))


# Parameters that are copies of the value or say how it is written: they stay with the very value alone.
_OF_VALUE = frozenset({"VALUE", "X-APPLE-OMIT-YEAR", "LABEL", "GEO", "SORT-AS", "X-EVOLUTION-E164"})
_OF_ENCODING = frozenset({"ENCODING", "CHARSET"})
_OF_FIELDS = frozenset({"TYPE", "VALUE", "X-SERVICE-TYPE", "X-LABEL", "X-TYPE", "X-APPLE-OMIT-YEAR"})
_LABEL = "X-ABLABEL"
# Lines without details of others: those that say how a card was made, and the picture, which is compared by itself.
_WITHOUT_DETAILS = frozenset({"", "BEGIN", "END", "VERSION", "PRODID", "REV", "UID", "PHOTO", *COMPANION_PROPERTIES})


def with_unsent_details(text: CardText, former: CardText, current: CardText, supported: frozenset[str]) -> CardText:
    """The card that a program wrote, with the labels and parameters that it does not support on the lines that it kept.

    `former` is the card that it changed, `current` the card as it is now. What says of which kind an entry is comes
    from `former`, so that the fields of both can be compared; what no field holds, others may have changed meanwhile.
    `supported` has the names of properties, companions (such as labels) among them, and `TEL;X-SIM` for a parameter. A
    line is the same by its value; one whose value was edited is the one of its kind, if not several could be meant.
    """
    if text.text == former.text or all(_supports_details(line, supported) for line in (*former.lines, *current.lines)):
        return text
    former_of = _pair_lines(text.lines, former.lines, supported)
    is_current = former.text == current.text
    current_of = {} if is_current else _pair_lines(former.lines, current.lines, supported)
    groups, former_groups, current_groups = map(_LineGroups, (text.lines, former.lines, current.lines))
    numbers = count(1)
    end = "\r\n" if "\r\n" in text.text else "\n"
    chunks = [line.original for line in text.lines]
    for index, former_index in former_of.items():
        own, old = text.lines[index], former.lines[former_index]
        now = current.lines[current_of[former_index]] if former_index in current_of else old
        line = _with_params_of(own, old, now, supported)
        names = {companion.name for companion in groups.companions(own)} | supported
        companions = [one for one in former_groups.companions(old) if one.name == _LABEL and one.name not in names]
        if _shown_types(line) != _shown_types(old):
            companions = []  # another kind, which the label would hide
        of_now = former_groups if now is old else current_groups
        companions += [one for one in of_now.companions(now) if one.name != _LABEL and one.name not in names]
        if companions and (not line.group or groups.is_shared(line)):
            used = groups.names | current_groups.names
            line = line.in_group(next(name for n in numbers if (name := f"item{n}") not in used))
        new = [line, *(one.in_group(line.group) for one in companions)]
        if new != [own]:
            chunks[index] = "".join(fold(one.serialize()).replace("\r\n", end) for one in new)
    changed = "".join(chunks)
    return text if changed == text.text else CardText(changed)


class _LineGroups:
    """The item groups of the lines of a card: the companions in each, and whether several other lines are in it."""

    def __init__(self, lines: Iterable[ContentLine]) -> None:
        self._companions: dict[str, list[ContentLine]] = {}
        self._sizes: Counter[str] = Counter()
        for line in lines:
            group = (line.group or "").lower()
            if group and line.name in COMPANION_PROPERTIES:
                self._companions.setdefault(group, []).append(line)
            elif group:
                self._sizes[group] += 1
        self.names = {*self._companions, *self._sizes}

    def companions(self, line: ContentLine) -> list[ContentLine]:
        return self._companions.get((line.group or "").lower(), [])

    def is_shared(self, line: ContentLine) -> bool:
        return self._sizes[(line.group or "").lower()] > 1


def _supports_details(line: ContentLine, supported: frozenset[str]) -> bool:
    """Whether the line is a companion that is supported, or none and all its parameters are."""
    if line.name in _WITHOUT_DETAILS:
        return line.name not in COMPANION_PROPERTIES or line.name in supported
    return all(f"{line.name};{name}" in supported or name in _OF_ENCODING for name, _ in line.params)


def _with_params_of(line: ContentLine, old: ContentLine, now: ContentLine, supported: frozenset[str]) -> ContentLine:
    """The line with those parameters that are not supported: those of a field from `old`, others from `now`."""
    own = {name for name, _ in line.params}.union(_OF_ENCODING)
    key = _value_key(line)
    kept = []
    for source, of_field in ((old, True), (now, False)):
        is_same = bool(source.params) and _value_key(source) == key
        kept += [
            (name, texts)
            for name, texts in source.params
            if (name in _OF_FIELDS) == of_field
            and name not in own
            and f"{line.name};{name}" not in supported
            and (is_same or name not in _OF_VALUE)
        ]
    return line.with_params((*line.params, *kept))


def _pair_lines(new: Sequence[ContentLine], old: Sequence[ContentLine], supported: frozenset[str]) -> dict[int, int]:
    """For the indexes of lines of `new` those of their former selves in `old`."""

    def types(line: ContentLine) -> frozenset[str]:
        return _shown_types(line) if f"{line.name};TYPE" in supported else frozenset()

    def indexes(lines: Sequence[ContentLine]) -> list[int]:
        return [index for index, line in enumerate(lines) if line.name not in _WITHOUT_DETAILS]

    pairs: dict[int, int] = {}
    left, free = indexes(new), indexes(old)
    keys: tuple[tuple[Callable[[ContentLine], Hashable], bool], ...] = (
        (lambda line: (line.name, _value_key(line), types(line)), True),
        (lambda line: (line.name, _value_key(line)), True),
        (lambda line: (line.name, types(line)), False),
        (lambda line: line.name, False),
    )
    for key, is_certain in keys:
        of_key: dict[Hashable, list[int]] = {}
        for index in reversed(free):
            of_key.setdefault(key(old[index]), []).append(index)
        wanted = Counter(key(new[index]) for index in left)
        for index in left:
            found = of_key.get(key(new[index]))
            # Where one of several was removed and another edited, nobody knows which.
            if found and (is_certain or len(found) <= wanted[key(new[index])]):
                pairs[index] = found.pop()
                wanted[key(new[index])] -= 1
        taken = set(pairs.values())
        left, free = [i for i in left if i not in pairs], [i for i in free if i not in taken]
    return pairs


def _shown_types(line: ContentLine) -> frozenset[str]:
    return frozenset(line.types) - HIDDEN_TYPES - {OTHER}


def _value_key(line: ContentLine) -> Hashable:
    """A key of the value, whatever its spelling."""
    text = values.text(line).strip()
    if line.name == "TEL":
        return parse_phone(text.lower().removeprefix("tel:"))
    return case_key(text.replace("\\;", ";"))
