"""Display names of people, and their sort and search keys."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from accounts.models import User
from accounts.vocabularies import NameDisplayFormat, NameOrder
from contacts_project.kernel.text_forms import fold, fold_letters
from people import field_table
from people.scripts import is_cjk, is_surname_first

WESTERN, EASTERN = NameOrder.values
FULL, NICKNAME_PREFERRED, SHORT = NameDisplayFormat.values


class NameParts(NamedTuple):
    """The name columns of a person, in the order in which projections select them."""

    name: str
    surname: str | None = None
    middle_name: str | None = None
    second_last_name: str | None = None
    nickname: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    display_name_override: str | None = None


COLUMNS = NameParts._fields
PHONETIC_COLUMNS = ("phonetic_name", "phonetic_surname")
KEYED_COLUMNS = (*COLUMNS, *PHONETIC_COLUMNS)
"""The columns from which the sort and search keys are computed. Phonetic names are not displayed."""
_SEARCHED_COLUMNS = tuple(field.column for field in field_table.SCALARS if field.searched and field.column in COLUMNS)

Phonetic = tuple[str | None, str | None]
_NO_PHONETIC: Phonetic = (None, None)
# In UTF-8; Chinese, Japanese and Korean begin at U+1100.
_MAYBE_CJK = re.compile(rb"[\xe1-\xff]")


def display_name(
    parts: Sequence[str | None], *, order: str = WESTERN, form: str = FULL, phonetic: Phonetic = _NO_PHONETIC
) -> str:
    """The display name for an account with the name order `order` and the display format `form`.

    A name in Chinese, Japanese or Korean stands surname first in WESTERN, too, and without a space. `parts` is a
    NameParts or a plain row of its columns; lists call this for every person, without a NameParts each. For sorting, a
    `phonetic` name stands in place of what it spells; the order of the parts stays that of the name as written.
    """
    name, surname, middle_name, second_last_name, nickname, prefix, suffix, override = parts
    if override:
        return override
    spelled_name, spelled_surname = phonetic[0] or name, phonetic[1] or surname
    if form == SHORT:
        return nickname or spelled_name or ""
    if form == NICKNAME_PREFERRED:
        called = nickname or spelled_name
        if order == EASTERN:
            return _join_eastern((spelled_surname, called))
        return _join_western((called, None, spelled_surname, None), written=(nickname or name, surname))
    quoted = nickname and f'"{nickname}"'
    if order == EASTERN:
        whole = _join_eastern((spelled_surname, second_last_name, spelled_name, middle_name))
        return f"{whole} {quoted}" if quoted else whole
    names = (spelled_name, middle_name, spelled_surname, second_last_name)
    written = (name, middle_name, surname, second_last_name)
    return _join_western(names, prefix, quoted, suffix, written=written)


def _join_western(
    names: tuple[str | None, str | None, str | None, str | None],
    prefix: str | None = None,
    quoted: str | None = None,
    suffix: str | None = None,
    *,
    written: Iterable[str | None],
) -> str:
    """`names` are name, middle name, surname and second last name. The script of `written` decides their order."""
    name, middle_name, surname, second_last_name = names
    if is_surname_first(written):
        whole = "".join(filter(None, (surname, second_last_name, name, middle_name)))
        return " ".join(filter(None, (prefix, whole, quoted, suffix)))
    return " ".join(filter(None, (prefix, name, middle_name, quoted, surname, second_last_name, suffix)))


def format_name(owner: User, parts: Sequence[str | None]) -> str:
    """The display name in the name order and display format of the account."""
    return display_name(parts, order=owner.name_order, form=owner.name_display_format)


def _join_eastern(parts: Iterable[str | None]) -> str:
    given = [part for part in parts if part]
    has_no_spaces = all(is_cjk(part) for part in given)
    return ("" if has_no_spaces else " ").join(given)


def sort_key(parts: NameParts, phonetic: Phonetic = _NO_PHONETIC) -> bytes:
    """Bytes that sort people by name, then surname; a phonetic name takes precedence.

    Bytes, because the order of texts depends on the collation of the database. Each part is cut so that an index entry
    of PostgreSQL stays below its limit of 2,704 bytes.
    """
    name, surname = phonetic[0] or parts.name, phonetic[1] or parts.surname or ""
    return fold(name).encode()[:1200] + b"\x00" + fold(surname).encode()[:1200]


def shown_key(parts: Sequence[str | None], names: bytes, *, order: str, form: str) -> bytes:
    """Bytes that sort people by display name. `names` is the sort key, whose name and surname take precedence.

    `parts` is a NameParts or a plain row of its columns.
    """
    name, _, surname = names.decode(errors="ignore").partition("\x00")
    folded = (*parts[:2], *(part and fold(part) for part in parts[2:]))
    return display_name(folded, order=order, form=form, phonetic=(name, surname)).encode()


def build_shown_key(order: str, form: str) -> Callable[[bytes], bytes]:
    """A function that makes the `shown_key` of somebody who has only a name and a surname, from the sort key."""

    def key_of(names: bytes) -> bytes:
        if order == WESTERN and form != SHORT and names.isascii():  # a fast path for most names
            return names.replace(b"\x00", b" ").rstrip()
        name, _, surname = names.partition(b"\x00")
        if form == SHORT or not surname:
            return name
        if _MAYBE_CJK.search(names):
            return display_name(NameParts(name.decode(), surname.decode()), order=order, form=form).encode()
        return surname + b" " + name if order == EASTERN else name + b" " + surname

    return key_of


def search_key(parts: NameParts, phonetic: Phonetic = _NO_PHONETIC) -> str:
    """Folded text that a name search looks into: the searched fields in several orders, and the phonetic name in both.

    A line holds one order, so that a search for a full name finds it in any of them.
    """
    listed = [getattr(parts, column) for column in _SEARCHED_COLUMNS]
    western = [parts.name, parts.middle_name, parts.surname, parts.second_last_name]
    eastern = [parts.surname, parts.second_last_name, parts.name, parts.middle_name]
    orders = (listed, western, eastern, phonetic, phonetic[::-1])
    joined = [" ".join(part for part in order if part) for order in orders]
    return "\n".join(dict.fromkeys(fold_letters(text) for text in joined if text))


def keys_of_names(row: Any, sort_as: Phonetic = _NO_PHONETIC) -> tuple[bytes, str]:
    """The sort key and the search key of a row with the attributes KEYED_COLUMNS.

    `sort_as` is what name and surname are sorted as where there is no phonetic one.
    """
    parts = NameParts(*(getattr(row, column) for column in COLUMNS))
    phonetic = (row.phonetic_name, row.phonetic_surname)
    spelled = (row.phonetic_name or sort_as[0], row.phonetic_surname or sort_as[1])
    return sort_key(parts, spelled), search_key(parts, phonetic)
