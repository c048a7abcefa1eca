"""Real cards of ../shared/data/vcards, a folder next to the repository."""

import re
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]
_PLACES = [_ROOT.parent / "shared/data/vcards", Path("/work/shared/data/vcards")]
FOLDER = next((place for place in _PLACES if place.is_dir()), None)

needs_real_cards = pytest.mark.skipif(FOLDER is None, reason="the real cards are not there: ../shared/data/vcards")


@cache
def real_cards() -> dict[str, bytes]:
    """Every card by file and number, each with its own UID, so that no two are the same contact."""
    cards: dict[str, bytes] = {}
    for path in sorted(FOLDER.rglob("*.vcf")) if FOLDER else []:
        for number, data in enumerate(split(path.read_bytes())):
            name = f"{path.relative_to(FOLDER or path)}#{number}"
            bare = re.sub(rb"(?im)^UID:.*\r?\n", b"", data)
            cards[name] = re.sub(rb"(?i)^(BEGIN:VCARD *[\r\n]+)", rb"\g<1>UID:real-%d\r\n" % len(cards), bare)
    return cards


def split(data: bytes) -> list[bytes]:
    """The cards of a file, each from BEGIN to END."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    return re.findall(rb"(?ims)^BEGIN:VCARD.*?^END:VCARD *\r?\n?", data)
