"""The `type` of an entry, there and back: TYPE words where they say it, else an item group with an X-ABLabel.

Whatever a person typed comes back letter for letter: `type_words` writes TYPE only where `read_type` would
return the same text, and adds the nearest word to a label so that other programs still see a mobile number.
"""

import re

from people.field_table import OTHER

_APPLE = re.compile(r"_\$!<(.*)>!\$_", re.DOTALL)
#: These say how a number may be used or that it is the usual one, not which one it is: no `type` shows them.
SILENT_TYPES = frozenset({"internet", "pref", "voice", "msg", "text", "x400", "dom", "intl", "postal", "parcel"})
_PLACES = ("home", "work")
_KNOWN = frozenset(
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
_NEAREST = {"mobile": "cell", "private": "home", "personal": "home", "office": "work", "business": "work"}
_TOKENS = {
    token.lower(): token
    for token in (
        *(
            "HomePage",
            "Anniversary",
            "Birthday",
            "Other",
            "Assistant",
            "Mother",
            "Father",
            "Parent",
            "Brother",
        ),
        *(
            "Sister",
            "Child",
            "Friend",
            "Spouse",
            "Partner",
            "Manager",
            "AssistantPhone",
            "HomeFAX",
            "WorkFAX",
        ),
        *("OtherFAX", "School"),
    )
}


def read_label(value: str) -> str:
    """The text of an X-ABLabel; Apple's own labels in lower case (`_$!<HomePage>!$_` is homepage)."""
    found = _APPLE.fullmatch(value.strip())
    return found.group(1).strip().lower() if found else value.strip()


def write_label(text: str) -> str:
    return f"_$!<{_TOKENS[text]}>!$_" if text in _TOKENS else text


def read_type(words: tuple[str, ...], label: str | None = None) -> str:
    """The label, else the telling TYPE words, place first, else `other`."""
    if label:
        return label
    telling = [word for word in dict.fromkeys(word.removeprefix("x-") for word in words) if word not in SILENT_TYPES]
    places = [word for word in telling if word in _PLACES]
    return " ".join(places + [word for word in telling if word not in _PLACES]) or OTHER


def type_words(kind: str) -> tuple[tuple[str, ...], str | None]:
    """TYPE words and label that `read_type` turns into `kind` again."""
    words = tuple(kind.split(" "))
    if all(word in _KNOWN for word in words) and read_type(words) == kind:
        return words, None
    if kind == OTHER:
        return (), None
    nearest = kind.casefold()
    nearest = _NEAREST.get(nearest, nearest)
    return ((nearest,) if nearest in _KNOWN else ()), kind
