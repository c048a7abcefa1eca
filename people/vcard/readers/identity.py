"""Reads who a card is about: N, NICKNAME, ORG, GENDER, NOTE, CATEGORIES, KIND, PHOTO and the plain texts."""

from collections.abc import Iterator

from people import field_table
from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.readers.context import Context, Reader, Statement, single


def _plain(name: str) -> Reader:
    def read(line: ContentLine, context: Context) -> Iterator[Statement]:
        if text := single(line):
            yield name, text

    return read


def _note(line: ContentLine, context: Context) -> Iterator[Statement]:
    if text := values.text(line):
        yield "notes", text


def _name(line: ContentLine, context: Context) -> Iterator[Statement]:
    """RFC 6350, 6.2.2; a sixth component is RFC 9554's secondary surname, repeated among the surnames."""
    parts = [values.list_parts(piece) for piece in values.split(line.value, ";")[:6]]
    parts += [[]] * (6 - len(parts))
    surnames, secondary = parts[0], parts[5]
    if secondary and surnames[-len(secondary) :] == secondary:
        surnames = surnames[: -len(secondary)]
    yield (
        "n",
        {
            "surname": values.single_line(" ".join(surnames)),
            "name": values.single_line(" ".join(parts[1])),
            "middle_name": values.single_line(" ".join(parts[2])),
            "prefix": values.single_line(" ".join(parts[3])),
            "suffix": values.single_line(", ".join(parts[4])),
            "second_last_name": values.single_line(" ".join(secondary)),
        },
    )


def _nickname(line: ContentLine, context: Context) -> Iterator[Statement]:
    for text in values.list_parts(line.value):
        yield "nickname", values.single_line(text)


def _organization(line: ContentLine, context: Context) -> Iterator[Statement]:
    parts = [values.single_line(part) for part in values.components(line.value)]
    name, units = parts[0], [part for part in parts[1:] if part]
    if not name and units:
        name = units.pop(0)
    if name:
        yield "organization", (name, "; ".join(units))


def _gender(line: ContentLine, context: Context) -> Iterator[Statement]:
    """RFC 6350, 6.2.7: the text says it in the person's own words, else the letter."""
    letter, *words = values.components(line.value)
    if text := values.single_line(" ".join(words)) or letter:
        yield "gender", text


def _categories(line: ContentLine, context: Context) -> Iterator[Statement]:
    for text in values.list_parts(line.value):
        yield "categories", values.single_line(text)


def _photo(line: ContentLine, context: Context) -> Iterator[Statement]:
    """Base64 or a data: URI; what is at an address on the net, or no base64, is held by no field."""
    value = line.value.strip()
    scheme = value[:8].lower()
    if line.encoding != "base64" and scheme.startswith(("http:", "https:")):
        yield "photo_url", values.unescape(value)
    elif scheme.startswith("data:"):
        yield from _picture(values.decode_data_uri(value), context)
    elif line.encoding == "base64" or value.startswith(("/9j/", "iVBOR", "R0lG", "UklGR")):
        yield from _picture(values.decode_base64(value), context)


def _picture(data: bytes | None, context: Context) -> Iterator[Statement]:
    if data:
        yield "photo", data
    else:
        context.warnings.append("the photo is not valid base64; the line is kept as it is")


def _kind_of_card(line: ContentLine, context: Context) -> Iterator[Statement]:
    if single(line).lower() == "group":
        yield "kind", "group"


# Of a field that has a property of its own, unless a reader below knows better.
_TEXTS: dict[str, Reader] = {
    name: _plain(field.card)
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.Kind.TEXT
    for name in field.card_properties
}

READERS: dict[str, Reader] = {
    **_TEXTS,
    "FN": _plain("fn"),
    "N": _name,
    "NICKNAME": _nickname,
    "ORG": _organization,
    "GENDER": _gender,
    "NOTE": _note,
    "CATEGORIES": _categories,
    "PHOTO": _photo,
    "KIND": _kind_of_card,
    "X-ADDRESSBOOKSERVER-KIND": _kind_of_card,
    "MEMBER": _plain("members"),
    "X-ADDRESSBOOKSERVER-MEMBER": _plain("members"),
}
