"""The bases after a write of ours: what a server makes of what we sent, and what somebody else did to it. Pure."""

import re
from typing import Any

from rapidfuzz import fuzz

from carddav.sync.entries import KINDS
from carddav.sync.fields import EMPTY, Fields
from carddav.sync.merge import Sides, as_entries, as_values
from people.entries import match_entries

#: From so many characters on texts that are alike in so many percent are one text that a server has damaged.
_LONG, _ALIKE = 20, 90
_NO_WORD = re.compile(r"\W+")


def rebased(sent: Fields, back: Fields, *, is_own: bool) -> Fields:
    """The remote base right after a write of ours, of what was sent and what the server says now.

    What the server dropped or re-spelled is its way of saying the same: the base says it like that, and it is no edit.
    What we did not send, or, unless the ETag proves that nobody wrote since (`is_own`), what is not alike, was edited
    there: the base does not say it.
    """
    base: Fields = {}
    for field in EMPTY:
        if field in KINDS:
            base[field], _ = _rebased_entries(field, sent[field], back[field], is_own=is_own)
        else:
            is_spelling = not back[field] or (sent[field] and (is_own or _is_spelling(field, sent[field], back[field])))
            base[field] = back[field] if is_spelling else sent[field]
    return base


def rebased_later(before: Fields, sent: Sides, back: Fields) -> Sides:
    """The bases where others may have written between a write of ours and this reading of the card.

    `before` is what the card said that the write was to replace, `sent` the person and the card in it. What the write
    left as it was, and the card says otherwise, was edited there, and so was what says more than it sent. What it
    changed and is not there may have been dropped by the server, or removed by somebody: neither base says it, so that
    it is sent once more, and seen then.
    """
    local, remote = dict(sent.local), {}
    for field in EMPTY:
        ours = sent.remote[field]
        if back[field] == ours or before[field] == ours:
            remote[field] = ours
        elif field in KINDS and back[field] != before[field]:
            local[field], remote[field] = _entries_later(field, before[field], sent, back[field])
        elif back[field] == before[field] or not back[field]:
            local[field] = remote[field] = back[field]
        elif ours and _is_spelling(field, ours, back[field], may_add=False):
            remote[field] = back[field]
        elif _is_nearly(ours, back[field]):
            local[field] = remote[field] = before[field]  # damaged by the server, or edited: a conflict
        else:
            remote[field] = ours
    return Sides(local, remote)


def _entries_later(field: str, before: list[Any], sent: Sides, back: list[Any]) -> tuple[list[Any], list[Any]]:
    remote, missing = _rebased_entries(field, sent.remote[field], back, is_own=False, may_add=False)
    removed = [entry for entry in missing if entry in before]
    kind, dropped = KINDS[field], as_entries([entry for entry in missing if entry not in before])
    here = as_entries(sent.local[field])
    places = match_entries(dropped, here, keys=(_as_tuple, kind.value), kind=kind.kind)
    return as_values([entry for place, entry in enumerate(here) if place not in places]), [*remote, *removed]


def _rebased_entries(
    field: str, sent: list[Any], back: list[Any], *, is_own: bool, may_add: bool = True
) -> tuple[list[Any], list[Any]]:
    """The base of what is there, and what was sent and is not there."""
    if field == "groups":
        # Some lose the backslash before a comma: what was one name comes back as two.
        names = {part.strip().casefold() for name in sent for part in (name, *name.split(","))}
        there = {name.casefold() for name in back}
        return [name for name in back if name.casefold() in names], [
            name for name in sent if name.casefold() not in there
        ]
    kind = KINDS[field]
    found = match_entries(back, sent, keys=(_as_tuple, kind.value), kind=kind.kind)
    base = []
    for entry, place in zip(back, found, strict=True):
        if place is None:
            continue
        is_spelling = is_own or all(
            _is_similar(sent[place].get(part), text, may_add=may_add) or _is_nearly(sent[place].get(part), text)
            for part, text in entry.items()
            if text
        )
        base.append(entry if is_spelling else sent[place])
    return base, [entry for place, entry in enumerate(sent) if place not in found]


def _as_tuple(entry: Any) -> Any:
    return tuple(sorted(entry.items()))


def _is_spelling(field: str, sent: Any, back: Any, *, may_add: bool = True) -> bool:
    # A server may keep another encoding of a picture.
    return field == "photo" or _is_similar(sent, back, may_add=may_add)


def _is_similar(sent: Any, back: Any, *, may_add: bool = True) -> bool:
    """Whether `back` is how a server says `sent`: cut off, or, where nobody else can have written (`may_add`), with
    more, or damaged."""
    one, other = _bare(sent), _bare(back)
    if one == other or (bool(other) and other in one):
        return True
    return may_add and ((bool(one) and one in other) or _is_nearly(sent, back))


def _is_nearly(sent: Any, back: Any) -> bool:
    """A long line that a server folded in the middle of a character, say (DAViCal)."""
    one, other = _bare(sent), _bare(back)
    return one not in other and min(len(one), len(other)) >= _LONG and fuzz.ratio(one, other) >= _ALIKE


def _bare(value: Any) -> str:
    return _NO_WORD.sub("", str(value or "")).casefold()


def is_applied(before: Fields, sent: Fields, now: Fields) -> bool:
    """Whether the card says what a write of unknown outcome sent: all of it, or some of what it changed."""
    changed = [field for field in EMPTY if before[field] != sent[field]]
    return now == sent or any(now[field] == sent[field] for field in changed)
