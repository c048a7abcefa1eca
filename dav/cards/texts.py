"""The texts of cards, of people and of groups: as they are stored, without the picture, and as a device gets them."""

import base64
import datetime as dt
import hashlib
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from operator import attrgetter

from people.photos.files import read_photo
from people.photos.names import photo_hash
from people.vcard import Card, CardText, ContentLine, fold, parse_line, parse_lines, patch_text, read_card, write_card
from people.vcard.builder import PRODID
from people.vcard.card import bare_uid, uid_key
from people.vcard.values import decode_base64, decode_data_uri, escape

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
# Of group cards (RFC 6350, 6.1.4 and 6.6.5; in 3.0 as Apple writes them).
_KIND, _MEMBER = "X-ADDRESSBOOKSERVER-KIND", "X-ADDRESSBOOKSERVER-MEMBER"
_NAMES_40 = {_KIND: "KIND", _MEMBER: "MEMBER"}
_NAMES_30 = {new: old for old, new in _NAMES_40.items()}


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


def revised_at(when: dt.datetime) -> str:
    """The value of REV (RFC 6350, 6.7.4)."""
    return when.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")


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


def write_group(
    *, name: str, uid: str, members: Iterable[str], before: str | None, known: Collection[str], revised: str
) -> str:
    """The text of a group's card, in version 3.0, with these UIDs as members.

    Lines of the text `before` stay as they are. A member that it names stays, too, unless the account knows the person
    (`known`, keys of UIDs): then the person has left the group.
    """
    uids = {uid_key(member): member for member in members}
    if before is None:
        head = ["BEGIN:VCARD", "VERSION:3.0", f"PRODID:{PRODID}", f"UID:{uid}"]
        title = escape(name)
        named = [*head, f"N:{title}", f"FN:{title}", f"{_KIND}:group", *map(_member_line, uids.values())]
        return "".join(map(fold, [*named, f"REV:{revised}", "END:VCARD"]))
    end = "\r\n" if "\r\n" in before else "\n"
    lines: list[ContentLine] = []
    missing, is_changed = dict(uids), False
    for line in parse_lines(before):
        if line.name in {"MEMBER", _MEMBER}:
            key = uid_key(line.value)
            if key not in uids and key in known:
                is_changed = True
                continue
            missing.pop(key, None)
        lines.append(line)
    if read_card(before)[0].full_name != name:
        is_changed = True
        lines = [line.with_value(escape(name)) if line.name in {"FN", "N"} else line for line in lines]
    if not missing and not is_changed:
        return before
    chunks = [_line_text(line, revised, end) for line in lines]
    place = next((index for index, line in enumerate(lines) if line.name == "END"), len(lines))
    chunks.insert(place, "".join(fold(_member_line(uid)).replace("\r\n", end) for uid in missing.values()))
    return "".join(chunks)


def without_members(text: str, keys: Collection[str], *, revised: str) -> str:
    """The text of a group's card without these members (keys of UIDs): itself if it names none of them."""
    lines = parse_lines(text)
    kept = [line for line in lines if line.name not in {"MEMBER", _MEMBER} or uid_key(line.value) not in keys]
    if len(kept) == len(lines):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    return "".join(_line_text(line, revised, end) for line in kept)


def member_keys(text: str) -> dict[str, str]:
    """The UIDs of the members that a group card names, as it spells them, by their keys."""
    lines = parse_lines(text)
    return {uid_key(line.value): line.value.strip() for line in lines if line.name in {"MEMBER", _MEMBER}}


def _line_text(line: ContentLine, revised: str, end: str) -> str:
    if line.name == "REV":
        return f"REV:{revised}{end}"
    return line.original or fold(line.serialize()).replace("\r\n", end)


def _member_line(uid: str) -> str:
    return f"{_MEMBER}:urn:uuid:{bare_uid(uid)}"


def group_in_30(text: str) -> str:
    """The text of a group card that a device sent, as it is stored."""
    return _renamed(text, _NAMES_30, "3.0")


def group_in_40(text: str) -> str:
    """A stored group card in version 4.0."""
    return _renamed(text, _NAMES_40, "4.0")


def _renamed(text: str, names: Mapping[str, str], version: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    chunks = []
    for line in parse_lines(text):
        if line.name == "VERSION" and line.value.strip() != version:
            chunks.append(f"VERSION:{version}{end}")
        elif line.name in names:
            renamed = ContentLine(names[line.name], line.value, line.params, line.group)
            chunks.append(fold(renamed.serialize()).replace("\r\n", end))
        else:
            chunks.append(line.original)
    return "".join(chunks)
