"""Ids for records that a client creates: UUIDs of version 7 (RFC 9562, 5.7), which sort by time."""

import secrets
import time
from uuid import UUID


def new_id() -> str:
    """Return 48 bits of milliseconds, the version, and 74 random bits with the variant in between."""
    milliseconds = time.time_ns() // 1_000_000
    number = (milliseconds & (1 << 48) - 1) << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62
    return str(UUID(int=number | secrets.randbits(62)))
