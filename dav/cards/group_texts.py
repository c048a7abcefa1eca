"""The texts of group cards (RFC 6350, 6.1.4 and 6.6.5; in 3.0 as Apple writes them). Pure."""

from collections.abc import Collection, Iterable, Mapping

from people.importing.known import uid_key
from people.vcard import ContentLine, fold, parse_lines, read_card
from people.vcard.builder import PRODID
from people.vcard.values import escape

_KIND, _MEMBER = "X-ADDRESSBOOKSERVER-KIND", "X-ADDRESSBOOKSERVER-MEMBER"
_NAMES_40 = {_KIND: "KIND", _MEMBER: "MEMBER"}
_NAMES_30 = {new: old for old, new in _NAMES_40.items()}


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
    chunks = [_text(line, revised, end) for line in lines]
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
    return "".join(_text(line, revised, end) for line in kept)


def member_keys(text: str) -> dict[str, str]:
    """The UIDs of the members that a group card names, as it spells them, by their keys."""
    lines = parse_lines(text)
    return {uid_key(line.value): line.value.strip() for line in lines if line.name in {"MEMBER", _MEMBER}}


def _text(line: ContentLine, revised: str, end: str) -> str:
    if line.name == "REV":
        return f"REV:{revised}{end}"
    return line.original or fold(line.serialize()).replace("\r\n", end)


def _member_line(uid: str) -> str:
    bare = uid[9:] if uid[:9].lower() == "urn:uuid:" else uid
    return f"{_MEMBER}:urn:uuid:{bare}"


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
