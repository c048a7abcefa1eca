"""The names by which a card sorts its person: SORT-AS of N (RFC 6350, 5.9) and SORT-STRING (RFC 2426, 3.6.5)."""

from collections.abc import Iterable

from people.vcard import values
from people.vcard.content_lines import parse_line
from people.vcard.parser import read_lines


def sort_names(kept: Iterable[tuple[str, bool]], name: str, surname: str | None) -> tuple[str | None, str | None]:
    """What the given name and the surname are sorted as; None where they are sorted as they are written.

    `kept` are the content lines of the card, each with whether a field holds its value. They say the name that the
    person had when they came: after a change of a part of the name, nothing spells that part.
    """
    texts = list(kept)
    if not any("SORT-" in text.upper() for text, _ in texts):
        return None, None
    lines = [parse_line(text) for text, _ in texts]
    given = family = None
    for line in lines:
        if line.name == "SORT-STRING":
            family = family or values.single_line(values.text(line))
        elif line.name == "N" and (parts := ",".join(line.param("SORT-AS")).split(",")) != [""]:
            family = values.single_line(parts[0]) or family
            given = values.single_line(parts[1]) if len(parts) > 1 else None
    parsed = read_lines(lines, [], [is_read for _, is_read in texts])
    has_surname = parsed.surname == surname
    # Without a surname, the one that is named is that of the whole name.
    if not has_surname or (surname is None and parsed.name != name):
        family = None
    return (given or None) if parsed.name == name else None, family or None
