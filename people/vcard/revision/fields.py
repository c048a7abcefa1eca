"""The single-valued fields, notes, categories, the organisation with its department, and the photo."""

from typing import Any

from people.vcard import values
from people.vcard.card import DATES, NAME_FORMATS, PLAIN_TEXTS, Card, CardDate
from people.vcard.content_lines import ContentLine
from people.vcard.revision.edits import edited_date
from people.vcard.revision.state import Revision

_TEXTS = ("second_last_name", "display_name", *PLAIN_TEXTS)
_LETTERS = frozenset({"M", "F", "O", "N", "U"})


def revise_fields(revision: Revision, left: dict[str, list[Any]], full_name: str | None) -> None:
    """All single-valued fields but the name. A department is taken out of the custom fields `left`."""
    for field in _TEXTS:
        _revise_scalar(revision, field, is_wanted=_is_wanted(revision, field, full_name))
    _revise_organization(revision, left["custom_fields"])


def revise_facts(revision: Revision) -> None:
    """What stands behind the entries: dates that are no important dates, photo, notes, groups."""
    for field in DATES:
        _revise_scalar(revision, field)
    _revise_photo(revision)
    _revise_notes(revision)
    _revise_categories(revision)


def revise_uid(revision: Revision) -> None:
    """A UID that is too long for a field stays the only one."""
    _revise_scalar(revision, "uid", is_wanted=not any(line.name == "UID" for line in revision.lines))


def _is_wanted(revision: Revision, field: str, full_name: str | None) -> bool:
    """Whether a field that no line says needs one of its own."""
    now = revision.now
    if field == "display_name" and now.display_name:
        # FN says it, unless it is what the parts of the name give anyway.
        is_usual = any(now.display_name == now.shown_as(form) for form in NAME_FORMATS)
        return is_usual or full_name not in {None, now.display_name}
    if field == "second_last_name":
        return not any(
            len(pieces := values.split(revision.lines[place].value, ";")) > 5 and pieces[5].strip()
            for place in revision.holding("n")
        )
    return True


def _revise_scalar(revision: Revision, field: str, *, is_wanted: bool = True) -> None:
    places = revision.holding(field)
    was, now = getattr(revision.said, field), getattr(revision.now, field)
    if was != now:
        for place in places:
            edited = _with_scalar(revision, revision.lines[place], field, was, now)
            revision.changed[place] = [edited] if edited else []
    if now and not places and is_wanted:
        revision.new += revision.builder.scalar(field, revision.now)


def _with_scalar(revision: Revision, line: ContentLine, field: str, was: Any, now: Any) -> ContentLine | None:
    if field == "nickname":
        return _with_nickname(line, now)
    if not now:
        return None
    if field == "gender" and line.name == "GENDER":
        letter, words, _ = (*values.split(line.value, ";"), "", "")[:3]
        is_letter = not words and now in _LETTERS
        return line.with_value(now if is_letter else f"{letter if words else ''};{values.escape(now)}")
    if field in DATES:
        return edited_date(line, CardDate(date=now), revision.builder)
    return line.with_value(values.escape(now))


def _with_nickname(line: ContentLine, now: str | None) -> ContentLine | None:
    """The first one is shown; the others of the line stay."""
    is_android = line.name == "X-ANDROID-CUSTOM"
    if is_android:
        kind, _, *rest = values.split(line.value, ";")
        return line.with_value(";".join((kind, values.escape(now), *rest))) if now else None
    others = [piece for piece in values.split(line.value, ",") if piece.strip()][1:]
    left = [*([values.escape(now)] if now else []), *others]
    return line.with_value(",".join(left)) if left else None


def _revise_organization(revision: Revision, custom_fields: list[Any]) -> None:
    """ORG holds the organisation and, as units, the custom field `Department`."""
    now, places = revision.now, revision.holding("organization")
    for place in places:
        was, is_now = revision.said.lines[place].entry, now.lines[place].entry
        if not now.organization or not _is_department(is_now):
            is_now = None
        elif is_now in custom_fields:
            custom_fields.remove(is_now)
        if (revision.said.organization, was) != (now.organization, is_now):
            revision.changed[place] = _organization(revision.lines[place], revision.said, now, (was, is_now))
    if now.organization and not places:
        units = _units(now, custom_fields)
        parts = (now.organization, *units)
        revision.new.append(ContentLine("ORG", ";".join(map(values.escape, parts))))


def _organization(line: ContentLine, said: Card, now: Card, department: tuple[Any, Any]) -> list[ContentLine]:
    if not now.organization:
        return []
    pieces = values.split(line.value, ";")
    named = next((place for place, piece in enumerate(pieces) if piece.strip()), 0)
    if said.organization != now.organization:
        pieces[named] = values.escape(now.organization)
    was, is_now = department
    if was != is_now:
        units = _units_of(is_now) if is_now else []
        pieces = [*pieces[: named + 1], *map(values.escape, units)]
    return [line.with_value(";".join(pieces))]


def _units(card: Card, custom_fields: list[Any]) -> list[str]:
    """The department, where it is the first of the custom fields: taken out of them."""
    if not custom_fields or custom_fields[0] != card.custom_fields[0] or not _is_department(custom_fields[0]):
        return []
    return _units_of(custom_fields.pop(0))


def _is_department(entry: Any) -> bool:
    """Whether ORG can say it among its units."""
    if not isinstance(entry, dict) or entry["key"] != "Department" or entry["type"] is not None:
        return False
    return all(unit.strip() == unit != "" for unit in _units_of(entry))


def _units_of(entry: Any) -> list[str]:
    return str(entry["value"]).split("; ")


def _revise_photo(revision: Revision) -> None:
    photo = revision.now.photo
    # The line of a picture that is stored elsewhere has no value, and so says nothing when it is read.
    places = [place for place, kept in enumerate(revision.now.lines) if "photo" in kept.fields]
    if photo == revision.said.photo and all(revision.lines[place].value.strip() for place in places):
        return
    for place in places:
        kept = revision.lines[place].without_params("ENCODING", "VALUE", "TYPE", "MEDIATYPE")
        built = revision.builder.photo(photo, kept.params) if photo else None
        revision.changed[place] = [built.in_group(kept.group)] if built else []
    if photo and not places:
        revision.new.append(revision.builder.photo(photo))


def _revise_notes(revision: Revision) -> None:
    """Several NOTEs are shown as one text, with a blank line between; what stays of them stays in its own line."""
    now, places = revision.now.notes or "", revision.holding("notes")
    if now == (revision.said.notes or ""):
        return
    texts = [values.text(revision.lines[place]) for place in places]
    while len(places) > 1 and now:
        if now.startswith(f"{texts[0]}\n\n"):
            now, places, texts = now[len(texts[0]) + 2 :], places[1:], texts[1:]
        elif now.endswith(f"\n\n{texts[-1]}"):
            now, places, texts = now[: -len(texts[-1]) - 2], places[:-1], texts[:-1]
        else:
            break
    for number, place in enumerate(places):
        line = revision.lines[place].with_value(values.escape(now))
        revision.changed[place] = [line] if now and number == 0 else []
    if now and not places:
        revision.new.append(ContentLine("NOTE", values.escape(now)))


def _revise_categories(revision: Revision) -> None:
    """Groups that are gone leave their line, new ones join the last."""
    said = {name.casefold() for name in revision.said.categories}
    now = {name.casefold() for name in revision.now.categories}
    added = [values.escape(name) for name in revision.now.categories if name.casefold() not in said]
    places = revision.holding("categories")
    gone = said - now
    for place in places:
        pieces = values.split(revision.lines[place].value, ",")
        left = [piece for piece in pieces if category_key(piece) not in gone]
        if place == places[-1]:
            left += added
        if left != pieces:
            revision.changed[place] = [revision.lines[place].with_value(",".join(left))] if left else []
    if added and not places:
        revision.new.append(ContentLine("CATEGORIES", ",".join(added)))


def category_key(piece: str) -> str:
    """What a group is known by, of its name as a line spells it."""
    return values.single_line(values.unescape(piece))[:100].rstrip().casefold()
