"""Reads cells as people and spreadsheets write them: several values in one, and what is no value."""

import re
from urllib.parse import unquote

from contacts_project.kernel.text_forms import is_email
from contacts_project.kernel.texts import Text, define_text
from people.importing.sources.drafts import Draft
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


def read_values(draft: Draft, field: str, cell: str) -> list[str]:
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
