"""The file format: a first line with version, mode and file id, then frames, each bound to its position.

    contact-network backup 1 plain 8f14e45fceea167a5a36dedd4bea2543\\n
    frame: 4 bytes length (big endian), then the sealed body
    body:  1 byte kind, then the data, compressed with zstd

In plain mode a sealed body is a checksum, BLAKE2b over the file id, the frame number and the body, followed by the
body. In encrypted mode it is a Fernet token (its bytes, not their base64) of the same three. So without the key frames
cannot be read, changed, moved, removed or copied from another file. The last frame has the kind END; a file without it
is truncated.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from cryptography.fernet import Fernet, InvalidToken

from contacts_project.kernel import zstd

FORMAT_VERSION = 1
HEADER, PHOTO, UNREFERENCED, TABLE, ROWS, TABLE_END, END = b"H", b"P", b"X", b"T", b"R", b"E", b"Z"
MAX_DATA_BYTES = 4 * 1024 * 1024
_MAX_SEALED_BYTES = MAX_DATA_BYTES + 64 * 1024  # the overhead of zstd and Fernet is less
_FIRST_LINE = re.compile(rb"contact-network backup ([0-9]{1,9}) (plain|encrypted) ([0-9a-f]{32})\n")
_MAX_FIRST_LINE_BYTES = 100
_DIGEST_BYTES = 16
_POSITION_BYTES = 24  # the file id and the frame number


class BackupError(Exception):
    """A backup cannot be made, read or restored. The message is one line for the operator."""


class DamagedError(BackupError):
    """The file was truncated, corrupted or changed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The file is damaged: {why}. Nothing was changed.")


class Frame(NamedTuple):
    kind: bytes
    data: bytes


class _Sealer(Protocol):
    def seal(self, position: bytes, body: bytes) -> bytes: ...
    def open(self, position: bytes, sealed: bytes) -> bytes:
        """Return the body. Raises ValueError if it was not sealed for this position."""


class _ChecksumSealer:
    def seal(self, position: bytes, body: bytes) -> bytes:
        return hashlib.blake2b(position + body, digest_size=_DIGEST_BYTES).digest() + body

    def open(self, position: bytes, sealed: bytes) -> bytes:
        body = sealed[_DIGEST_BYTES:]
        if not hmac.compare_digest(self.seal(position, body), sealed):
            raise ValueError
        return body


class _EncryptionSealer:
    def __init__(self, key: str) -> None:
        self._fernet = Fernet(key)

    def seal(self, position: bytes, body: bytes) -> bytes:
        return base64.urlsafe_b64decode(self._fernet.encrypt(position + body))

    def open(self, position: bytes, sealed: bytes) -> bytes:
        try:
            plain = self._fernet.decrypt(base64.urlsafe_b64encode(sealed))
        except InvalidToken:
            raise ValueError from None
        if plain[:_POSITION_BYTES] != position:
            raise ValueError
        return plain[_POSITION_BYTES:]


class FrameWriter:
    """Writes a new file, encrypted if `key` (a Fernet key) is not empty."""

    def __init__(self, file: BinaryIO, key: str) -> None:
        self._file = file
        self._sealer: _Sealer = _EncryptionSealer(key) if key else _ChecksumSealer()
        self._id, self._number = secrets.token_bytes(16), 0
        mode = "encrypted" if key else "plain"
        file.write(f"contact-network backup {FORMAT_VERSION} {mode} {self._id.hex()}\n".encode())

    def write(self, kind: bytes, data: bytes) -> None:
        """Add a frame. `data` must have at most MAX_DATA_BYTES."""
        sealed = self._sealer.seal(_position(self._id, self._number), kind + zstd.compress(data, 3))
        self._number += 1
        self._file.write(len(sealed).to_bytes(4, "big") + sealed)


def read_frames(file: BinaryIO, key: str, *, allow_plain: bool = False) -> Iterator[Frame]:
    """Verify and return each frame, from the beginning of the file to END. Raises BackupError, DamagedError.

    A plain file can be written by anybody who can write its folder. So where there is a key, it is read only with
    `allow_plain`.
    """
    file.seek(0)
    version, mode, file_id = _parse_first_line(file.readline(_MAX_FIRST_LINE_BYTES))
    if version > FORMAT_VERSION:
        raise BackupError(
            f"This file has format {version}, made by a newer version; this one reads up to {FORMAT_VERSION}."
        )
    if mode == b"encrypted" and not key:
        raise BackupError("This file is encrypted: set BACKUP_KEY to the key that it was made with.")
    if mode == b"plain" and key and not allow_plain:
        raise BackupError(
            "This file is not encrypted, although BACKUP_KEY is set: anybody may have written it. Nothing was changed. "
            "If you trust it, add --plain."
        )
    sealer: _Sealer = _EncryptionSealer(key) if mode == b"encrypted" else _ChecksumSealer()
    number, kind = 0, b""
    while kind != END:
        sealed = _read_sealed(file)
        try:
            body = sealer.open(_position(file_id, number), sealed)
        except ValueError:
            # A wrong key fails at the first frame already.
            if number == 0 and mode == b"encrypted":
                text = "BACKUP_KEY cannot decrypt this file: it was made with another key, or it is damaged."
                raise BackupError(f"{text} Nothing was changed.") from None
            raise DamagedError(f"part {number + 1} is not what was written there") from None
        kind = body[:1]
        yield Frame(kind, _decompress(body[1:]))
        number += 1
    if file.read(1):
        raise DamagedError("something was appended to it")


def _parse_first_line(line: bytes) -> tuple[int, bytes, bytes]:
    found = _FIRST_LINE.fullmatch(line)
    if found is None:
        raise BackupError("This is not a backup of this service, or its beginning is damaged. Nothing was changed.")
    return int(found[1]), found[2], bytes.fromhex(found[3].decode())


def _read_sealed(file: BinaryIO) -> bytes:
    head = file.read(4)
    length = int.from_bytes(head, "big")
    if len(head) == 4 and length > _MAX_SEALED_BYTES:
        raise DamagedError("a part is longer than any can be")
    sealed = file.read(length) if len(head) == 4 else b""
    if len(head) < 4 or len(sealed) < length:
        raise DamagedError("its end is missing")
    return sealed


def _decompress(packed: bytes) -> bytes:
    """Bounded by MAX_DATA_BYTES: a zstd frame of a few bytes may declare, or decompress to, gigabytes."""
    decompressor = zstd.ZstdDecompressor()
    try:
        data = decompressor.decompress(packed, MAX_DATA_BYTES + 1)
    except zstd.ZstdError:
        raise DamagedError("a part cannot be unpacked") from None
    if len(data) > MAX_DATA_BYTES or not decompressor.eof or decompressor.unused_data:
        raise DamagedError("a part unpacks to more than any can hold")
    return data


def _position(file_id: bytes, number: int) -> bytes:
    return file_id + number.to_bytes(8, "big")
