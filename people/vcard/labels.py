"""Converts the `type` of an entry to TYPE values or to an X-ABLabel in an item group, and back.

Any text that the user typed survives the round trip: `write_type` returns TYPE values only if `read_type` would read
the same text from them. Otherwise it returns a label, with the nearest TYPE value so that other programs still
recognise, for example, a mobile number.
"""

import re

from people.field_table import OTHER

_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_", re.DOTALL)
#: TYPE values that are not shown in `type`: they describe the use of a number or mark a preferred or default one.
HIDDEN_TYPES = frozenset({"internet", "pref", "voice", "msg", "text", "x400", "dom", "intl", "postal", "parcel"})
_PLACE_TYPES = ("home", "work")
_TYPES = frozenset(
    {
        "home",
        "work",
        "cell",
        "fax",
        "pager",
        "video",
        "car",
        "isdn",
        "modem",
        "bbs",
        "pcs",
        "main",
        "textphone",
        "iphone",
    }
)
_NEAREST_TYPES = {"mobile": "cell", "private": "home", "personal": "home", "office": "work", "business": "work"}
_APPLE_LABELS = {
    label.lower(): label
    for label in (
        "HomePage",
        "Anniversary",
        "Birthday",
        "Other",
        "Assistant",
        "Mother",
        "Father",
        "Parent",
        "Brother",
        "Sister",
        "Child",
        "Friend",
        "Spouse",
        "Partner",
        "Manager",
        "AssistantPhone",
        "HomeFAX",
        "WorkFAX",
        "OtherFAX",
        "School",
    )
}


def read_label(value: str) -> str:
    """The text of an X-ABLabel. Apple's predefined labels are returned in lower case (`_$!<HomePage>!$_`: homepage)."""
    found = _APPLE_LABEL.fullmatch(value.strip())
    return found.group(1).strip().lower() if found else value.strip()


def write_label(text: str) -> str:
    return f"_$!<{_APPLE_LABELS[text]}>!$_" if text in _APPLE_LABELS else text


def read_type(words: tuple[str, ...], label: str | None = None) -> str:
    """The `type` of an entry: the label, else the TYPE values that are shown, place first, else `other`."""
    if label:
        return label
    shown = [word for word in dict.fromkeys(word.removeprefix("x-") for word in words) if word not in HIDDEN_TYPES]
    places = [word for word in shown if word in _PLACE_TYPES]
    return " ".join(places + [word for word in shown if word not in _PLACE_TYPES]) or OTHER


def write_type(kind: str) -> tuple[tuple[str, ...], str | None]:
    """The TYPE values and the label from which `read_type` returns `kind` again."""
    words = tuple(kind.split(" "))
    if all(word in _TYPES for word in words) and read_type(words) == kind:
        return words, None
    if kind == OTHER:
        return (), None
    nearest = kind.casefold()
    nearest = _NEAREST_TYPES.get(nearest, nearest)
    return ((nearest,) if nearest in _TYPES else ()), kind
