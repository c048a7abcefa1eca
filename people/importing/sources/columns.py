"""Fills a draft from the cells of a row, by the target of each column.

Cells are read as people and spreadsheets write them: several values in one, and errors or words for no value.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from contacts_project.kernel.text_forms import is_email
from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.field_table import FieldKind
from people.importing.sources.days import DayReader
from people.importing.sources.drafts import DAY_FIELDS, FLAG_FIELDS, TEXT_FIELDS, RecordDraft
from people.importing.sources.tables import Row
from people.importing.sources.targets import BIRTHDAY_PARTS, ENTRIES, IGNORE, ColumnTarget
from people.phone_numbers import split_numbers

_LOST_DIGITS = define_text(
    "number_lost_its_digits",
    "“%(value)s” is what a spreadsheet left of a number, whose digits are lost: it was left out",
)
_NO_VALUE = define_text("cell_without_value", "“%(value)s” stands for an error or a missing value, and was left out")

# 4.91512E+11, with a comma as decimal sign in most of Europe: the digits behind the first few are lost.
_SCIENTIFIC = re.compile(r"[+-]?[0-9]+(?:[.,٫][0-9]+)?\s?[eE]\s?\+?[0-9]{1,3}")
# What a spreadsheet shows in place of a value: errors in the languages of the service, and a column that is too narrow.
_ERRORS = frozenset(
    f"#{word}"
    for line in (
        # en and ja, de, fr, es, nb and da
        "N/A NULL! DIV/0! VALUE! REF! NAME? NUM! GETTING_DATA SPILL! CALC! FIELD! BLOCKED! CONNECT! UNKNOWN! ERROR!",
        "NV WERT! BEZUG! ZAHL! ÜBERLAUF! KALK! FELD! BLOCKIERT! VERBINDEN! UNBEKANNT!",
        "NUL! VALEUR! NOM? NOMBRE! CHAMP! PROPAGATION! EPARS! BLOQUE! CONNEXION! INCONNU!",
        "N/D ¡NULO! ¡DIV/0! ¡VALOR! ¡REF! ¿NOMBRE? ¡NUM! ¡CALC! ¡DESBORDAMIENTO! NULO! VALOR! NOMBRE?",
        "I/T VERDI! NAVN? VÆRDI! REFERENCE! OVERFLYT! OVERLØB!",
        # it and pt, nl, sv and fi
        "NULLO! VALORE! RIF! NOME? NÚM! N/DISP",
        "N/B LEEG! DEEL/0! WAARDE! VERW! NAAM? GETAL!",
        "SAKNAS! SKÄRNING! DIVISION/0! VÄRDEFEL! REFERENS! NAMN? OGILTIGT!",
        "PUUTTUU! TYHJÄ! JAKO/0! ARVO! VIITTAUS! NIMI? LUKU!",
        # pl, cs, hu, tr, ru
        "ZERO! DZIEL/0! ARG! ADR! NAZWA? LICZBA!",
        "NENÍ_K_DISPOZICI HODNOTA! ODKAZ! NÁZEV? ČÍSLO!",
        "HIÁNYZIK NULLA! ZÉRÓOSZTÓ! ÉRTÉK! HIV! NÉV? SZÁM!",
        "YOK BOŞ! SAYI/0! DEĞER! BAŞV! AD? SAYI!",
        "Н/Д ПУСТО! ДЕЛ/0! ЗНАЧ! ССЫЛКА! ИМЯ? ЧИСЛО!",
    )
    for word in line.split()
)
_ERROR = re.compile(r"#{3,}|Err:[0-9]{3}")
# What databases and programs write for nothing. Somebody may be called so: not in a name.
_NOTHING = frozenset(
    (
        "null",
        "(null)",
        "<null>",
        "[null]",
        "\\n",
        "nan",
        "n/a",
        "<na>",
        "nil",
        "none",
        "undefined",
        "-",
        "--",
        "?",
        "—",
        "–",
    )
)
_NEVER_WORDS = frozenset(("phone", "email", "url", "im"))
_MAX_ERROR_LENGTH = 40
_DECIMAL_END = re.compile(r"([+]?[0-9]{7,})[.,]0")
_SEPARATOR = re.compile(r":::|[;,|\r\n；，、]")
_IN_BRACKETS = re.compile(r"<([^<>]*)>")
_QUOTED = re.compile(r'"[^"]*"')
_SCHEME = re.compile(r"(?:mailto|smtp):", re.IGNORECASE)
_BARE_HOST = re.compile(r"www\.[^\s/?#@:]+\.[^\s/?#@:]{2,}(?:[:/?#]\S*)?", re.IGNORECASE)
_BEYOND = define_text("beyond_last_column", "“%(value)s” stands beyond the last column and was left out")
_NOT_A_VALUE = define_text("not_a_value_of_field", "“%(value)s” is no value of %(field)s and was left out")
_NO_BIRTHDAY = define_text("birthday_incomplete", "the birthday has no day and month, and was left out: %(value)s")
# What Outlook writes if nobody chose a gender, in the languages of the service.
_UNSPECIFIED_GENDERS = {
    *("unspecified", "keine angabe", "nicht angegeben", "non spécifié", "sin especificar", "no especificado"),
    *("ikke angitt", "uspesifisert", "指定なし", "未指定"),
}
_GROUP_SEPARATOR = re.compile(r":::|[;,|\n]")
# There are people whose name is Null or None, and notes that say no more than a dash.
_MAY_BE_NULL = frozenset(
    ("displayNameOverride", "notes", IGNORE, *(field.name for field in field_table.SCALARS if field.searched))
)
# Those that are set by the word in a cell: fields that no card has, and flags.
_WORD_FIELDS = {
    field.name: field
    for field in field_table.SCALARS
    if (not field.card or field.kind is FieldKind.FLAG) and not field.read_only
}
_FLAG_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "1", "x", "on", "ja", "oui", "si", "sí", "はい"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off", "nein", "non", "nei", "いいえ"), False),
}


def find_error(cell: str) -> Text | None:
    """The remark on a cell that has an error of a spreadsheet instead of a value; None for any other."""
    text = cell.strip()
    is_error = (
        text[:1] in {"#", "E"}
        and len(text) <= _MAX_ERROR_LENGTH
        and (text.upper() in _ERRORS or _ERROR.fullmatch(text))
    )
    return _NO_VALUE.format(value=text) if is_error else None


def find_nothing(cell: str) -> Text | None:
    """The remark on a word for a missing value, such as NULL; None for any other text. In a name it may be the name."""
    return _NO_VALUE.format(value=cell.strip()) if cell.strip().casefold() in _NOTHING else None


def find_lost_number(cell: str) -> Text | None:
    """The remark on a number that a spreadsheet has rounded, such as 4.91512E+11; None for any other text."""
    text = cell.strip()
    return _LOST_DIGITS.format(value=text[:40]) if _SCIENTIFIC.fullmatch(text) else None


def read_values(draft: RecordDraft, field: str, cell: str) -> list[str]:
    """The values in a cell of a multi-value field, by its name in a mapping, or of Google's; what is none is a remark.

    They are separated at `:::` always, else only where each part is a value.
    """
    kept = []
    for part in cell.split(":::"):
        for value in _SPLITTERS.get(field, _whole)(part.strip()):
            remark = find_nothing(value) if field in _NEVER_WORDS else None
            if field == "phone":
                remark = remark or find_lost_number(value)
            if remark:
                draft.warn(remark)
            else:
                kept.append(value)
    return kept


def _whole(text: str) -> list[str]:
    return [text]


def _numbers(text: str) -> list[str]:
    # A column of numbers that a program has read as decimals.
    return [found[1] if (found := _DECIMAL_END.fullmatch(number)) else number for number in split_numbers(text)]


def _emails(text: str) -> list[str]:
    """The addresses in texts such as `"Tabe, Ana" <ana@example.org>; mailto:ben@example.org`; else the text."""
    plain = _QUOTED.sub(" ", text) if "<" in text else text
    parts = [part for part in map(str.strip, _SEPARATOR.split(plain)) if part]
    if len(parts) == 1 and "<" not in plain and all(map(is_email, words := plain.split())):
        parts = words
    found = [address for part in parts if (address := _address(part))]
    # A part without an address is the beginning of a name with a comma: Tabe, Ana <ana@example.org>.
    are_all = all(_address(part) or ("@" not in part and "<" in plain) for part in parts)
    return found if found and are_all else [text]


def _address(text: str) -> str:
    """The address in `Ana <ana@example.org>` or `mailto:ana@example.org`; empty if there is none."""
    inner = _IN_BRACKETS.findall(text)
    candidate = (inner[-1] if inner else text).strip().strip("'\"")
    if scheme := _SCHEME.match(candidate):
        candidate = unquote(candidate[scheme.end() :].partition("?")[0]).strip()
    return candidate if is_email(candidate) else ""


def _links(text: str) -> list[str]:
    """The links in a text: www.example.org is one without its scheme."""
    parts = text.split()
    parts = [part.rstrip(",;") for part in parts] if len(parts) > 1 and all(map(_is_link, parts)) else [text]
    return [f"https://{part}" if _BARE_HOST.fullmatch(part) else part for part in parts]


def _is_link(text: str) -> bool:
    return text.casefold().startswith(("http://", "https://")) or bool(_BARE_HOST.fullmatch(text))


_SPLITTERS = {"phone": _numbers, "email": _emails, "url": _links}


def filled_cells(draft: RecordDraft, row: Row, column_count: int) -> Iterator[tuple[int, str]]:
    """Yield the index and the text of each cell that has a value. Cells without, or beyond the last column, become
    warnings."""
    for index, cell in enumerate(row.cells):
        if error := find_error(cell):
            draft.warn(error)
        elif cell.strip() and index < column_count:
            yield index, cell
        elif cell.strip():
            draft.warn(_BEYOND.format(value=cell.strip()[:60]))


@dataclass(slots=True)
class _OpenParts:
    """What several columns of a row make together, until the row is complete: addresses by their type, a birthday."""

    addresses: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    birthday: dict[str, str] = field(default_factory=dict)


def fill(
    draft: RecordDraft,
    row: Row,
    targets: Sequence[ColumnTarget],
    *,
    day_readers: Mapping[int, DayReader],
    leave_out: Callable[[RecordDraft, int, str], None],
) -> None:
    """Set the fields of a draft from the cells of a row. `leave_out` gets the number and the cell of other columns.

    `day_readers` are those of the columns with dates.
    """
    open_parts = _OpenParts()
    file_days = draft.days
    for index, cell in filled_cells(draft, row, len(targets)):
        draft.days = day_readers.get(index, file_days)
        if not targets[index].field:
            leave_out(draft, index, cell)
        elif targets[index].field not in _MAY_BE_NULL and (nothing := find_nothing(cell)):
            draft.warn(nothing)
        elif targets[index].field != IGNORE:
            _set_target(draft, targets[index], cell, open_parts)
    draft.days = file_days
    for kind, parts in open_parts.addresses.items():
        draft.add_address(kind, parts)
    if open_parts.birthday:
        _add_birthday(draft, open_parts.birthday)


def _set_target(draft: RecordDraft, target: ColumnTarget, cell: str, open_parts: _OpenParts) -> None:
    name = target.field
    if name == "displayNameOverride":
        draft.full_name = draft.clean(cell)  # if it is the name that is displayed anyway, nothing is stored
    elif name == "gender" and cell.strip().casefold() in _UNSPECIFIED_GENDERS:
        return
    elif name in TEXT_FIELDS:
        draft.set_text(TEXT_FIELDS[name], cell)
    elif name in DAY_FIELDS:
        draft.set_day(DAY_FIELDS[name], cell)
    elif name == "birthday" and target.kind in BIRTHDAY_PARTS:
        open_parts.birthday[target.kind] = draft.clean(cell)
    elif name == "birthday":
        draft.add_date(cell, kind="BIRTHDAY")
    elif name == "group":
        for part in _GROUP_SEPARATOR.split(cell):
            draft.add_group(part)
    elif name in ENTRIES:
        _add_entry(draft, target, cell, open_parts.addresses)
    else:
        set_person_column(draft, name, cell)


def _add_birthday(draft: RecordDraft, parts: Mapping[str, str]) -> None:
    """Add a birthday whose year, month and day are in columns of their own. The year may be missing, or 0."""
    year, month, day = (parts.get(name, "") for name in BIRTHDAY_PARTS)
    if not month and not day:
        draft.warn(_NO_BIRTHDAY.format(value=year[:40]))
    else:
        month = f"{month:0>2}" if month.isdigit() else month
        # A month in words is read as in `29 February 1984`.
        text = f"{(year.strip('0') and year) or '-'}-{month}-{day:0>2}" if month.isdigit() else f"{day} {month} {year}"
        draft.add_date(text, kind="BIRTHDAY")


def _add_entry(draft: RecordDraft, target: ColumnTarget, cell: str, addresses: dict[str, dict[str, str]]) -> None:
    name, key = ENTRIES[target.field]
    if name != "addresses":
        for value in read_values(draft, target.field, cell):
            draft.add_entry(name, target.kind, **{key: value})
        return
    if target.field == "address.postalCode" and (remark := find_lost_number(cell)):
        draft.warn(remark)
        return
    parts = addresses[target.kind]
    if key == "streetLine1" and key in parts:
        key = "streetLine2"
    if existing := parts.get(key):
        cell = f"{existing}, {cell.strip()}"
    parts[key] = cell


def set_person_column(draft: RecordDraft, name: str, cell: str) -> None:
    """Set a field that no card has, such as a contact reminder, or a flag, by its name in JSON."""
    field = _WORD_FIELDS[name]
    value = _parse_value(field, draft.clean(cell))
    if value is None:
        draft.warn(_NOT_A_VALUE.format(value=cell.strip()[:40], field=name))
    elif name in FLAG_FIELDS:
        draft.set_flag(FLAG_FIELDS[name], value)
    else:
        draft.columns[field.column] = value


def _parse_value(field: field_table.PersonField, text: str) -> Any:
    if field.kind is FieldKind.FLAG:
        return _FLAG_WORDS.get(text.casefold())
    if field.kind is FieldKind.INTEGER:
        is_number = text.isascii() and text.isdigit() and len(text) < 5
        return int(text) if is_number and 1 <= int(text) <= field.limit else None
    return text.upper() if text.upper() in field.choices else None
