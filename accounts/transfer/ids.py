"""Ids of imported records: the same record gets the same id each time it is imported into the same account."""

import hmac
from hashlib import sha256
from uuid import UUID

from django.conf import settings

# Our UUIDs have a counter above the last 32 bits. Replacing more would lose the order of rows created together.
_LOW_BITS = 32
_LOW_MASK = (1 << _LOW_BITS) - 1


def derived_id(owner_id: UUID, source: UUID, attempt: int = 0) -> UUID:
    """A UUIDv7 with the time and counter of `source`, and the last 32 bits from a keyed hash of account and source.

    A repeated import finds the rows of the first by it, without a table of source ids. Because the hash is keyed,
    nobody can choose a source that collides with another account's row; should an id be taken by chance, the caller
    uses the next `attempt`.
    """
    message = b"transfer" + bytes([attempt]) + owner_id.bytes + source.bytes
    mac = hmac.digest(settings.SECRET_KEY.encode(), message, sha256)
    whole = (source.int & ~_LOW_MASK) | int.from_bytes(mac[: _LOW_BITS // 8])
    # Version 7 and its variant (RFC 9562, section 5.7), even if the source had others.
    whole = whole & ~(0xF << 76) | (0x7 << 76)
    return UUID(int=whole & ~(0x3 << 62) | (0x2 << 62))
