"""Which values a custom field accepts, by the type of its template."""

import re
from typing import Any, Protocol

from contacts_project.kernel.text_forms import (
    NOT_A_BOOLEAN,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    OUT_OF_RANGE,
    TOO_LONG,
    InvalidTextError,
    check_text,
)
from contacts_project.kernel.texts import Text, define_text
from people.vocabularies import TemplateType

_NOT_AN_OPTION = define_text("not_an_option", "This must be one of the field's options.")
MAX_VALUE_LENGTH = 2000
"""Of a custom field's text, in characters."""

# A double holds integers up to this exactly, so both databases return every number unchanged.
_MAX_NUMBER = 2**53
_NUMBER_PATTERN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


class InvalidCustomValueError(ValueError):
    """The value does not fit its template."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text


class _Template(Protocol):
    """What parsing needs of a CustomFieldTemplate."""

    type: str
    options: Any


def parse_custom_value(template: _Template, value: object) -> str | int | float | bool | None:
    """The value as it is stored: a number or boolean for NUMBER and BOOLEAN, else a text; None for null or `""`.

    NUMBER and BOOLEAN also accept their value as a text. Raises InvalidCustomValueError.
    """
    if isinstance(value, str):
        try:
            value = check_text(value)
        except InvalidTextError as error:
            raise InvalidCustomValueError(error.text) from None
        if len(value) > MAX_VALUE_LENGTH:
            raise InvalidCustomValueError(TOO_LONG.format(limit=MAX_VALUE_LENGTH, length=len(value)))
    if value is None or value == "":
        return None
    return _PARSERS[TemplateType(template.type)](template, value)


def _parse_text(template: _Template, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidCustomValueError(NOT_A_TEXT)
    return value


def _parse_number(template: _Template, value: object) -> int | float:
    if isinstance(value, str) and _NUMBER_PATTERN.match(value):
        # parse_custom_value has limited the length: int() takes quadratic time, and refuses more than 4,300 digits.
        value = float(value) if re.search(r"[.eE]", value) else int(value)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCustomValueError(NOT_A_NUMBER)
    if not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise InvalidCustomValueError(OUT_OF_RANGE.format(low=-_MAX_NUMBER, high=_MAX_NUMBER))
    return int(value) if value == int(value) else value


def _parse_boolean(template: _Template, value: object) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.lower())
    if not isinstance(value, bool):
        raise InvalidCustomValueError(NOT_A_BOOLEAN)
    return value


def _parse_option(template: _Template, value: object) -> str:
    if not isinstance(value, str) or value not in template.options:
        raise InvalidCustomValueError(_NOT_AN_OPTION)
    return value


_PARSERS = {
    TemplateType.TEXT: _parse_text,
    TemplateType.NUMBER: _parse_number,
    TemplateType.BOOLEAN: _parse_boolean,
    TemplateType.SELECT: _parse_option,
}
