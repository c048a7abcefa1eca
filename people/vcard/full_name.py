"""FN that says nothing but N: in one of our formats, or in an order and with separators of its own.

Such an FN is no displayNameOverride. It stays as it came while the name does, and follows a change of the name in its
own order: `Nagy János`, `Ruiz, Ana`, `山田太郎`, `DOE John`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contacts_project.kernel.text_forms import nfc
from people.vcard.card import NAME_FORMATS, Card

FIELDS = ("prefix", "name", "middle_name", "nickname", "surname", "second_last_name", "suffix")
_WHITE_SPACE = re.compile(r"\s+")
_SEPARATORS = frozenset(" \t\u00a0\u3000,;./|()[]\"'_-–—·•・‧“”„«»‘’，、；（）「」")
_BRACKETS = frozenset("()[]\"'“”„«»‘’（）「」")
_MAX_LENGTH = 500
_MAX_SEPARATORS = 4  # in a row: `, "`
_AFTER = {"middle_name": ("name",), "surname": ("middle_name", "name"), "second_last_name": ("surname", "name")}


@dataclass(slots=True)
class _Piece:
    """A part of the name as FN spells it, and what stands before it."""

    field: str
    before: str
    text: str


def says_only_name(full: str, card: Card, *, whole: bool = False) -> bool:
    """Whether FN equals the name in one of NAME_FORMATS, or consists of parts of it in any order.

    With `whole` of all its parts: where FN itself is not kept, one that leaves some out is to be seen.
    """
    if matches_format(full, card) is not None:
        return True
    pieces, _ = _split(full, card) or ([], "")
    return bool(pieces) and not (whole and _missing(pieces, card))


def matches_format(full: str, card: Card) -> str | None:
    """The one of NAME_FORMATS that FN has, ignoring white space."""
    words = full.split()
    return next((form for form in NAME_FORMATS if words == card.format_name(form).split()), None)


def is_own_order(full: str, card: Card) -> bool:
    """Whether FN says nothing but the name, in none of NAME_FORMATS."""
    return bool(full) and matches_format(full, card) is None and _split(full, card) is not None


def respell(full: str, old: Card, new: Card) -> str:
    """FN of the name of `new` in the order and with the separators that `full` has for the name of `old`.

    A part that is empty now goes with its separator; a new part comes if FN had all that there were.
    """
    pieces, tail = _split(full, old) or ([], "")
    had_all = not _missing(pieces, old)
    kept: list[_Piece] = []
    for piece in pieces:
        value = getattr(new, piece.field)
        if value:
            is_same = value == getattr(old, piece.field)
            kept.append(_Piece(piece.field, piece.before, piece.text if is_same else _in_case(value, piece, old)))
        else:
            tail = _close_gap(kept, pieces, piece, tail)
    for field in FIELDS:
        is_new = getattr(new, field) and not getattr(old, field) and field != "nickname"
        if is_new and (had_all or field == "surname"):
            _insert(kept, field, getattr(new, field), is_spaced=bool(_WHITE_SPACE.search(full.strip())))
    if kept:
        kept[0].before = "".join(sign for sign in kept[0].before if sign in _BRACKETS)
    text = "".join(piece.before + piece.text for piece in kept) + tail
    # Else it would be read as a displayNameOverride.
    return text if says_only_name(text, new) else new.format_name("FULL")


def _missing(pieces: list[_Piece], card: Card) -> set[str]:
    """The parts of the name that FN leaves out."""
    return {field for field in FIELDS if getattr(card, field)} - {piece.field for piece in pieces} - {"nickname"}


def _split(full: str, card: Card) -> tuple[list[_Piece], str] | None:
    """The parts of the name that `full` consists of, and what stands behind them; None if there is anything else.

    Given name (or nickname) and surname are there, the others may be. Letter case says nothing.
    """
    text = nfc(_WHITE_SPACE.sub(lambda found: found.group()[0], full.strip()))
    parts = {field: nfc(" ".join(value.split())) for field in FIELDS if (value := getattr(card, field))}
    pieces = _Search(text, parts).find(0, frozenset(parts)) if len(text) <= _MAX_LENGTH else None
    fields = {piece.field for piece in pieces or ()}
    if not pieces or ("surname" in parts and "surname" not in fields) or fields.isdisjoint({"name", "nickname"}):
        return None
    length = sum(len(piece.before) + len(piece.text) for piece in pieces)
    return pieces, text[length:]


class _Search:
    """The search for an order of the parts that gives the text. Each set of parts ends at one place or few."""

    def __init__(self, text: str, parts: Mapping[str, str]) -> None:
        self.text, self.parts = text, parts
        self.end = len(text.rstrip("".join(_SEPARATORS)))
        self.failed: set[tuple[int, frozenset[str]]] = set()

    def find(self, at: int, left: frozenset[str]) -> list[_Piece] | None:
        """The parts of `left` that the text from `at` on consists of."""
        if at >= self.end:
            return []
        if (at, left) in self.failed:
            return None
        for start in self._starts(at):
            for field in sorted(left, key=FIELDS.index):
                end = start + len(self.parts[field])
                if self.text[start:end].casefold() != self.parts[field].casefold():
                    continue
                if (rest := self.find(end, left - {field})) is not None:
                    return [_Piece(field, self.text[at:start], self.text[start:end]), *rest]
        self.failed.add((at, left))
        return None

    def _starts(self, at: int) -> Iterator[int]:
        """Where the next part may begin: behind a separator, which scripts without letter case do not need."""
        if at == 0 or _needs_no_separator(self.text[at - 1 : at + 1]):
            yield at
        for start in range(at, min(at + _MAX_SEPARATORS, len(self.text))):
            if self.text[start] not in _SEPARATORS:
                return
            yield start + 1


def _needs_no_separator(signs: str) -> bool:
    return len(signs) == 2 and all(sign.isalpha() and sign.lower() == sign.upper() for sign in signs)


def _in_case(value: str, piece: _Piece, old: Card) -> str:
    """`value` in the letter case that FN gave to the part that it replaces."""
    before = getattr(old, piece.field)
    if piece.text.isupper() and not before.isupper():
        return value.upper()
    return value.lower() if piece.text.islower() and not before.islower() else value


def _close_gap(kept: list[_Piece], pieces: list[_Piece], gone: _Piece, tail: str) -> str:
    """Leave out what separated a part that is gone. Returns what stands behind the last part."""
    index = pieces.index(gone)
    following = pieces[index + 1] if index + 1 < len(pieces) else None
    after = following.before if following else tail
    is_bracketed = gone.before[-1:] in _BRACKETS and after[:1] in _BRACKETS and bool(gone.before) and bool(after)
    if is_bracketed:
        after = after[1:]
    if following is None:
        closing = "" if is_bracketed else "".join(sign for sign in gone.before[:1] if sign in _BRACKETS)
        return closing + (after if is_bracketed else tail)
    before = gone.before[:-1] if is_bracketed else gone.before
    # One of the two separators stays: the first, unless nothing stands before it.
    following.before = (before or after) if kept else ""
    return tail


def _insert(kept: list[_Piece], field: str, value: str, *, is_spaced: bool) -> None:
    separator = " " if is_spaced or len(kept) < 2 or not _needs_no_separator(kept[0].text[-1:] + value[:1]) else ""
    if field == "prefix":
        if kept:
            kept[0].before = separator
        kept.insert(0, _Piece(field, "", value))
        return
    fields = [piece.field for piece in kept]
    anchor = next((one for one in _AFTER.get(field, ()) if one in fields), None)
    kept.insert(len(kept) if anchor is None else fields.index(anchor) + 1, _Piece(field, separator, value))


def names_of(names: Mapping[str, str | None]) -> Card:
    """The parts of a name as a card that has nothing else."""
    return Card(**{field: names.get(field) or ("" if field == "name" else None) for field in FIELDS})  # type: ignore[arg-type]  # texts
