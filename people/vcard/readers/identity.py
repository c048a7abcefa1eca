"""Readers of identity: FN, N, NICKNAME, ORG, GENDER, NOTE, CATEGORIES, KIND, MEMBER, PHOTO and plain text fields."""

from collections.abc import Iterator

from contacts_project.kernel.texts import define_text
from people import field_table
from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.readers.context import Context, FieldValue, Reader, single_line_text

_TRUE_WORDS = frozenset({"1", "true", "yes"})
_NO_BASE64 = define_text("photo_not_base64", "the photo is not valid base64; the line is kept as it is")


def _text_reader(name: str) -> Reader:
    def read(line: ContentLine, context: Context) -> Iterator[FieldValue]:
        if text := single_line_text(line):
            yield name, text

    return read


def _flag_reader(name: str) -> Reader:
    def read(line: ContentLine, context: Context) -> Iterator[FieldValue]:
        """A line that says no (`X-ANDROID-STARRED:0`) belongs to the field, too: it is edited when the flag is set."""
        yield name, single_line_text(line).casefold() in _TRUE_WORDS

    return read


def _read_note(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    if text := values.text(line):
        yield "notes", text


def _read_name(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """RFC 6350, 6.2.2. The sixth component is the secondary surname of RFC 9554, which the first one repeats."""
    parts = [values.parse_list(piece) for piece in values.split(line.value, ";")[:6]]
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


def _read_nickname(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    for text in values.parse_list(line.value):
        yield "nickname", values.single_line(text)


def _read_organization(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    parts = [values.single_line(part) for part in values.parse_components(line.value)]
    name, units = parts[0], [part for part in parts[1:] if part]
    if not name and units:
        name = units.pop(0)
    if name:
        yield "organization", (name, "; ".join(units))


def _read_gender(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """RFC 6350, 6.2.7: the free text, else the letter."""
    letter, *words = values.parse_components(values.structured(line.value, 2))
    if text := values.single_line(" ".join(words)) or letter:
        yield "gender", text


def _read_categories(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    for text in values.parse_list(line.value):
        yield "categories", values.single_line(text)


def _read_photo(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """Base64 or a data: URI. An http(s) URL is reported as `photo_url`; other values set no field."""
    value = line.value.strip()
    scheme = value[:8].lower()
    if line.encoding != "base64" and scheme.startswith(("http:", "https:")):
        yield "photo_url", values.unescape(value)
    elif scheme.startswith("data:"):
        yield from _decoded_photo(values.decode_data_uri(value), context)
    elif line.encoding == "base64" or value.startswith(("/9j/", "iVBOR", "R0lG", "UklGR")):
        yield from _decoded_photo(values.decode_base64(value), context)


def _decoded_photo(data: bytes | None, context: Context) -> Iterator[FieldValue]:
    if data:
        yield "photo", data
    else:
        context.warnings.append(_NO_BASE64)


def _read_kind(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    if single_line_text(line).lower() == "group":
        yield "kind", "group"


# The text fields with a property of their own; some of these properties are overridden by a special reader below.
_TEXT_READERS: dict[str, Reader] = {
    name: _text_reader(field.card)
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.FieldKind.TEXT
    for name in field.card_properties
}

_FLAG_READERS: dict[str, Reader] = {
    name: _flag_reader(field.card)
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.FieldKind.FLAG
    for name in field.card_properties
}

READERS: dict[str, Reader] = {
    **_TEXT_READERS,
    **_FLAG_READERS,
    "FN": _text_reader("fn"),
    "N": _read_name,
    "NICKNAME": _read_nickname,
    "ORG": _read_organization,
    "GENDER": _read_gender,
    "NOTE": _read_note,
    "CATEGORIES": _read_categories,
    "PHOTO": _read_photo,
    "KIND": _read_kind,
    "X-ADDRESSBOOKSERVER-KIND": _read_kind,
    "MEMBER": _text_reader("members"),
    "X-ADDRESSBOOKSERVER-MEMBER": _text_reader("members"),
}
