"""vCard import of 2,000 cards, the same again, and the export of what they became."""

import time
from typing import Any

from django.utils import timezone

from people.importing.vcards import import_cards
from people.projection.vcard_export import export_cards
from people.vcard import read_cards
from tests.bench.figures import Figure, SharedData
from tests.builders import make_user

CARDS = 2_000


def vcard_file(cards: int = CARDS) -> bytes:
    """Cards as a phone writes them: two numbers, two addresses on the net, one in a street, a birthday, two groups."""
    return "".join(_card(n) for n in range(cards)).encode()


def _card(n: int) -> str:
    lines = [
        "BEGIN:VCARD",
        "VERSION:3.0",
        f"UID:card-{n}",
        f"N:Surname{n};Given{n};;;",
        f"FN:Given{n} Surname{n}",
        f"TEL;TYPE=CELL:+4915{n:08d}",
        f"TEL;TYPE=HOME:+4930{n:08d}",
        f"EMAIL;TYPE=HOME:p{n}@example.org",
        f"EMAIL;TYPE=WORK:w{n}@example.com",
        f"ADR;TYPE=HOME:;;Long Street {n};LargeNetwork;;12345;DE",
        "BDAY:1980-01-02",
        f"CATEGORIES:G{n % 5},Friends",
        f"NOTE:Note {n}",
        "END:VCARD",
    ]
    return "\r\n".join([*lines, ""])


def _once(name: str, work: Any) -> Figure:
    """One run: a second one would find everybody there."""
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    return Figure(name, seconds, note=f"{CARDS / seconds:,.0f} cards/s")


def bench_vcard(shared: SharedData) -> list[Figure]:
    owner, data = make_user("vcard-bench@example.org"), vcard_file()

    def read() -> None:
        for _ in read_cards(data):
            pass

    def load() -> None:
        for _ in import_cards(owner=owner, cards=read_cards(data), now=timezone.now()):
            pass

    def export() -> None:
        for _ in export_cards(owner=owner, version="4.0"):
            pass

    figures = [
        _once(f"vCard: read {CARDS:,} cards", read),
        _once(f"vCard: import {CARDS:,} cards", load),
        _once(f"vCard: import the same {CARDS:,} again", load),
    ]
    return [*figures, _once(f"vCard: export {CARDS:,} people", export)]


BENCHES = [("vcard", bench_vcard)]
