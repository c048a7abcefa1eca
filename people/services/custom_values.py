"""What a template takes as its value."""

import re
from typing import Any, Protocol

from contacts_project.kernel.api.fields import check_text
from people.vocabularies import TemplateType

MAX_VALUE_LENGTH = 2000

# What a double holds exactly, and what both databases give back as it went in.
_LARGEST = 2**53
_NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_WORDS = {"true": True, "false": False}

CustomValue = str | int | float | bool


class ValueRefusedError(ValueError):
    """The value does not fit the template; the text says why, for people."""


class Typed(Protocol):
    """A template, as far as values go."""

    type: str
    options: Any


def read_value(template: Typed, value: Any) -> CustomValue | None:
    """The value as it is stored: the JSON type of NUMBER and BOOLEAN, else text. None for null or an empty text.

    NUMBER and BOOLEAN take their JSON type, or a text that spells it. Raises ValueRefusedError, and the
    ValidationError of check_text for control characters.
    """
    if isinstance(value, str):
        value = check_text(value)
        if len(value) > MAX_VALUE_LENGTH:
            raise ValueRefusedError(f"At most {MAX_VALUE_LENGTH} characters, this has {len(value)}.")
    if value is None or value == "":
        return None
    return _READERS[TemplateType(template.type)](template, value)


def _read_text(template: Typed, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueRefusedError("This must be a text.")
    return value


def _read_number(template: Typed, value: Any) -> int | float:
    if isinstance(value, str) and _NUMERAL.match(value):
        value = float(value) if re.search(r"[.eE]", value) else int(value[:40])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueRefusedError("This must be a number.")
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueRefusedError(f"This must be between {-_LARGEST} and {_LARGEST}.")
    return int(value) if value == int(value) else value


def _read_boolean(template: Typed, value: Any) -> bool:
    if isinstance(value, str):
        value = _WORDS.get(value.lower())
    if not isinstance(value, bool):
        raise ValueRefusedError("This must be true or false.")
    return value


def _read_option(template: Typed, value: Any) -> str:
    if not isinstance(value, str) or value not in template.options:
        raise ValueRefusedError("This must be one of the field's options.")
    return value


_READERS = {
    TemplateType.TEXT: _read_text,
    TemplateType.NUMBER: _read_number,
    TemplateType.BOOLEAN: _read_boolean,
    TemplateType.SELECT: _read_option,
}
