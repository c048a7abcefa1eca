"""The names of stored photos: the digest of the content, then the owner. Pure."""

import hashlib
import re
from uuid import UUID

_NAME = re.compile(r"[0-9a-f]{40}-[0-9a-f]{32}\.jpg")


def is_photo_name(name: str) -> bool:
    """Whether this is the file name of a photo."""
    return _NAME.fullmatch(name) is not None


def photo_name(owner_id: UUID, jpeg: bytes) -> str:
    """The file name of an account's photo, from the hash of its content and the account's id."""
    return f"{content_hash(jpeg)}-{owner_id.hex}.jpg"


def content_hash(jpeg: bytes) -> str:
    """The hash of the content, which is the first part of the file name."""
    return hashlib.sha256(jpeg).hexdigest()[:40]


def photo_hash(name: str) -> str:
    """The hash of the content, from the file name."""
    return name.partition("-")[0]
