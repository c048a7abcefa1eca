"""vCard import of 2,000 cards: the first run, a repeated one, and the export of the imported people."""

import time
from typing import Any

from django.utils import timezone

from people.contents.contact import export_cards
from people.importing.vcards import import_cards
from people.vcard import read_cards
from tests.bench.figures import Figure, SharedData
from tests.builders import make_user

CARDS = 2_000


def vcard_file(cards: int = CARDS) -> bytes:
    """A vCard file like that of a phone: two numbers, two e-mails, an address, a birthday and two groups per card."""
    return "".join(make_card(n) for n in range(cards)).encode()


def make_card(n: int) -> str:
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
        f"ADR;TYPE=HOME:;;Long Street {n};Berlin;;12345;DE",
        "BDAY:1980-01-02",
        f"CATEGORIES:G{n % 5},Friends",
        f"NOTE:Note {n}",
        "END:VCARD",
    ]
    return "\r\n".join([*lines, ""])


def measure_once(name: str, work: Any) -> Figure:
    """Measure a single run, because a second one would find everybody present."""
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
        measure_once(f"vCard: read {CARDS:,} cards", read),
        measure_once(f"vCard: import {CARDS:,} cards", load),
        measure_once(f"vCard: import the same {CARDS:,} again", load),
    ]
    return [*figures, measure_once(f"vCard: export {CARDS:,} people", export)]


BENCHES = [("vcard", bench_vcard)]
