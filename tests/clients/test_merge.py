"""The three-way merge of a copy, by field: the laws of the reference, with which the TypeScript kit must agree."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.merge_reference import Clash, is_same, merge
from tests.npm import NODE, TYPESCRIPT, run

HOME, WORK = {"id": "1", "email": "a@x", "type": "home"}, {"id": "2", "email": "b@x", "type": "work"}
HOME_2, WORK_2 = {**HOME, "email": "z@x"}, {**WORK, "email": "y@x"}
NEW, OTHER = {"email": "c@x", "type": None}, {"id": "3", "email": "d@x", "type": None}


def test_fields_changed_by_one_side_are_merged() -> None:
    base = {"name": "Ada", "notes": None}
    assert merge(base, {"name": "Ada L."}, {**base, "notes": "theirs"}) == ({"name": "Ada L."}, [])


def test_same_change_on_both_sides_is_no_clash() -> None:
    assert merge({"name": "Ada"}, {"name": " Grace "}, {"name": "Grace"}) == ({}, [])


def test_field_changed_differently_is_a_clash() -> None:
    assert merge({"name": "a"}, {"name": "b"}, {"name": "c"}) == ({}, [Clash("name", "a", "b", "c")])


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        ([HOME, WORK, NEW], [HOME, WORK, OTHER], [HOME, WORK, OTHER, NEW]),  # both added
        ([HOME], [HOME, WORK, OTHER], [HOME, OTHER]),  # I removed, they added
        ([HOME_2, WORK], [HOME, WORK_2], [HOME_2, WORK_2]),  # each changed one
        ([HOME, NEW], [WORK], [NEW]),  # each removed one
        ([{"email": "a@x", "type": "home"}, NEW], [HOME, WORK, OTHER], [HOME, OTHER, NEW]),  # rewritten without ids
    ],
)  # fmt: skip
def test_list_entries_are_merged_by_id(mine: Any, theirs: Any, result: Any) -> None:
    assert merge({"emails": [HOME, WORK]}, {"emails": mine}, {"emails": theirs}) == ({"emails": result}, [])


def test_entry_that_was_already_stored_is_not_duplicated() -> None:
    stored = {**NEW, "id": "9", "type": "other"}
    assert merge({"emails": [HOME]}, {"emails": [HOME, NEW]}, {"emails": [HOME, stored]}) == ({}, [])
    joined = merge({"emails": [HOME]}, {"emails": [HOME, NEW]}, {"emails": [HOME, stored, OTHER]})
    assert joined == ({}, [])


@pytest.mark.parametrize(
    ("mine", "theirs", "kept"),
    [
        ([{**HOME, "email": "m@x"}], [{**HOME, "email": "t@x"}], [{**HOME, "email": "t@x"}]),
        ([], [{**HOME, "email": "t@x"}], [{**HOME, "email": "t@x"}]),
        ([{**HOME, "email": "m@x"}], [], [{**HOME, "email": "m@x"}]),
    ],
)
def test_entry_changed_by_both_is_a_clash_and_no_value_is_lost(mine: Any, theirs: Any, kept: Any) -> None:
    body, clashes = merge({"emails": [HOME]}, {"emails": mine}, {"emails": theirs})
    assert body.get("emails", theirs) == kept
    # If they removed the entry, mine is kept, so there is no clash.
    assert [clash.mine for clash in clashes] == ([mine] if theirs else [])


_ids = st.sets(st.sampled_from("abcdef"))


@given(_ids, _ids, _ids)
def test_ids_are_merged_as_sets(base: set[str], mine: set[str], theirs: set[str]) -> None:
    fields = [{"groupIds": sorted(ids)} for ids in (base, mine, theirs)]
    body, clashes = merge(*fields)
    assert not clashes
    assert set(body.get("groupIds", theirs)) == (theirs - (base - mine)) | (mine - base)


_texts = st.sampled_from([None, "", "x", " x", "y"])


@given(_texts, _texts, _texts)
def test_no_text_is_lost(base: Any, mine: Any, theirs: Any) -> None:
    body, clashes = merge({"notes": base}, {"notes": mine}, {"notes": theirs})
    now = body.get("notes", theirs)
    assert is_same(now, mine) or is_same(mine, base) or clashes[0].mine == mine
    assert is_same(now, theirs) or is_same(theirs, base)


MERGE_ALL = """
import { readFileSync } from "node:fs";
import { merge } from "./src/merge.ts";
const merged = JSON.parse(readFileSync(process.argv[1], "utf8")).map((versions) => merge(...versions));
process.stdout.write(JSON.stringify(merged));
"""


def random_versions(generator: random.Random) -> list[dict[str, Any]]:
    """Base, mine and theirs, of which each entry is kept, changed, removed, written anew without its id, or added."""
    base = [{"id": str(n), "email": f"{n}@x"} for n in range(generator.randrange(4))]
    mine, theirs = ([changed for entry in base if (changed := change(entry, generator))] for _ in range(2))
    for mails in (mine, theirs):
        if generator.random() < 0.5:
            mails.append({"email": generator.choice("pq") + "@x"})
    theirs = [
        entry if "id" in entry else {**entry, "id": f"new {n}", "type": "other"} for n, entry in enumerate(theirs)
    ]
    texts = [[text for text in "abcd" if generator.random() < 0.5] for _ in range(3)]
    notes = [generator.choice([None, "", "x", " x", "y"]) for _ in range(3)]
    values = zip((base, mine, theirs), texts, notes, strict=True)
    return [{"emails": mails, "groupIds": ids, "notes": note} for mails, ids, note in values]


def change(entry: dict[str, Any], generator: random.Random) -> dict[str, Any] | None:
    changes = {"email": generator.choice("yz") + "@x"}
    return generator.choice([entry, entry, {**entry, **changes}, {"email": entry["email"]}, None])


def test_typescript_kit_merges_like_the_reference(tmp_path: Any) -> None:
    generator = random.Random(20261124)
    versions = [random_versions(generator) for _ in range(2000)]
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(versions))
    strip = ["--no-warnings", "--experimental-strip-types", "--input-type=module"]
    theirs = json.loads(run([NODE, *strip, "-e", MERGE_ALL, str(cases)], TYPESCRIPT))
    ours = [merge(*each) for each in versions]
    assert theirs == [{"body": body, "clashes": [clash._asdict() for clash in clashes]} for body, clashes in ours]
    assert {len(clashes) for _, clashes in ours} == {0, 1, 2}
