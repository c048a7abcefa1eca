"""Revises N and FN, component by component."""

from people.vcard import values
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine
from people.vcard.full_name import is_own_order, matches_format, respell
from people.vcard.line_updates.state import LineUpdate

_N_COMPONENTS = ("surname", "name", "middle_name", "prefix", "suffix")
NAME_FIELDS = (*_N_COMPONENTS, "second_last_name")


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
