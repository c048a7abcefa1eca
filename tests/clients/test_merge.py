"""The three-way merge of the clients, field by field. The TypeScript client must agree with the Python client."""

import json
import random
from typing import Any

import pytest
from contacts_client.merge import Clash, is_same, merge
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.generator import NODE, TYPESCRIPT, run

HOME, WORK = {"id": "1", "email": "a@x", "type": "home"}, {"id": "2", "email": "b@x", "type": "work"}
HOME_2, WORK_2 = {**HOME, "email": "z@x"}, {**WORK, "email": "y@x"}
NEW, OTHER = {"email": "c@x", "type": None}, {"id": "3", "email": "d@x", "type": None}


def test_fields_that_one_side_changed() -> None:
    base = {"name": "Ada", "notes": None}
    assert merge(base, {"name": "Ada L."}, {**base, "notes": "theirs"}) == ({"name": "Ada L."}, [])


def test_both_made_the_same_of_it() -> None:
    assert merge({"name": "Ada"}, {"name": " Grace "}, {"name": "Grace"}) == ({}, [])


def test_both_changed_a_field() -> None:
    assert merge({"name": "a"}, {"name": "b"}, {"name": "c"}) == ({}, [Clash("name", "a", "b", "c")])


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        ([HOME, WORK, NEW], [HOME, WORK, OTHER], [HOME, WORK, OTHER, NEW]),  # both added
        ([HOME], [HOME, WORK, OTHER], [HOME, OTHER]),  # I removed, they added
        ([HOME_2, WORK], [HOME, WORK_2], [HOME_2, WORK_2]),  # each changed one
        ([HOME, NEW], [WORK], [NEW]),  # each removed one
        ([{"email": "a@x", "type": "home"}, NEW], [HOME, WORK, OTHER], [HOME, OTHER, NEW]),  # written anew, without ids
    ],
)  # fmt: skip
def test_lists_by_the_ids_of_their_entries(mine: Any, theirs: Any, result: Any) -> None:
    assert merge({"emails": [HOME, WORK]}, {"emails": mine}, {"emails": theirs}) == ({"emails": result}, [])


def test_an_entry_that_came_through_already_is_not_doubled() -> None:
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
def test_an_entry_that_both_changed_is_a_clash_and_no_value_goes(mine: Any, theirs: Any, kept: Any) -> None:
    body, clashes = merge({"emails": [HOME]}, {"emails": mine}, {"emails": theirs})
    assert body.get("emails", theirs) == kept
    # Mine is kept where they removed the entry, so that nothing is left to choose.
    assert [clash.mine for clash in clashes] == ([mine] if theirs else [])


_ids = st.sets(st.sampled_from("abcdef"))


@given(_ids, _ids, _ids)
def test_ids_merge_as_sets_do(base: set[str], mine: set[str], theirs: set[str]) -> None:
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


def random_versions(dice: random.Random) -> list[dict[str, Any]]:
    """Base, mine and theirs, of which each entry is kept, changed, removed, written anew without its id, or added."""
    base = [{"id": str(n), "email": f"{n}@x"} for n in range(dice.randrange(4))]
    mine, theirs = ([changed for entry in base if (changed := change(entry, dice))] for _ in range(2))
    for mails in (mine, theirs):
        if dice.random() < 0.5:
            mails.append({"email": dice.choice("pq") + "@x"})
    theirs = [
        entry if "id" in entry else {**entry, "id": f"new {n}", "type": "other"} for n, entry in enumerate(theirs)
    ]
    texts = [[text for text in "abcd" if dice.random() < 0.5] for _ in range(3)]
    return [{"emails": mails, "groupIds": ids} for mails, ids in zip((base, mine, theirs), texts, strict=True)]


def change(entry: dict[str, Any], dice: random.Random) -> dict[str, Any] | None:
    changes = {"email": dice.choice("yz") + "@x"}
    return dice.choice([entry, entry, {**entry, **changes}, {"email": entry["email"]}, None])


def test_client_in_typescript_merges_as_this_one_does(tmp_path: Any) -> None:
    dice = random.Random(20261124)
    versions = [random_versions(dice) for _ in range(2000)]
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(versions))
    strip = ["--no-warnings", "--experimental-strip-types", "--input-type=module"]
    theirs = json.loads(run([NODE, *strip, "-e", MERGE_ALL, str(cases)], TYPESCRIPT))
    ours = [merge(*each) for each in versions]
    assert theirs == [{"body": body, "clashes": [clash._asdict() for clash in clashes]} for body, clashes in ours]
    assert {len(clashes) for _, clashes in ours} == {0, 1}
