"""Revises the lines of single-valued fields, notes, categories, the organisation with its department, and the photo."""

from typing import Any

from people.vcard import values
from people.vcard.card import DATE_FIELDS, NAME_FORMATS, PLAIN_TEXT_FIELDS, Card, CardDate
from people.vcard.content_lines import ContentLine
from people.vcard.revision.edits import edit_date
from people.vcard.revision.state import Revision

_TEXT_FIELDS = ("second_last_name", "display_name", *PLAIN_TEXT_FIELDS)
#: The letters of RFC 6350, 6.2.7; any other gender is written as text.
_GENDER_LETTERS = frozenset({"M", "F", "O", "N", "U"})


def revise_fields(revision: Revision, remaining: dict[str, list[Any]], full_name: str | None) -> None:
    """Revise the text fields except the name. A department that ORG contains is removed from `remaining`."""
    for field in _TEXT_FIELDS:
        _revise_scalar(revision, field, needs_own_line=_needs_own_line(revision, field, full_name))
    _revise_organization(revision, remaining["custom_fields"])


def revise_trailing_fields(revision: Revision) -> None:
    """Revise the fields whose new lines come after those of the entries: single dates, photo, notes, categories."""
    for field in DATE_FIELDS:
        _revise_scalar(revision, field)
    _revise_photo(revision)
    _revise_notes(revision)
    _revise_categories(revision)


def revise_uid(revision: Revision) -> None:
    """Revise UID. A card whose UID is too long for the field keeps it and gets no second one."""
    _revise_scalar(revision, "uid", needs_own_line=not any(line.name == "UID" for line in revision.lines))


def _needs_own_line(revision: Revision, field: str, full_name: str | None) -> bool:
    """Whether a field that no line sets needs a line of its own."""
    target = revision.target
    if field == "display_name" and target.display_name:
        # FN contains it. But an FN that equals a format of the name is not read as display name.
        is_format = any(target.display_name == target.format_name(form) for form in NAME_FORMATS)
        return is_format or full_name not in {None, target.display_name}
    if field == "second_last_name":
        return not any(
            len(pieces := values.split(revision.lines[index].value, ";")) > 5 and pieces[5].strip()
            for index in revision.indexes_of("n")
        )
    return True


def _revise_scalar(revision: Revision, field: str, *, needs_own_line: bool = True) -> None:
    indexes = revision.indexes_of(field)
    old, new = getattr(revision.parsed, field), getattr(revision.target, field)
    if old != new:
        for index in indexes:
            edited = _edit_scalar(revision, revision.lines[index], field, old, new)
            revision.replacements[index] = [edited] if edited else []
    if new and not indexes and needs_own_line:
        revision.added += revision.builder.scalar_lines(field, revision.target)


def _edit_scalar(revision: Revision, line: ContentLine, field: str, old: Any, new: Any) -> ContentLine | None:
    if field == "nickname":
        return _edit_nickname(line, new)
    if not new:
        return None
    if field == "gender" and line.name == "GENDER":
        letter, words, _ = (*values.split(line.value, ";"), "", "")[:3]
        is_letter = not words and new in _GENDER_LETTERS
        return line.with_value(new if is_letter else f"{letter if words else ''};{values.escape(new)}")
    if field in DATE_FIELDS:
        return edit_date(line, CardDate(date=new), revision.builder)
    return line.with_value(values.escape(new))


def _edit_nickname(line: ContentLine, new: str | None) -> ContentLine | None:
    """Replace the first nickname of the line, the one that is shown. The others stay."""
    is_android = line.name == "X-ANDROID-CUSTOM"
    if is_android:
        kind, _, *rest = values.split(line.value, ";")
        return line.with_value(";".join((kind, values.escape(new), *rest))) if new else None
    others = [piece for piece in values.split(line.value, ",") if piece.strip()][1:]
    remaining = [*([values.escape(new)] if new else []), *others]
    return line.with_value(",".join(remaining)) if remaining else None


def _revise_organization(revision: Revision, custom_fields: list[Any]) -> None:
    """Revise ORG, which contains the organisation and, as its units, the custom field `Department`."""
    parsed, target = revision.parsed, revision.target
    indexes = revision.indexes_of("organization")
    for index in indexes:
        old, new = parsed.lines[index].entry, target.lines[index].entry
        if not target.organization or not _is_department(new):
            new = None
        elif new in custom_fields:
            custom_fields.remove(new)
        if (parsed.organization, old) != (target.organization, new):
            revision.replacements[index] = _edit_organization(revision.lines[index], parsed, target, (old, new))
    if target.organization and not indexes:
        units = _take_department_units(target, custom_fields)
        revision.added.append(ContentLine("ORG", ";".join(map(values.escape, (target.organization, *units)))))


def _edit_organization(line: ContentLine, parsed: Card, target: Card, department: tuple[Any, Any]) -> list[ContentLine]:
    """The edited ORG line, none without an organisation. `department` is the old and the new custom field."""
    if not target.organization:
        return []
    pieces = values.split(line.value, ";")
    # The parser takes the first component that is not empty as the name.
    name_index = next((index for index, piece in enumerate(pieces) if piece.strip()), 0)
    if parsed.organization != target.organization:
        pieces[name_index] = values.escape(target.organization)
    old, new = department
    if old != new:
        units = _department_units(new) if new else []
        pieces = [*pieces[: name_index + 1], *map(values.escape, units)]
    return [line.with_value(";".join(pieces))]


def _take_department_units(card: Card, custom_fields: list[Any]) -> list[str]:
    """The units of the department, if it is the first custom field; then it is removed from `custom_fields`."""
    if not custom_fields or custom_fields[0] != card.custom_fields[0] or not _is_department(custom_fields[0]):
        return []
    return _department_units(custom_fields.pop(0))


def _is_department(entry: Any) -> bool:
    """Whether the custom field can be written as units of ORG and read back."""
    if not isinstance(entry, dict) or entry["key"] != "Department" or entry["type"] is not None:
        return False
    return all(unit.strip() == unit != "" for unit in _department_units(entry))


def _department_units(entry: Any) -> list[str]:
    return str(entry["value"]).split("; ")


def _revise_photo(revision: Revision) -> None:
    photo = revision.target.photo
    # The line of a photo that is stored in a file has no value, so reading it yields no photo.
    indexes = [index for index, kept in enumerate(revision.target.lines) if "photo" in kept.fields]
    if photo == revision.parsed.photo and all(revision.lines[index].value.strip() for index in indexes):
        return
    for index in indexes:
        kept = revision.lines[index].without_params("ENCODING", "VALUE", "TYPE", "MEDIATYPE")
        built = revision.builder.photo_line(photo, kept.params) if photo else None
        revision.replacements[index] = [built.in_group(kept.group)] if built else []
    if photo and not indexes:
        revision.added.append(revision.builder.photo_line(photo))


def _revise_notes(revision: Revision) -> None:
    """Revise NOTE. Several NOTEs are shown as one text, joined by blank lines; unchanged ones keep their lines."""
    new, indexes = revision.target.notes or "", revision.indexes_of("notes")
    if new == (revision.parsed.notes or ""):
        return
    texts = [values.text(revision.lines[index]) for index in indexes]
    while len(indexes) > 1 and new:
        if new.startswith(f"{texts[0]}\n\n"):
            new, indexes, texts = new[len(texts[0]) + 2 :], indexes[1:], texts[1:]
        elif new.endswith(f"\n\n{texts[-1]}"):
            new, indexes, texts = new[: -len(texts[-1]) - 2], indexes[:-1], texts[:-1]
        else:
            break
    for number, index in enumerate(indexes):
        line = revision.lines[index].with_value(values.escape(new))
        revision.replacements[index] = [line] if new and number == 0 else []
    if new and not indexes:
        revision.added.append(ContentLine("NOTE", values.escape(new)))


def _revise_categories(revision: Revision) -> None:
    """Revise CATEGORIES. Removed groups are taken out of their line, new ones are added to the last line."""
    parsed = {name.casefold() for name in revision.parsed.categories}
    new = {name.casefold() for name in revision.target.categories}
    added = [values.escape(name) for name in revision.target.categories if name.casefold() not in parsed]
    indexes = revision.indexes_of("categories")
    removed = parsed - new
    for index in indexes:
        pieces = values.split(revision.lines[index].value, ",")
        remaining = [piece for piece in pieces if category_key(piece) not in removed]
        if index == indexes[-1]:
            remaining += added
        if remaining != pieces:
            revision.replacements[index] = [revision.lines[index].with_value(",".join(remaining))] if remaining else []
    if added and not indexes:
        revision.added.append(ContentLine("CATEGORIES", ",".join(added)))


def category_key(piece: str) -> str:
    """The key of a group, from its escaped name in a line."""
    return values.single_line(values.unescape(piece))[:100].rstrip().casefold()
