"""Pictures for tests, as bytes: valid ones of every format, and malicious ones."""

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from PIL import Image
from pillow_heif import register_heif_opener

from tests.client import Client

register_heif_opener()


def picture(kind: str = "JPEG", size: tuple[int, int] = (40, 30), mode: str = "RGB", **options: Any) -> bytes:
    """A picture of one `color`; the other options are those of Pillow's `Image.save`."""
    out = BytesIO()
    Image.new(mode, size, options.pop("color", "red")).save(out, kind, **options)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG whose header declares a size, with almost no data."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 64)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def gif_header(width: int, height: int) -> bytes:
    """A GIF whose header declares a size."""
    return picture("GIF")[:6] + struct.pack("<HH", width, height) + picture("GIF")[10:]


def webp_header(width: int, height: int) -> bytes:
    """A WebP that consists of a header, which declares a size."""
    body = b"VP8X" + struct.pack("<I", 10) + b"\0" * 4 + (width - 1).to_bytes(3, "little")
    body += (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def photo_files(media: Path) -> set[str]:
    """The names of the stored photos below this folder."""
    return {path.name for path in media.rglob("*.jpg")}


def upload(client: Client, path: str, content: bytes | str | None, name: str = "photo.jpg", **extra: Any) -> Any:
    """POST `content` as the field `photo`: bytes as a file, a text as a plain field, None without the field."""
    photo = SimpleUploadedFile(name, content, "application/octet-stream") if isinstance(content, bytes) else content
    body = encode_multipart(BOUNDARY, {} if photo is None else {"photo": photo})
    return client.generic("POST", path, body, MULTIPART_CONTENT, **extra)


def decode_picture(content: bytes) -> Image.Image:
    """Decode a picture; raises if the data are truncated."""
    image = Image.open(BytesIO(content))
    image.load()
    return image


def jpeg_of_scans(count: int, size: tuple[int, int]) -> bytes:
    """A progressive JPEG whose last scan is repeated until there are `count` of them."""
    whole = picture("JPEG", size, progressive=True)
    last = whole[whole.rindex(b"\xff\xda") : -2]
    return whole[:-2] + last * (count - whole.count(b"\xff\xda")) + whole[-2:]
