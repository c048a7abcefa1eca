"""Updates the lines of N and FN, of single-valued fields, notes, categories, ORG with the department, and PHOTO."""

from typing import Any

from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.text_forms import case_key
from people.vcard import values
from people.vcard.card import DATE_FIELDS, FLAG_FIELDS, PLAIN_TEXT_FIELDS, Card, CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.full_name import is_own_order, matches_format, respell, says_only_name
from people.vcard.line_updates.entries import edit_date
from people.vcard.line_updates.state import LineUpdate

_N_COMPONENTS = ("surname", "name", "middle_name", "prefix", "suffix")
NAME_FIELDS = (*_N_COMPONENTS, "second_last_name")
_TEXT_FIELDS = ("second_last_name", "display_name", *PLAIN_TEXT_FIELDS)
#: The letters of RFC 6350, 6.2.7; any other gender is written as text.
_GENDER_LETTERS = frozenset({"M", "F", "O", "N", "U"})


def update_names(update: LineUpdate, full_name: str | None) -> list[ContentLine]:
    """Update the lines of N and FN. Returns new lines where either is missing.

    `full_name` overrides FN, unless FN says nothing but the name in an order of its own.
    """
    parsed, target = update.parsed, update.target
    n_indexes, fn_indexes = update.indexes_of("n"), update.indexes_of("fn")
    text = _full_name(update, fn_indexes, full_name)
    is_company = _is_company(update)
    is_renamed = any(getattr(parsed, field) != getattr(target, field) for field in NAME_FIELDS)
    for index in n_indexes:
        line = update.lines[index]
        is_named = any(piece.strip() for piece in values.split(line.value, ";")[:3])
        if not is_named and is_company and text == target.name:
            continue
        # Without a name in N the name is read from FN. If FN gets another text, N must contain the name.
        if is_renamed or not (is_named or text == target.name):
            update.replacements[index] = [_edit_components(line, parsed, target, is_named=is_named)]
    for index in fn_indexes:
        line = update.lines[index]
        if values.single_line(values.text(line)) != text:
            update.replacements[index] = [line.with_value(values.escape(text))]
    missing = [] if fn_indexes else [ContentLine("FN", values.escape(text))]
    if not n_indexes:
        # A name that was taken from another property, such as ORG, is not written: N stays empty.
        is_stand_in = not fn_indexes and bool(update.lines) and not target.display_name and parsed.name == target.name
        is_in_fn = is_stand_in or (is_company and text == target.name)
        missing.append(update.builder.name_line(Card() if is_in_fn else target))
    return missing


def _is_company(update: LineUpdate) -> bool:
    """Whether the name is that of an organization alone, which N, the parts of a person's name, does not hold."""
    target = update.target
    if any(getattr(target, field) for field in NAME_FIELDS if field != "name"):
        return False
    if any(line.name == "X-ABSHOWAS" and line.value.strip().upper() == "COMPANY" for line in update.lines):
        return True
    return any(bool(card.organization) and card.organization == card.name for card in (target, update.parsed))


def _full_name(update: LineUpdate, indexes: list[int], full_name: str | None) -> str:
    """The text of FN: unchanged while the name is, else the new name in the format or the order that FN had."""
    parsed, target = update.parsed, update.target
    text = values.single_line(values.text(update.lines[indexes[0]])) if indexes else ""
    is_unchanged = all(
        getattr(parsed, field) == getattr(target, field) for field in (*NAME_FIELDS, "nickname", "display_name")
    )
    if not target.display_name and not parsed.display_name and is_own_order(text, parsed):
        return text if is_unchanged else respell(text, parsed, target)
    if full_name:
        return full_name
    if text and is_unchanged:
        return text
    if not text or target.display_name:
        return target.full_name
    return target.format_name(matches_format(text, parsed) or "FULL")


def _edit_components(line: ContentLine, parsed: Card, target: Card, *, is_named: bool) -> ContentLine:
    """Change the components of N whose part of the name changed. The others keep their spelling."""
    pieces = values.split(line.value, ";")
    pieces += [""] * (5 - len(pieces))
    component_index = dict(zip(_N_COMPONENTS, range(5), strict=True))
    if not is_named:
        pieces[1] = values.escape(target.name)
    elif not pieces[1].strip():
        # The parser takes a family or middle name as the name if there is no given name. It stays in its component
        # unless that component is needed for another part.
        index = 2 if pieces[2].strip() and not parsed.middle_name else 0
        if not target.middle_name and not getattr(target, _N_COMPONENTS[index]):
            component_index["name"] = index
        else:
            pieces[1], pieces[index] = values.escape(target.name), ""
    has_secondary = len(pieces) > 5 and bool(pieces[5].strip())
    for field, index in component_index.items():
        if getattr(parsed, field) != getattr(target, field):
            pieces[index] = values.escape(getattr(target, field) or "")
    # RFC 9554: the family names include the secondary surname, which the sixth component repeats.
    if has_secondary and (parsed.surname, parsed.second_last_name) != (target.surname, target.second_last_name):
        second = values.escape(target.second_last_name or "")
        pieces[0] = ",".join(filter(None, (values.escape(target.surname or ""), second)))
        pieces[5] = second
    return line.with_value(";".join(pieces))


def update_fields(update: LineUpdate, remaining: dict[str, list[Any]], full_name: str | None) -> None:
    """Update the text fields except the name. A department that ORG contains is removed from `remaining`."""
    for field in _TEXT_FIELDS:
        _update_scalar(update, field, needs_own_line=_needs_own_line(update, field, full_name))
    _update_organization(update, remaining["custom_fields"])


def update_trailing_fields(update: LineUpdate) -> None:
    """Update the fields whose new lines come after those of the entries: single dates, photo, notes, categories."""
    for field in (*DATE_FIELDS, *FLAG_FIELDS):
        _update_scalar(update, field)
    _update_photo(update)
    _update_notes(update)
    _update_categories(update)


def update_uid(update: LineUpdate) -> None:
    """Update UID. A card whose UID is too long for the field keeps it and gets no second one."""
    _update_scalar(update, "uid", needs_own_line=not any(line.name == "UID" for line in update.lines))


def _needs_own_line(update: LineUpdate, field: str, full_name: str | None) -> bool:
    """Whether a field that no line sets needs a line of its own."""
    target = update.target
    if field == "display_name" and target.display_name:
        # FN contains it. But an FN that says nothing but the name is not read as display name.
        return says_only_name(target.display_name, target) or full_name not in {None, target.display_name}
    if field == "second_last_name":
        return not any(
            len(pieces := values.split(update.lines[index].value, ";")) > 5 and pieces[5].strip()
            for index in update.indexes_of("n")
        )
    return True


def _update_scalar(update: LineUpdate, field: str, *, needs_own_line: bool = True) -> None:
    indexes = update.indexes_of(field)
    old, new = getattr(update.parsed, field), getattr(update.target, field)
    if old != new:
        for index in indexes:
            edited = _edit_scalar(update, update.lines[index], field, old, new)
            update.replacements[index] = [edited] if edited else []
    if new and not indexes and needs_own_line:
        update.added += update.builder.scalar_lines(field, update.target)


def _edit_scalar(update: LineUpdate, line: ContentLine, field: str, old: Any, new: Any) -> ContentLine | None:
    if field == "nickname":
        return _edit_nickname(line, new)
    if not new:
        return None
    if field == "gender" and line.name == "GENDER":
        letter, words, _ = (*values.split(values.structured(line.value, 2), ";"), "", "")[:3]
        is_letter = not words and new in _GENDER_LETTERS
        return line.with_value(new if is_letter else f"{letter if words else ''};{values.escape(new)}")
    if field in FLAG_FIELDS:
        return line.with_value("1")
    if field in DATE_FIELDS:
        return edit_date(line, CardDate(date=new), update.builder)
    return line.with_value(values.escape(new))


def _edit_nickname(line: ContentLine, new: str | None) -> ContentLine | None:
    """Replace the first nickname of the line, the one that is shown. The others stay."""
    is_android = line.name == "X-ANDROID-CUSTOM"
    if is_android:
        kind, _, *rest = values.split(values.structured(line.value), ";")
        return line.with_value(";".join((kind, values.escape(new), *rest))) if new else None
    others = [piece for piece in values.split(line.value, ",") if piece.strip()][1:]
    remaining = [*([values.escape(new)] if new else []), *others]
    return line.with_value(",".join(remaining)) if remaining else None


def _update_organization(update: LineUpdate, custom_fields: list[Any]) -> None:
    """Update ORG, which contains the organisation and, as its units, the custom field `Department`."""
    parsed, target = update.parsed, update.target
    indexes = update.indexes_of("organization")
    for index in indexes:
        old, new = parsed.lines[index].entry, target.lines[index].entry
        if not target.organization or not _is_department(new):
            new = None
        elif new in custom_fields:
            custom_fields.remove(new)
        if (parsed.organization, old) != (target.organization, new):
            update.replacements[index] = _edit_organization(update.lines[index], parsed, target, (old, new))
    if target.organization and not indexes:
        units = _take_department_units(target, custom_fields)
        update.added.append(ContentLine("ORG", ";".join(map(values.escape, (target.organization, *units)))))


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


def _take_department_units(card: Card, custom_fields: list[Entry]) -> list[str]:
    """The units of the department, if it is the first custom field; then it is removed from `custom_fields`."""
    if not custom_fields or custom_fields[0] != card.custom_fields[0] or not _is_department(custom_fields[0]):
        return []
    return _department_units(custom_fields.pop(0))


def _is_department(entry: object) -> bool:
    """Whether the custom field can be written as units of ORG and read back."""
    if not isinstance(entry, dict) or entry["key"] != "Department" or entry["type"] is not None:
        return False
    return all(unit.strip() == unit != "" for unit in _department_units(entry))


def _department_units(entry: JsonMapping) -> list[str]:
    return str(entry["value"]).split("; ")


def _update_photo(update: LineUpdate) -> None:
    photo = update.target.photo
    # The line of a photo that is stored in a file has no value, so reading it yields no photo.
    indexes = [index for index, kept in enumerate(update.target.lines) if "photo" in kept.fields]
    if photo == update.parsed.photo and all(update.lines[index].value.strip() for index in indexes):
        return
    for index in indexes:
        kept = update.lines[index].without_params("ENCODING", "VALUE", "TYPE", "MEDIATYPE")
        built = update.builder.photo_line(photo, kept.params) if photo else None
        update.replacements[index] = [built.in_group(kept.group)] if built else []
    if photo and not indexes:
        update.added.append(update.builder.photo_line(photo))


def _update_notes(update: LineUpdate) -> None:
    """Update NOTE. Several NOTEs are shown as one text, joined by blank lines; unchanged ones keep their lines."""
    new, indexes = update.target.notes or "", update.indexes_of("notes")
    if new == (update.parsed.notes or ""):
        return
    texts = [values.text(update.lines[index]) for index in indexes]
    while len(indexes) > 1 and new:
        if new.startswith(f"{texts[0]}\n\n"):
            new, indexes, texts = new[len(texts[0]) + 2 :], indexes[1:], texts[1:]
        elif new.endswith(f"\n\n{texts[-1]}"):
            new, indexes, texts = new[: -len(texts[-1]) - 2], indexes[:-1], texts[:-1]
        else:
            break
    for number, index in enumerate(indexes):
        line = update.lines[index].with_value(values.escape(new))
        update.replacements[index] = [line] if new and number == 0 else []
    if new and not indexes:
        update.added.append(ContentLine("NOTE", values.escape(new)))


def _update_categories(update: LineUpdate) -> None:
    """Update CATEGORIES. Removed groups are taken out of their line, new ones are added to the last line."""
    parsed = {case_key(name) for name in update.parsed.categories}
    new = {case_key(name) for name in update.target.categories}
    added = [values.escape(name) for name in update.target.categories if case_key(name) not in parsed]
    indexes = update.indexes_of("categories")
    removed = parsed - new
    for index in indexes:
        pieces = values.split(update.lines[index].value, ",")
        remaining = [piece for piece in pieces if category_key(piece) not in removed]
        if index == indexes[-1]:
            remaining += added
        if remaining != pieces:
            update.replacements[index] = [update.lines[index].with_value(",".join(remaining))] if remaining else []
    if added and not indexes:
        update.added.append(ContentLine("CATEGORIES", ",".join(added)))


def category_key(piece: str) -> str:
    """The key of a group, from its escaped name in a line."""
    return case_key(values.single_line(values.unescape(piece))[:100].rstrip())
