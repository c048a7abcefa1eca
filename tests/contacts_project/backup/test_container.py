"""The file format of backups: changed and truncated files are refused, with and without encryption."""

import random
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from contacts_project.backup.container import (
    END,
    HEADER,
    MAX_DATA_BYTES,
    ROWS,
    BackupError,
    DamagedError,
    Frame,
    FrameWriter,
    _ChecksumSealer,
    _position,
    read_frames,
)
from contacts_project.kernel import zstd
from tests.contacts_project.backup.files import frames_of, write_frames

KEY = Fernet.generate_key().decode()
FRAMES = [Frame(HEADER, b"{}"), *(Frame(ROWS, b"%d" % number * 500) for number in range(5)), Frame(END, b"{}")]

both_modes = pytest.mark.parametrize("key", ["", KEY], ids=["plain", "encrypted"])


def split_frames(content: bytes) -> list[bytes]:
    """Split a file into its first line and its frames, each with its length prefix."""
    line, _, rest = content.partition(b"\n")
    found = [line + b"\n"]
    while rest:
        length = 4 + int.from_bytes(rest[:4], "big")
        found.append(rest[:length])
        rest = rest[length:]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


@both_modes
def test_written_frames_are_read_back(path: Path, key: str) -> None:
    assert frames_of(write_frames(path, FRAMES, key), key) == FRAMES
    assert (b"444444" in path.read_bytes()) is False
    assert path.read_bytes().startswith(b"contact-network backup 1 " + (b"encrypted " if key else b"plain "))


@both_modes
def test_every_changed_bit_is_detected(path: Path, key: str) -> None:
    content = write_frames(path, FRAMES, key).read_bytes()
    generator = random.Random(7)
    for place in {*range(70), *generator.sample(range(len(content)), 300)}:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << generator.randrange(8)]) + content[place + 1 :])
        with pytest.raises(BackupError):
            frames_of(path, key)


@both_modes
def test_truncated_file_is_refused(path: Path, key: str) -> None:
    content = write_frames(path, FRAMES, key).read_bytes()
    for length in {0, 10, *range(60, len(content), 7), len(content) - 1}:
        path.write_bytes(content[:length])
        with pytest.raises(BackupError):
            frames_of(path, key)


@both_modes
def test_moved_missing_and_repeated_frames_are_refused(path: Path, key: str) -> None:
    line, *frames = split_frames(write_frames(path, FRAMES, key).read_bytes())
    _, *others = split_frames(write_frames(path, FRAMES, key).read_bytes())
    wrong_orders = [
        [*frames[:2], frames[3], frames[2], *frames[4:]],
        [*frames[:2], *frames[3:]],
        [*frames[:2], frames[1], *frames[2:]],
        [*frames[:-2], frames[-1]],
        [*frames[:2], others[2], *frames[3:]],  # the same position of another file with the same key
        [*frames, frames[-1]],
        [],
    ]
    for wrong in wrong_orders:
        path.write_bytes(line + b"".join(wrong))
        with pytest.raises(DamagedError):
            frames_of(path, key)


def test_encrypted_file_needs_its_key(path: Path) -> None:
    write_frames(path, FRAMES, KEY)
    with pytest.raises(BackupError, match="set BACKUP_KEY"):
        frames_of(path)
    with pytest.raises(BackupError, match="BACKUP_KEY cannot decrypt"):
        frames_of(path, Fernet.generate_key().decode())


def test_encrypted_file_cannot_be_relabelled_as_plain(path: Path) -> None:
    content = write_frames(path, FRAMES, KEY).read_bytes()
    path.write_bytes(content.replace(b"encrypted", b"plain", 1))
    with pytest.raises(DamagedError):
        frames_of(path)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(500), b"\n", b"contact-network backup\n"])
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(BackupError, match="not a backup of this service"):
        frames_of(path)


def test_newer_format_is_an_error(path: Path) -> None:
    content = write_frames(path, FRAMES).read_bytes()
    path.write_bytes(content.replace(b"backup 1", b"backup 2", 1))
    with pytest.raises(BackupError, match="format 2, made by a newer version; this one reads up to 1"):
        frames_of(path)


def test_decompressed_size_of_a_frame_is_limited(path: Path) -> None:
    bomb = zstd.compress(bytes(512 * 1024 * 1024))
    with path.open("wb") as file:
        writer = FrameWriter(file, "")
        sealed = _ChecksumSealer().seal(_position(writer._id, 0), HEADER + bomb)
        file.write(len(sealed).to_bytes(4, "big") + sealed)
    assert path.stat().st_size < 100_000
    with pytest.raises(DamagedError, match="more than any can hold"):
        frames_of(path)


def test_length_of_a_frame_is_limited(path: Path) -> None:
    content = write_frames(path, FRAMES).read_bytes()
    line = content.partition(b"\n")[0] + b"\n"
    path.write_bytes(line + b"\xff\xff\xff\xff" + bytes(1000))
    with pytest.raises(DamagedError, match="longer than any"):
        frames_of(path)


def test_largest_frame_is_written_and_read(path: Path) -> None:
    noise = random.Random(1).randbytes(MAX_DATA_BYTES)
    for key in ("", KEY):
        write_frames(path, [Frame(HEADER, noise), Frame(END, b"")], key)
        assert frames_of(path, key)[0].data == noise
        with path.open("rb") as file:
            assert next(read_frames(file, key)).kind == HEADER
