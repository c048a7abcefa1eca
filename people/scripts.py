"""Scripts in which names are written: where the surname stands first, and no space between the parts."""

import re
from collections.abc import Iterable

#: The content of a regex character class: Chinese, Japanese and Korean, which are written without spaces.
CJK_RANGES = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_CJK_TEXT = re.compile(f"[{CJK_RANGES}]+")
# Letters that stand in names alone, never in searched words: Hangul's single letters, small and half-width Kana.
_MORE_LETTERS = r"\u1100-\u11ff\u3130-\u318f\u31f0-\u31ff\uff66-\uff9f\uffa0-\uffdc\U0001b000-\U0001b16f"
_CJK_LETTER = re.compile(f"[{CJK_RANGES}{_MORE_LETTERS}]")
# Between the parts of a foreign name that is written in Kana or Han, in its own order.
_MIDDLE_DOT = re.compile("[\u00b7\u2022\u2027\u22c5\u30fb\uff65]")


def is_cjk(text: str) -> bool:
    """Whether the text is all Chinese, Japanese or Korean, where no space separates the parts of a name."""
    return _CJK_TEXT.fullmatch(text) is not None


def is_surname_first(parts: Iterable[str | None]) -> bool:
    """Whether all letters of a name are Han, Hangul or Kana, and no middle dot stands between them."""
    text = "".join(part for part in parts if part)
    if text.isascii():  # a fast path for most names
        return False
    if not _CJK_LETTER.search(text) or _MIDDLE_DOT.search(text):
        return False
    return not any(sign.isalpha() for sign in _CJK_LETTER.sub("", text))
