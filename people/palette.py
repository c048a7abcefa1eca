"""Colours for what is given none: groups and relationship types."""

import zlib
from typing import Final

PALETTE: Final = (
    "#E57373",
    "#F06292",
    "#BA68C8",
    "#9575CD",
    "#7986CB",
    "#64B5F6",
    "#4DD0E1",
    "#4DB6AC",
    "#81C784",
    "#AED581",
    "#FFD54F",
    "#FFB74D",
    "#FF8A65",
    "#A1887F",
    "#90A4AE",
)


def pick_color(name: str) -> str:
    """The colour of `name`: the same on every machine and in every run, whatever the case of the name."""
    return PALETTE[zlib.crc32(name.casefold().encode()) % len(PALETTE)]
