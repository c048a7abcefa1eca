"""New bases after a write: which differences come from the server, and which are edits of another client. Pure."""

import re
from typing import Any

from rapidfuzz import fuzz

from contacts_project.kernel.text_forms import case_key
from people.contents.fields import EMPTY_FIELDS, ENTRY_FIELDS, Fields
from people.contents.merge import Sides, as_entries, as_values
from people.entries import pair_entries

#: Texts of at least this many characters whose similarity is at least this many percent count as one text that the
#: server has damaged.
_MIN_FUZZY_LENGTH, _MIN_FUZZY_RATIO = 20, 90
_NON_WORD = re.compile(r"\W+")


def rebase_after_write(sent: Fields, read_back: Fields, *, is_own: bool) -> Fields:
    """The remote base right after a write, from the fields that were sent and those that were read back.

    What the server dropped or re-spelled is taken into the base, so that it is no edit. A value that was not sent, or
    that differs too much while the ETag does not prove that nobody else wrote (`is_own`), is an edit of another client:
    the base keeps the value that was sent.
    """
    base: Fields = {}
    for field in EMPTY_FIELDS:
        if field in ENTRY_FIELDS:
            base[field], _ = _rebase_entries(field, sent[field], read_back[field], is_own=is_own)
        else:
            is_spelling = not read_back[field] or (
                sent[field] and (is_own or _is_server_spelling(field, sent[field], read_back[field]))
            )
            base[field] = read_back[field] if is_spelling else sent[field]
    return base


def rebase_after_other_writes(before: Fields, sent: Sides, read_back: Fields) -> Sides:
    """The bases if other clients may have written between our write and this reading.

    `before` are the fields of the card that the write replaced, `sent` the person and the card in the write. A field
    that the write left alone and that differs now was edited by another client, and so was a value with more than was
    sent. A value that the write changed and that is missing now may have been dropped by the server or removed by
    somebody: neither base has it, so that it is sent once more; if it is missing again, the server drops it.
    """
    local, remote = dict(sent.local), {}
    for field in EMPTY_FIELDS:
        ours = sent.remote[field]
        if read_back[field] == ours or before[field] == ours:
            remote[field] = ours
        elif field in ENTRY_FIELDS and read_back[field] != before[field]:
            local[field], remote[field] = _rebase_entries_after_other_writes(
                field, before[field], sent, read_back[field]
            )
        elif read_back[field] == before[field] or not read_back[field]:
            local[field] = remote[field] = read_back[field]
        elif ours and _is_server_spelling(field, ours, read_back[field], may_add=False):
            remote[field] = read_back[field]
        elif _is_damaged_copy(ours, read_back[field]):
            # It is not known whether the server damaged the text or somebody edited it: with the old base this becomes
            # a conflict.
            local[field] = remote[field] = before[field]
        else:
            remote[field] = ours
    return Sides(local, remote)


def _rebase_entries_after_other_writes(
    field: str, before: list[Any], sent: Sides, read_back: list[Any]
) -> tuple[list[Any], list[Any]]:
    remote, missing = _rebase_entries(field, sent.remote[field], read_back, is_own=False, may_add=False)
    removed = [entry for entry in missing if entry in before]
    dropped = as_entries([entry for entry in missing if entry not in before])
    local = as_entries(sent.local[field])
    positions = pair_entries(ENTRY_FIELDS[field].card, dropped, local, edits=True)
    return as_values([entry for position, entry in enumerate(local) if position not in positions]), [*remote, *removed]


def _rebase_entries(
    field: str, sent: list[Any], read_back: list[Any], *, is_own: bool, may_add: bool = True
) -> tuple[list[Any], list[Any]]:
    """The base for the entries that were read back, and the sent entries that are missing."""
    if field == "groups":
        # Some servers lose the backslash before a comma, so that one group name comes back as two.
        names = {case_key(part.strip()) for name in sent for part in (name, *name.split(","))}
        names_there = {case_key(name) for name in read_back}
        return [name for name in read_back if case_key(name) in names], [
            name for name in sent if case_key(name) not in names_there
        ]
    positions = pair_entries(ENTRY_FIELDS[field].card, read_back, sent, edits=True)
    base = []
    for entry, position in zip(read_back, positions, strict=True):
        if position is None:
            continue
        is_spelling = is_own or all(
            _is_same_value(sent[position].get(part), text, may_add=may_add)
            or _is_damaged_copy(sent[position].get(part), text)
            for part, text in entry.items()
            if text
        )
        base.append(entry if is_spelling else sent[position])
    return base, [entry for position, entry in enumerate(sent) if position not in positions]


def _is_server_spelling(field: str, sent: object, read_back: object, *, may_add: bool = True) -> bool:
    # A server may re-encode a picture.
    return field == "photo" or _is_same_value(sent, read_back, may_add=may_add)


def _is_same_value(sent: object, read_back: object, *, may_add: bool = True) -> bool:
    """Whether `read_back` is the server's form of `sent`: cut off, or, if no other client can have written (`may_add`),
    extended or damaged."""
    one, other = _normalize(sent), _normalize(read_back)
    if one == other or (bool(other) and other in one):
        return True
    return may_add and ((bool(one) and one in other) or _is_damaged_copy(sent, read_back))


def _is_damaged_copy(sent: object, read_back: object) -> bool:
    """Whether a long text differs slightly, as where a server folds a line in the middle of a character (DAViCal)."""
    one, other = _normalize(sent), _normalize(read_back)
    return (
        one not in other
        and min(len(one), len(other)) >= _MIN_FUZZY_LENGTH
        and fuzz.ratio(one, other) >= _MIN_FUZZY_RATIO
    )


def _normalize(value: object) -> str:
    return _NON_WORD.sub("", str(value or "")).casefold()


def is_write_applied(before: Fields, sent: Fields, now: Fields) -> bool:
    """Whether the card contains what a write of unknown outcome sent: all of it, or at least one field that the write
    changed."""
    changed = [field for field in EMPTY_FIELDS if before[field] != sent[field]]
    return now == sent or any(now[field] == sent[field] for field in changed)
