"""The target field of each column: parses a CSV mapping and proposes one."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from contacts_project.kernel.api.fields import is_email
from contacts_project.kernel.errors import FieldError
from people import field_table
from people.importing.sources.column_words import FIELD_OF, KIND_OF
from people.importing.sources.tables import PHONE_PATTERN, Table

IGNORE = "ignore"
EXTRA_FIELDS = ("birthday", "group", IGNORE)
FIELDS = frozenset({*field_table.MAPPING_NAMES, *EXTRA_FIELDS})

#: The multi-value field of a card and the key of its entry, by the name in a mapping.
ENTRIES: Mapping[str, tuple[str, str]] = {
    key.mapping: (field.card, key.name) for field in field_table.LISTS for key in field.keys if key.mapping
}
_MAX_KIND = 50


@dataclass(frozen=True, slots=True)
class Target:
    """The target field of a column, and the type that its entries get, or an empty `kind`.

    An empty `field` means an unknown column: its values are left out with a warning.
    """

    field: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.field}:{self.kind}" if self.kind else self.field or IGNORE


def read_mapping(text: str, table: Table) -> list[Target]:
    """Return the target of each column: from `text`, the JSON of a mapping, else the proposed one.

    A key is a column name, or else the number of a column, counted from 1, or from 0 if one of the keys is 0. Raises
    FieldError.
    """
    targets = propose_targets(table)
    mapping = _parse_mapping(text)
    first = 0 if "0" in mapping and "0" not in table.names else 1
    for key, value in mapping.items():
        target = _parse_target(key, value)
        for index in _find_columns(key, table.names, first):
            targets[index] = target
    return targets


def _parse_mapping(text: str) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        mapping = orjson.loads(text)
    except (ValueError, RecursionError):
        raise FieldError("mapping", "This must be JSON: { column: field }.") from None
    if not isinstance(mapping, dict):
        raise FieldError("mapping", "This must be an object: { column: field }.")
    return mapping


def _parse_target(key: str, value: object) -> Target:
    if not isinstance(value, str):
        raise FieldError(f"mapping.{key}", "This must be the name of a field.")
    name, _, kind = value.partition(":")
    if name.strip() not in FIELDS:
        raise FieldError(f"mapping.{key}", f"There is no field “{name.strip()[:60]}” to map to.")
    if len(kind.strip()) > _MAX_KIND:
        raise FieldError(f"mapping.{key}", f"A type has at most {_MAX_KIND} characters.")
    return Target(name.strip(), kind.strip())


def _find_columns(key: str, names: Sequence[str], first: int) -> list[int]:
    header = " ".join(key.split())
    for fold in (str, str.casefold):
        if columns := [index for index, name in enumerate(names) if fold(name) == fold(header)]:
            return columns
    if header.isascii() and header.isdigit() and len(header) < 5 and 0 <= int(header) - first < len(names):
        return [int(header) - first]
    raise FieldError(f"mapping.{key}", "The file has no such column.")


_PHONE_KINDS = frozenset({"mobile", "fax"})
_WORD = re.compile(r"[^\W_]+")
_URL = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)


def propose_targets(table: Table) -> list[Target]:
    """Propose the target of each column by its name, or by its values if the table has no header."""
    targets = [_target_by_name(name) for name in table.names]
    fields = {target.field for target in targets}
    for index, target in enumerate(targets):
        if target.field == "full":
            targets[index] = Target(_full_name_field(fields))
        elif not target.field and not table.has_header:
            targets[index] = _target_by_values(
                [row.cells[index].strip() for row in table.sample if len(row.cells) > index]
            )
    if not table.has_header:
        _assign_names(targets)
    return targets


def _full_name_field(fields: set[str]) -> str:
    """The field of a column `Name`: beside a given name it is the surname, beside both it is redundant."""
    if "name" not in fields:
        return "name"
    return IGNORE if "surname" in fields else "surname"


def _assign_names(targets: list[Target]) -> None:
    """Without a header, the first two columns without a target are the name and the surname."""
    free = [index for index, target in enumerate(targets) if not target.field]
    for index, field in zip(free, ("name", "surname"), strict=False):
        targets[index] = Target(field)


def _target_by_name(name: str) -> Target:
    if name in FIELDS:  # exact names of our own fields
        return Target(name)
    # "E-Mail" would be split into two words.
    words = [_fold_word(word) for word in _WORD.findall(name.replace("E-Mail", "Email").replace("e-mail", "email"))]
    words = [word for word in words if word]
    kind = ""
    while words:
        if (field := FIELD_OF.get("".join(words))) and not (kind and field not in ENTRIES):
            return Target(field, kind)
        if len(words) == 1 and KIND_OF.get(words[0]) in _PHONE_KINDS:
            return Target("phone", " ".join(filter(None, (kind, KIND_OF[words[0]]))))
        kind_index = next((at for at in (0, -1) if words[at] in KIND_OF or words[at].isdigit()), None)
        if kind_index is None:
            return Target()
        word = words.pop(kind_index)
        kind = " ".join(filter(None, (kind, KIND_OF.get(word, ""))))
    return Target()


def _fold_word(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold().replace("ß", "ss").replace("ø", "o"))
    return "".join(character for character in plain if not unicodedata.combining(character))


def _target_by_values(values: Iterable[str]) -> Target:
    filled = [value for value in values if value]
    for field, matches in (("email", is_email), ("url", _URL.fullmatch), ("phone", PHONE_PATTERN.fullmatch)):
        if filled and sum(bool(matches(value)) for value in filled) * 2 > len(filled):
            return Target(field)
    return Target()
