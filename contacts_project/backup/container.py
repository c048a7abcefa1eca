"""The file: a line that says what it is, then frames, each sealed to its place.

    contact-network backup 1 plain 8f14e45fceea167a5a36dedd4bea2543\\n
    frame: 4 bytes length (big endian), then the sealed body
    body:  1 byte kind, then a zstd frame of the data

A plain seal is BLAKE2b over the file's id, the frame's number and the body, in front of the body. An encrypted one is a
Fernet token (its bytes, not their base64) of the same three, so that frames can be neither read nor changed, moved,
left out or taken from another file without the key. The last frame has the kind END; without it the file is cut off.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from backports import zstd
from cryptography.fernet import Fernet, InvalidToken

FORMAT = 1
HEADER, PHOTO, LEFT_OUT, TABLE, ROWS, TABLE_END, END = b"H", b"P", b"X", b"T", b"R", b"E", b"Z"
MAX_DATA = 4 * 1024 * 1024
_MAX_SEALED = MAX_DATA + 64 * 1024  # zstd and Fernet add less
_FIRST_LINE = re.compile(rb"contact-network backup ([0-9]{1,9}) (plain|encrypted) ([0-9a-f]{32})\n")
_LONGEST_LINE = 100
_DIGEST = 16
_PLACE = 24  # bytes: the file's id and the frame's number


class BackupError(Exception):
    """Why a backup cannot be made, read or restored: one line for the operator."""


class DamagedError(BackupError):
    """The file is not as it was written."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The file is damaged: {why}. Nothing was changed.")


class Frame(NamedTuple):
    kind: bytes
    data: bytes


class _Seal(Protocol):
    def close(self, place: bytes, body: bytes) -> bytes: ...
    def open(self, place: bytes, sealed: bytes) -> bytes:
        """The body. Raises ValueError for what was not sealed at this place."""


class _Checksum:
    def close(self, place: bytes, body: bytes) -> bytes:
        return hashlib.blake2b(place + body, digest_size=_DIGEST).digest() + body

    def open(self, place: bytes, sealed: bytes) -> bytes:
        body = sealed[_DIGEST:]
        if not hmac.compare_digest(self.close(place, body), sealed):
            raise ValueError
        return body


class _Encryption:
    def __init__(self, key: str) -> None:
        self._fernet = Fernet(key)

    def close(self, place: bytes, body: bytes) -> bytes:
        return base64.urlsafe_b64decode(self._fernet.encrypt(place + body))

    def open(self, place: bytes, sealed: bytes) -> bytes:
        try:
            plain = self._fernet.decrypt(base64.urlsafe_b64encode(sealed))
        except InvalidToken:
            raise ValueError from None
        if plain[:_PLACE] != place:
            raise ValueError
        return plain[_PLACE:]


class FrameWriter:
    """Writes a new file; encrypted where there is a key (Fernet)."""

    def __init__(self, file: BinaryIO, key: str) -> None:
        self._file = file
        self._seal: _Seal = _Encryption(key) if key else _Checksum()
        self._id, self._number = secrets.token_bytes(16), 0
        mode = "encrypted" if key else "plain"
        file.write(f"contact-network backup {FORMAT} {mode} {self._id.hex()}\n".encode())

    def write(self, kind: bytes, data: bytes) -> None:
        """Add a frame; `data` is MAX_DATA bytes at most."""
        sealed = self._seal.close(_place(self._id, self._number), kind + zstd.compress(data, 3))
        self._number += 1
        self._file.write(len(sealed).to_bytes(4, "big") + sealed)


def read_frames(file: BinaryIO, key: str) -> Iterator[Frame]:
    """Every frame from the file's beginning to END, checked. Raises BackupError, DamagedError."""
    file.seek(0)
    version, mode, file_id = _first_line(file.readline(_LONGEST_LINE))
    if version > FORMAT:
        raise BackupError(f"This file has format {version}, made by a newer version; this one reads up to {FORMAT}.")
    if mode == b"encrypted" and not key:
        raise BackupError("This file is encrypted: set BACKUP_KEY to the key that it was made with.")
    seal: _Seal = _Encryption(key) if mode == b"encrypted" else _Checksum()
    number, kind = 0, b""
    while kind != END:
        sealed = _sealed(file)
        try:
            body = seal.open(_place(file_id, number), sealed)
        except ValueError:
            if number == 0 and mode == b"encrypted":
                text = "BACKUP_KEY does not open this file: it was made with another key, or it is damaged."
                raise BackupError(f"{text} Nothing was changed.") from None
            raise DamagedError(f"part {number + 1} is not what was written there") from None
        kind = body[:1]
        yield Frame(kind, _unpacked(body[1:]))
        number += 1
    if file.read(1):
        raise DamagedError("something was appended to it")


def _first_line(line: bytes) -> tuple[int, bytes, bytes]:
    found = _FIRST_LINE.fullmatch(line)
    if found is None:
        raise BackupError("This is no backup of this service, or its beginning is damaged. Nothing was changed.")
    return int(found[1]), found[2], bytes.fromhex(found[3].decode())


def _sealed(file: BinaryIO) -> bytes:
    head = file.read(4)
    length = int.from_bytes(head, "big")
    if len(head) == 4 and length > _MAX_SEALED:
        raise DamagedError("a part is longer than any can be")
    sealed = file.read(length) if len(head) == 4 else b""
    if len(head) < 4 or len(sealed) < length:
        raise DamagedError("its end is missing")
    return sealed


def _unpacked(packed: bytes) -> bytes:
    """Never more than MAX_DATA, whatever the frame says of itself."""
    decompressor = zstd.ZstdDecompressor()
    try:
        data = decompressor.decompress(packed, MAX_DATA + 1)
    except zstd.ZstdError:
        raise DamagedError("a part cannot be unpacked") from None
    if len(data) > MAX_DATA or not decompressor.eof or decompressor.unused_data:
        raise DamagedError("a part unpacks to more than any can hold")
    return data


def _place(file_id: bytes, number: int) -> bytes:
    return file_id + number.to_bytes(8, "big")
