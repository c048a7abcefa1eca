"""Hypothesis strategies for field maps and edits of them."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from people.contents.fields import EMPTY_FIELDS, Fields

_WORDS = ["Ada", "Bob", "Cy"]
_TYPES = ["home", "work", "other"]
_NUMBERS = ["1", "2", "3", "4", "5"]


def phones(max_size: int = 4) -> st.SearchStrategy[list[dict[str, str]]]:
    entry = st.fixed_dictionaries({"type": st.sampled_from(_TYPES), "number": st.sampled_from(_NUMBERS)})
    return st.lists(entry, max_size=max_size, unique_by=lambda entry: entry["number"])


def field_maps() -> st.SearchStrategy[Fields]:
    """Maps with a few fields of each type; the other fields are empty."""
    some = st.fixed_dictionaries(
        {
            "name": st.sampled_from(_WORDS),
            "surname": st.none() | st.sampled_from(_WORDS),
            "notes": st.none() | st.sampled_from(_WORDS),
            "phoneNumbers": phones(),
            "groups": st.lists(st.sampled_from(_WORDS), unique=True),
            "photo": st.none() | st.sampled_from(_NUMBERS),
        }
    )
    return some.map(lambda values: {**deepcopy(EMPTY_FIELDS), **values})


def edits_of(draw: Any, fields: Fields) -> Fields:
    """The map with some fields edited, entries added, changed or removed."""
    edited = deepcopy(fields)
    for field in draw(st.sets(st.sampled_from(["name", "surname", "notes"]))):
        edited[field] = draw(st.sampled_from(_WORDS))
    for entry in list(edited["phoneNumbers"]):
        match draw(st.sampled_from(["keep", "keep", "remove", "type", "number"])):
            case "remove":
                edited["phoneNumbers"].remove(entry)
            case "type":
                entry["type"] = draw(st.sampled_from(_TYPES))
            case "number":
                entry["number"] = draw(st.sampled_from(_NUMBERS))
    edited["phoneNumbers"] += draw(phones(2))
    edited["phoneNumbers"] = list({entry["number"]: entry for entry in edited["phoneNumbers"]}.values())
    edited["groups"] = draw(st.lists(st.sampled_from(_WORDS), unique=True))
    return edited
