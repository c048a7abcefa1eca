"""N and FN, part by part."""

from people.vcard import values
from people.vcard.card import NAME_FORMATS, Card
from people.vcard.content_lines import ContentLine
from people.vcard.revision.state import Revision

_PARTS = ("surname", "name", "middle_name", "prefix", "suffix")
NAMES = (*_PARTS, "second_last_name")


def revise_names(revision: Revision, full_name: str | None) -> list[ContentLine]:
    """Revise the lines; returns FN and N where they are missing. `full_name` is what FN shall be, if not as it is."""
    said, now = revision.said, revision.now
    n_places, fn_places = revision.holding("n"), revision.holding("fn")
    text = full_name or _full_name(revision, fn_places)
    is_renamed = any(getattr(said, field) != getattr(now, field) for field in NAMES)
    for place in n_places:
        line = revision.lines[place]
        is_named = any(piece.strip() for piece in values.split(line.value, ";")[:3])
        if is_renamed or not (is_named or text == now.name):  # the name is read from FN where N says none
            revision.changed[place] = [_with_parts(line, said, now, is_named=is_named)]
    for place in fn_places:
        line = revision.lines[place]
        if values.single_line(values.text(line)) != text:
            revision.changed[place] = [line.with_value(values.escape(text))]
    missing = [] if fn_places else [ContentLine("FN", values.escape(text))]
    if not n_places:
        # Somebody who is called by what else the card has keeps an empty N.
        is_stand_in = not fn_places and bool(revision.lines) and not now.display_name and said.name == now.name
        missing.append(revision.builder.name(Card() if is_stand_in else now))
    return missing


def _full_name(revision: Revision, places: list[int]) -> str:
    """FN stays as long as the name does, and in the format that it had where the name changed."""
    said, now = revision.said, revision.now
    text = values.single_line(values.text(revision.lines[places[0]])) if places else ""
    if text and all(getattr(said, field) == getattr(now, field) for field in (*NAMES, "nickname", "display_name")):
        return text
    if not text or now.display_name:
        return now.full_name
    words = text.split()
    form = next((form for form in NAME_FORMATS if said.shown_as(form).split() == words), "FULL")
    return now.shown_as(form)


def _with_parts(line: ContentLine, said: Card, now: Card, *, is_named: bool) -> ContentLine:
    """The components whose part of the name changed; the others stay as they are written."""
    pieces = values.split(line.value, ";")
    pieces += [""] * (5 - len(pieces))
    home = dict(zip(_PARTS, range(5), strict=True))
    if not is_named:
        pieces[1] = values.escape(now.name)
    elif not pieces[1].strip():
        # A family or middle name alone stands for the name: it stays where it is while nothing else needs the place.
        place = 2 if pieces[2].strip() and not said.middle_name else 0
        if not now.middle_name and not getattr(now, _PARTS[place]):
            home["name"] = place
        else:
            pieces[1], pieces[place] = values.escape(now.name), ""
    secondary = len(pieces) > 5 and bool(pieces[5].strip())
    for field, place in home.items():
        if getattr(said, field) != getattr(now, field):
            pieces[place] = values.escape(getattr(now, field) or "")
    if secondary and (said.surname, said.second_last_name) != (now.surname, now.second_last_name):
        second = values.escape(now.second_last_name or "")
        pieces[0] = ",".join(filter(None, (values.escape(now.surname or ""), second)))
        pieces[5] = second
    return line.with_value(";".join(pieces))
