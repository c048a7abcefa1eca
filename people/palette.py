"""Default colours of groups and relationship types."""

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
    """A colour derived from `name` without regard to case, the same on every machine and in every run."""
    # crc32, because hash() of a text differs from process to process.
    return PALETTE[zlib.crc32(name.casefold().encode()) % len(PALETTE)]
