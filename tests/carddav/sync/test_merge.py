"""Properties of the three-way merge, in which each side has its own base."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from people.contents.fields import EMPTY_FIELDS, Fields
from people.contents.merge import NO_BASES, Merged, Sides, merge, resolve_bases
from tests.carddav.sync.strategies import edits_of, field_maps


def fields(**values: Any) -> Fields:
    return {**deepcopy(EMPTY_FIELDS), **values}


def numbers(side: Fields) -> set[str]:
    return {entry["number"] for entry in side["phoneNumbers"]}


def phone(number: str, kind: str = "home") -> dict[str, str]:
    return {"type": kind, "number": number}


@st.composite
def two_sides(draw: Any) -> tuple[Sides, Sides]:
    """Two bases that differ, as with a server that drops and reformats values, and edits of both."""
    bases = Sides(draw(field_maps()), draw(field_maps()))
    return bases, Sides(edits_of(draw, bases.local), edits_of(draw, bases.remote))


@given(two_sides())
def test_unchanged_sides_need_no_write(case: tuple[Sides, Sides]) -> None:
    bases, _ = case
    assert merge(bases, bases) == Merged(bases, bases, ())


@given(two_sides())
def test_merge_is_idempotent(case: tuple[Sides, Sides]) -> None:
    first = merge(*case)
    second = merge(first.bases, first.target)
    assert second.target == first.target
    assert second.bases == first.bases
    assert [found.field for found in second.conflicts] == [found.field for found in first.conflicts]


@given(two_sides())
def test_merge_is_symmetric(case: tuple[Sides, Sides]) -> None:
    bases, now = case
    one = merge(bases, now)
    other = merge(Sides(bases.remote, bases.local), Sides(now.remote, now.local))
    for field in ("name", "surname", "notes", "photo"):
        assert (one.target.local[field], one.target.remote[field]) == (
            other.target.remote[field],
            other.target.local[field],
        )
    scalars = [{found.field for found in merged.conflicts} - {"phoneNumbers", "groups"} for merged in (one, other)]
    assert scalars[0] == scalars[1]


@given(two_sides())
def test_unchanged_side_takes_all_edits_of_the_other(case: tuple[Sides, Sides]) -> None:
    bases, now = case
    merged = merge(bases, Sides(now.local, bases.remote))
    assert merged.target.local == now.local
    assert merged.conflicts == ()


@given(two_sides())
def test_no_entry_is_lost_unless_removed(case: tuple[Sides, Sides]) -> None:
    bases, now = case
    merged = merge(bases, now)
    mine = numbers(now.local) - numbers(bases.local)
    theirs = numbers(now.remote) - numbers(bases.remote)
    both = numbers(merged.target.local) | numbers(merged.target.remote)
    assert mine | theirs <= both
    stayed = numbers(bases.local) & numbers(bases.remote) & numbers(now.local) & numbers(now.remote)
    if not merged.conflicts:
        assert stayed <= numbers(merged.target.local) & numbers(merged.target.remote)


@given(two_sides())
def test_conflict_keeps_both_values_and_can_be_resolved_either_way(case: tuple[Sides, Sides]) -> None:
    bases, now = case
    merged = merge(bases, now)
    for conflict in merged.conflicts:
        if conflict.field in {"phoneNumbers", "groups"}:
            continue
        assert merged.target.local[conflict.field] == now.local[conflict.field] == conflict.local
        assert merged.target.remote[conflict.field] == now.remote[conflict.field] == conflict.remote
    names = {conflict.field for conflict in merged.conflicts}
    for keep_local in (True, False):
        resolved = resolve_bases(merged.bases, merged.target, names, keep_local=keep_local)
        again = merge(resolved, merged.target)
        assert not again.conflicts
        kept = merged.target.local if keep_local else merged.target.remote
        for name in names & {"name", "surname", "notes"}:
            assert again.target.local[name] == again.target.remote[name] == kept[name]


def test_independent_edits_of_a_list_are_all_kept() -> None:
    base = fields(phoneNumbers=[phone("1"), phone("2"), phone("3", "work")])
    local = fields(phoneNumbers=[phone("1"), phone("3", "work"), phone("4", "car")])
    remote = fields(phoneNumbers=[phone("2"), phone("33", "work"), phone("1"), phone("5", "fax")])
    merged = merge(Sides(base, base), Sides(local, remote))
    assert numbers(merged.target.local) == numbers(merged.target.remote) == {"1", "33", "4", "5"}
    assert not merged.conflicts


def test_edits_of_different_parts_of_an_entry_are_merged() -> None:
    base = fields(phoneNumbers=[phone("1", "home")])
    merged = merge(
        Sides(base, base), Sides(fields(phoneNumbers=[phone("1", "work")]), fields(phoneNumbers=[phone("2", "home")]))
    )
    # If both number and type change, the entry counts as a different one, so both are kept.
    assert {"1", "2"} >= numbers(merged.target.local) >= {"2"}


def test_entry_edited_differently_is_a_conflict_of_its_field_only() -> None:
    base = fields(surname="A", phoneNumbers=[phone("1"), phone("9", "work")])
    local = fields(surname="B", phoneNumbers=[phone("2"), phone("9", "work")])
    remote = fields(surname="A", phoneNumbers=[phone("3")])
    merged = merge(Sides(base, base), Sides(local, remote))
    assert [conflict.field for conflict in merged.conflicts] == ["phoneNumbers"]
    assert merged.target.local["phoneNumbers"] == [phone("2")]
    assert merged.target.remote["phoneNumbers"] == [phone("3")]
    assert merged.target.remote["surname"] == "B"


def test_edit_wins_over_removal() -> None:
    base = fields(phoneNumbers=[phone("1"), phone("2", "work")])
    merged = merge(
        Sides(base, base), Sides(fields(phoneNumbers=[phone("7")]), fields(phoneNumbers=[phone("8", "work")]))
    )
    assert numbers(merged.target.local) == numbers(merged.target.remote) == {"7", "8"}


def test_dropped_and_reformatted_values_are_not_changes() -> None:
    bases = Sides(
        fields(nickname="a b", phoneNumbers=[phone("+49 1", "mobile")], groups=["A, B"]),
        fields(nickname="a", phoneNumbers=[phone("+491", "cell")], groups=[]),
    )
    now = Sides({**bases.local, "surname": "New"}, bases.remote)
    merged = merge(bases, now)
    assert merged.target.remote == {**bases.remote, "surname": "New"}
    assert merged.target.local == now.local


def test_sides_without_bases_are_joined() -> None:
    local = fields(name="Ada", notes="mine", phoneNumbers=[phone("+1 2")], groups=["Friends"])
    remote = fields(name="Ada", surname="L", phoneNumbers=[phone("+12", "cell"), phone("3")], groups=["Work"])
    merged = merge(NO_BASES, Sides(local, remote))
    assert not merged.conflicts
    assert merged.target.local["surname"] == "L"
    assert merged.target.remote["notes"] == "mine"
    assert [entry["number"] for entry in merged.target.local["phoneNumbers"]] == ["+1 2", "3"]
    assert [entry["number"] for entry in merged.target.remote["phoneNumbers"]] == ["+12", "3"]
    assert set(merged.target.local["groups"]) == set(merged.target.remote["groups"]) == {"Friends", "Work"}


def test_date_and_title_of_a_birthday_edited_on_different_sides() -> None:
    day = {"type": "BIRTHDAY", "title": None, "date": "2000-01-01", "yearUnknown": False}
    base = fields(importantDates=[day])
    local = fields(importantDates=[{**day, "date": "2000-01-02"}])
    remote = fields(importantDates=[{**day, "title": "Party"}])
    merged = merge(Sides(base, base), Sides(local, remote))
    assert merged.target.local["importantDates"] == [{**day, "date": "2000-01-02", "title": "Party"}]
    assert merged.target.remote["importantDates"] == merged.target.local["importantDates"]
