"""How a PUT is read: as a change against the card that the device had, not as a replacement. Pure.

A device knows the properties and parameters that it has ever sent, and the names, telephone numbers and e-mail
addresses that every device knows. What it does not know and did not send back stays; what it knows and left out is
removed. See docs/dav.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from contacts_project.kernel.json import JsonMapping, JsonObject
from people.contents.fields import EMPTY_FIELDS, ENTRY_FIELDS, SCALARS, Fields, remote_fields
from people.contents.merge import Sides, merge, resolve_bases
from people.entries import pair_entries
from people.field_table import Compare
from people.phone_numbers import parse_phone
from people.vcard import Card, CardLine, CardText, ContentLine, fold, parse_line
from people.vcard.line_merge import missing_lines, with_unsent_details
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.versions import canonical_key

KNOWN_TO_ALL = frozenset({"N", "FN", "TEL", "EMAIL"})
# Lines that say how the card was made: every program writes its own.
_WORDS = frozenset({"type", "label", "protocol"})
_KINDS = frozenset({"type", "label"})
_ANNIVERSARY = "ANNIVERSARY"
# Apple's programs give this label to an address of the web that has none.
_APPLE_LABEL_OF_URLS = ("homepage", "other")
_GENERATED = frozenset({"BEGIN", "END", "VERSION", "PRODID", "REV", "UID"})


@dataclass(frozen=True)
class DeviceEdit:
    """What a PUT means: `source` is the card that is stored for all, before the changes of others are written into it,
    and `fields` the contents of the person, of which `changed` differ from the current ones. `lines_changed`: a line
    that no field holds came or went."""

    source: CardText
    fields: Fields
    changed: set[str]
    lines_changed: bool

    @property
    def has_photo_url(self) -> bool:
        return self.source.card.photo_url is not None


def property_names(source: CardText) -> frozenset[str]:
    """The names of the properties that a card has."""
    return frozenset(line.name for line in source.lines if line.name) - _GENERATED


def names_in(source: CardText) -> frozenset[str]:
    """What a device knows that has sent this card: the names of its properties, and `TEL;X-SIM` for each parameter."""
    return property_names(source).union(
        f"{line.name};{name}" for line in source.lines if line.name not in _GENERATED for name, _ in line.params
    )


def read_edit(*, base: CardText, current: CardText, sent: CardText, known: Iterable[str], local: Fields) -> DeviceEdit:
    """Read the card that a device `sent` as a change against `base`, the text that it had.

    `current` is the text as it is now, `local` the contents of the person as they are now, `known` what the device has
    ever sent (`names_in`). What others changed since the device had its text stays; in the same field the device's
    value stands. Raises VCardError.
    """
    names = KNOWN_TO_ALL.union(known, names_in(sent))
    # What the device had may be what it sent itself.
    base = with_unsent_details(base, current, current, names)
    detailed = with_unsent_details(sent, base, current, names)
    stored = _with_lines_of_others(detailed, base.card, current.card, names)
    before = remote_fields(base.card)
    wanted = _without_respellings(remote_fields(stored.card), before)
    # The picture is compared by the caller, who knows what the device was given for it.
    wanted["photo"] = before["photo"] = local["photo"]
    # A name that is displayed otherwise: programs that do not know of it compute FN from N.
    if wanted["displayNameOverride"] is None:
        wanted["displayNameOverride"] = before["displayNameOverride"]
    bases, now = Sides(before, before), Sides(local, wanted)
    merged = merge(bases, now)
    if conflicts := {conflict.field for conflict in merged.conflicts}:
        merged = merge(resolve_bases(bases, now, conflicts, keep_local=False), now)
    fields = merged.target.local
    changed = {name for name in EMPTY_FIELDS if fields[name] != local[name]}
    lines_changed = _free_line_keys(stored.card) != _free_line_keys(current.card)
    return DeviceEdit(stored, fields, changed, lines_changed)


def _with_lines_of_others(sent: CardText, base_card: Card, current_card: Card, known: frozenset[str]) -> CardText:
    """The text that the device sent, with the lines that it does not know, and without those that others removed."""
    base_keys = _free_line_keys(base_card)
    current_keys = _free_line_keys(current_card)
    sent_lines = sent.card.lines
    sent_entries = {key for kept in sent_lines if (key := _key_without_kind(kept))}

    def is_missing(kept: CardLine) -> bool:
        line = parse_line(kept.text)
        if line.name in COMPANION_PROPERTIES:
            return True  # goes with the line that it describes
        if line.name not in known:
            # SyncEvolution knows no X-JABBER, and writes it as IMPP.
            return _key_without_kind(kept) not in sent_entries
        return not kept.fields and canonical_key(line) not in base_keys  # added by others since then

    put_back = missing_lines(sent_lines, [kept for kept in current_card.lines if is_missing(kept)])
    removed = base_keys - current_keys
    if not put_back and not removed:
        return sent
    lines = sent.lines
    if removed:
        free = {kept.text for kept in sent_lines if not kept.fields}
        lines = [line for line in lines if line.text not in free or canonical_key(line) not in removed]
    end = "\r\n" if "\r\n" in sent.text else "\n"
    added = "".join(fold(kept.text).replace("\r\n", end) for kept in put_back)
    body = "".join(line.original for line in lines if line.name != "END")
    closing = "".join(line.original for line in lines if line.name == "END")
    return CardText(f"{body}{added}{closing}")


def _key_without_kind(kept: CardLine) -> Any:
    """A key that is equal for two lines with the same entry, such as a number, whatever its kind or label; None for a
    line of which no field holds entries."""
    if not isinstance(kept.entry, Mapping):
        return None
    values = ((name, value) for name, value in kept.entry.items() if name not in _KINDS)
    return kept.fields[0], frozenset(
        (name, str(value).casefold() if name in _WORDS else value) for name, value in values
    )


def _free_line_keys(card: Card) -> frozenset[tuple[object, ...]]:
    """The lines that no field holds, whatever their spelling."""
    lines = (parse_line(kept.text) for kept in card.lines if not kept.fields)
    return frozenset(canonical_key(line) for line in lines if line.name not in COMPANION_PROPERTIES)


def removed_lines(edit: DeviceEdit, current: CardText) -> list[tuple[str, str]]:
    """The lines that no field holds and that an edit takes from the card: name and text of each."""
    kept = _free_line_keys(edit.source.card)
    lines = ((kept_line, parse_line(kept_line.text)) for kept_line in current.card.lines if not kept_line.fields)
    return [
        (line.name, kept_line.text)
        for kept_line, line in lines
        if line.name not in COMPANION_PROPERTIES and canonical_key(line) not in kept
    ]


def with_spelling_of(card: Card, texts: Iterable[str]) -> Card:
    """The card whose lines that no field holds have the spelling of these lines wherever they mean the same."""
    if all(kept.fields for kept in card.lines):
        return card
    known: dict[Any, ContentLine] = {}
    for text in texts:
        line = parse_line(text)
        known.setdefault(canonical_key(line), line)

    def spelled(kept: CardLine) -> CardLine:
        line = parse_line(kept.text)
        same = known.get(canonical_key(line))
        return kept if same is None else replace(kept, text=same.in_group(line.group).serialize())

    return replace(card, lines=tuple(kept if kept.fields else spelled(kept) for kept in card.lines))


def _without_respellings(wanted: Fields, before: Fields) -> Fields:
    """The fields with the spelling of `before` wherever a program only writes the same value in another way."""
    fields = dict(wanted)
    for name in SCALARS:
        new, old = fields[name], before[name]
        # Some programs add a backslash before a semicolon each time that they write a text back.
        if isinstance(new, str) and isinstance(old, str) and new.replace("\\;", ";") == old.replace("\\;", ";"):
            fields[name] = old
    _join_anniversary(fields, before)
    for name, field in ENTRY_FIELDS.items():
        phone = next((key.name for key in getattr(field, "keys", ()) if key.compare is Compare.PHONE), "")
        fields[name] = _respelled(name, phone, fields[name], before[name])
    return fields


def _join_anniversary(fields: Fields, before: Fields) -> None:
    """Take the wedding day from X-ABDATE, as which Android's program and SyncEvolution write ANNIVERSARY in 3.0."""
    if not before["anniversary"] or any(map(_is_anniversary, before["importantDates"])):
        return
    for day in fields["importantDates"]:
        if _is_anniversary(day):
            fields["anniversary"] = day["date"]
            fields["importantDates"] = [other for other in fields["importantDates"] if other is not day]
            return


def _is_anniversary(day: JsonMapping) -> bool:
    return day["type"] == _ANNIVERSARY or (day["title"] or "").upper() == _ANNIVERSARY


def _respelled(name: str, phone: str, new: list[Any], old: list[Any]) -> list[Any]:
    """The entries with the former spelling of types, labels and numbers that differ in letter case or punctuation."""
    if not new or not old or not isinstance(new[0], Mapping) or not isinstance(old[0], Mapping):
        return new
    positions = pair_entries(ENTRY_FIELDS[name].card, new, old)
    return [
        entry if position is None else _with_former_spelling(dict(entry), old[position], phone)
        for entry, position in zip(new, positions, strict=True)
    ]


def _with_former_spelling(entry: JsonObject, former: JsonMapping, phone: str) -> JsonObject:
    for key, value in entry.items():
        old = former.get(key)
        if not isinstance(value, str) or not isinstance(old, str):
            continue
        is_word = key in _WORDS and (value.casefold() == old.casefold() or (value, old) == _APPLE_LABEL_OF_URLS)
        if is_word or (key == phone and parse_phone(value) == parse_phone(old)):
            entry[key] = old
    return entry
