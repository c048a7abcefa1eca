"""The id of an imported record, the same whenever the same record comes into the same account."""

import hmac
from hashlib import sha256
from uuid import UUID

from django.conf import settings

# Our ids hold a counter above their last 32 bits: to change more would lose the order of what was made together.
_LOW_BITS = 32
_LOW = (1 << _LOW_BITS) - 1


def derived_id(owner_id: UUID, source: UUID, attempt: int = 0) -> UUID:
    """A UUIDv7 made of the source's id: its time and order stay, its last 32 bits are the account's own.

    So an import that runs again finds what it made before, without a table of what came from where; and since the bits
    are keyed, nobody can aim an id at another account's record. Should one be taken all the same, there is a next.
    """
    message = b"transfer" + bytes([attempt]) + owner_id.bytes + source.bytes
    mac = hmac.digest(settings.SECRET_KEY.encode(), message, sha256)
    whole = (source.int & ~_LOW) | int.from_bytes(mac[: _LOW_BITS // 8])
    whole = whole & ~(0xF << 76) | (0x7 << 76)  # version 7 (RFC 9562, section 5.7), whatever was sent
    return UUID(int=whole & ~(0x3 << 62) | (0x2 << 62))
