"""The texts of cards: as they are stored, without the picture, and as a device gets them."""

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter

from people.photos.files import read_photo
from people.photos.names import photo_hash
from people.vcard import Card, CardText, fold, parse_line, parse_lines, patch_text, read_card, write_card
from people.vcard.values import decode_base64, decode_data_uri

# Stands for the picture in a stored text, and in a card that is written. Its base64 has no padding, which a card might
# be written without.
PHOTO_MARKER = b"contact network photo"
_MARKER_TEXT = base64.b64encode(PHOTO_MARKER).decode()
_PHOTO_LINE = re.compile(r"(?mi)^(?:[A-Za-z0-9-]+\.)?PHOTO[;:][^\n]*\n(?:[ \t][^\n]*\n)*")
_FOLD = re.compile(r"\r?\n[ \t]")
_CATEGORIES = re.compile(r"(?mi)^(?:[A-Za-z0-9-]+\.)?CATEGORIES[;:][^\n]*\n(?:[ \t][^\n]*\n)*")
_VERSION = re.compile(r"(?mi)^VERSION[ \t]*:([^\r\n]*)")
_REV = re.compile(r"(?mi)^REV[^:\n]*:([^\r\n]*)\r?\n")
STORED_VERSION = "3.0"
MAX_CARD_BYTES = 10 * 1024 * 1024
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_LINE_OCTETS = 75  # RFC 6350, 3.2
# All that a card says. Lines differ in their spelling, and in what no field holds.
_values_of = attrgetter(*(field.name for field in fields(Card) if field.name != "lines"))
_ALWAYS_GIVEN = {"BEGIN", "VERSION", "END"}


def write_text(card: Card, before: CardText | None, *, revised: str) -> CardText:
    """The stored text of a card: `before` itself if nothing changes, or with other lines for values that have changed.

    `revised` is the new REV if anything changes. `card.photo` is PHOTO_MARKER or None.
    """
    if before is None:
        return CardText(write_card(card, STORED_VERSION, revised=revised))
    if _values_of(before.parsed) == _values_of(card):
        return before
    return patch_text(before, card, revised=revised)


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack(packed: bytes | memoryview) -> str:
    return zlib.decompress(packed).decode()


def without_categories(text: str) -> str:
    """The text for a device that has groups as cards of their own."""
    return _CATEGORIES.sub("", text)


def version_of(text: str) -> str:
    """What the text says of its version; that of stored texts if it says nothing."""
    found = _VERSION.search(text)
    return found[1].strip() if found else STORED_VERSION


def in_version(text: str, version: str) -> str:
    """The text in this version of vCard: itself if that is its own."""
    if version_of(text) == version:
        return text
    card, _ = read_card(text)
    revised = next((line.value for line in parse_lines(text) if line.name == "REV"), None)
    return write_card(card, version, revised=revised)


def selected_lines(text: str, names: Mapping[str, bool]) -> str:
    """The lines of these properties (upper case; True: without the value), and those that every card has.

    RFC 6352, 10.4.2. A property in an item group is given with its companions only if they are named, too.
    """
    chosen = []
    for line in parse_lines(text):
        if line.name in _ALWAYS_GIVEN or names.get(line.name) is False:
            chosen.append(line.original or fold(line.serialize()))
        elif names.get(line.name):
            chosen.append(fold(line.with_value("").serialize()))
    return "".join(chosen)


def etag_of(text: str, photo: str) -> str:
    """The strong ETag, without quotes, of a text with this stored photo (its file name, or an empty text)."""
    return hashlib.sha256(f"{photo and photo_hash(photo)}\n{text}".encode("utf-8", "replace")).hexdigest()[:32]


def take_photo(text: str) -> tuple[str, bytes | None]:
    """The text with the marker in place of its first picture, and the picture; None if it has none.

    A picture that is named by a URL stays, and so does a value that is no picture.
    """
    for found in _PHOTO_LINE.finditer(text):
        line = parse_line(_FOLD.sub("", found[0]).rstrip("\r\n"))
        value = line.value.strip()
        is_uri = value.lower().startswith("data:")
        picture = decode_data_uri(value) if is_uri else decode_base64(value)
        if not picture or value.lower().startswith(("http:", "https:")):
            continue
        head = value.partition(",")[0] + "," if is_uri else ""
        marked = fold(line.with_value(head + _MARKER_TEXT).serialize())
        if "\r\n" not in text:
            marked = marked.replace("\r\n", "\n")
        return text[: found.start()] + marked + text[found.end() :], picture
    return text, None


def _find_marked(text: str) -> re.Match[str] | None:
    """The PHOTO line that has the marker."""
    for line in _PHOTO_LINE.finditer(text):
        if _MARKER_TEXT in _FOLD.sub("", line[0]):
            return line
    return None


def with_photo(text: str, photo: str, read: Callable[[str], bytes | None] = read_photo) -> str:
    """The text with its picture. The line is left out if the file does not exist."""
    found = _find_marked(text)
    if found is None:
        return text
    picture = read(photo) if photo else None
    if picture is None:
        return text[: found.start()] + text[found.end() :]
    line = _FOLD.sub("", found[0]).rstrip("\r\n").replace(_MARKER_TEXT, base64.b64encode(picture).decode())
    end = "\r\n" if "\r\n" in text else "\n"
    return text[: found.start()] + fold(line).replace("\r\n", end) + text[found.end() :]


def length_with_photo(text: str, size: int) -> int:
    """The number of bytes of the text with a picture of `size` bytes."""
    found = _find_marked(text)
    if found is None:
        return len(text.encode())
    marked = _FOLD.sub("", found[0]).rstrip("\r\n")
    end = 2 if "\r\n" in text else 1
    octets = len(marked.encode()) - len(_MARKER_TEXT) + 4 * ((size + 2) // 3)
    # Where a name before the picture is not ASCII, a fold may come an octet earlier: that is only counted exactly.
    if not marked.isascii():
        return len(with_photo(text, "of this size", lambda _: bytes(size)).encode())
    folds = max(0, -(-(octets - MAX_LINE_OCTETS) // (MAX_LINE_OCTETS - 1)))
    return len(text.encode()) - len(found[0].encode()) + octets + folds * (end + 1) + end


def photo_lines(text: str) -> list[str]:
    """The lines of a text with a picture in place of which it has the marker, as they are written."""
    return [found[0] for found in _PHOTO_LINE.finditer(text) if _MARKER_TEXT in _FOLD.sub("", found[0])]


def with_photo_of(text: str, other: str) -> str:
    """The text with the PHOTO line of the `other` text in place of its own; without one if that has none."""
    own, wanted = photo_lines(text), photo_lines(other)
    if not own:
        return text
    line = wanted[0] if wanted else ""
    if line and "\r\n" not in text:
        line = line.replace("\r\n", "\n")
    return text.replace(own[0], line, 1)


def with_revision(text: str, revised: str) -> str:
    """The text with this REV."""
    end = "\r\n" if "\r\n" in text else "\n"
    if _REV.search(text):
        return _REV.sub(f"REV:{revised}{end}", text, count=1)
    head, closing, tail = text.rpartition("END:VCARD")
    return f"{head}REV:{revised}{end}{closing}{tail}" if closing else text


def revision_of(text: str) -> str:
    """The REV of a text, or an empty text."""
    found = _REV.search(text)
    return found[1].strip() if found else ""
