"""Counts the work of a call: a step for each call of Python code, and the characters that each method of a text goes
over."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

#: Methods of a text or of bytes that look at all of it, or copy it.
_WHOLE = frozenset({"upper", "lower", "casefold", "partition", "split", "strip", "replace", "encode", "decode", "find"})


def count_work(call: Callable[[], object]) -> int:
    """The number of calls plus the number of characters that methods of texts may have read."""
    work = 0

    def trace(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal work
        if event == "call":
            work += 1
        elif event == "c_call":
            work += 1
            text = getattr(arg, "__self__", None)
            if isinstance(text, str | bytes) and arg.__name__ in _WHOLE:
                work += len(text)

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(before)
    return work
