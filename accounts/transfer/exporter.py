"""Exports an account record by record, so that memory does not grow with the address book."""

import datetime as dt
from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.sections import sections
from contacts_project.kernel.json import dumps

FORMAT, VERSION = "contact-network", 1
_CHUNK_BYTES = 64 * 1024


def export_document(owner: User, today: dt.date) -> Iterator[bytes]:
    """Yield the whole account as JSON, in chunks of about 64 KiB.

    It names the day and not the time: a strong ETag requires that the export of an unchanged account stays the same.
    """
    chunk = bytearray()
    for piece in _pieces(owner, today):
        chunk += piece
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


def _pieces(owner: User, today: dt.date) -> Iterator[bytes]:
    head = {"format": FORMAT, "version": VERSION, "exportedOn": today.isoformat()}
    yield dumps(head)[:-1]  # without the closing brace: the sections follow
    for section in sections():
        yield b"," + dumps(section.name) + b":["
        for number, record in enumerate(section.export(owner)):
            yield (b"," if number else b"") + dumps(record)
        yield b"]"
    yield b"}"
