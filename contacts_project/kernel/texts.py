"""Texts for people: error messages, remarks, reasons. See docs/texts.md.

    TOO_LONG = define_text("too_long", "At most %(limit)s characters, this has %(length)s.")
    raise FieldError("notes", TOO_LONG.format(limit=100, length=130))

A text has a code that never changes and parameters, for programs. It becomes words when it is read: `str(text)` is in
the active language, which the API sets to that of the account (`contacts_project.kernel.languages`). Without Django
(`contacts_project.kernel.languages`) that is English.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

_PLACEHOLDER = re.compile(r"%\((\w+)\)")
UNCODED = "other"
"""The code of texts that were stored before texts had codes."""


class Translation:
    """How texts become words: this one is English."""

    def translate(self, english: str) -> str:
        return english

    def translate_plural(self, english: str, plural: str, number: float) -> str:
        return english if number == 1 else plural

    def format_number(self, number: float) -> str:
        return f"{number:,}"

    def in_english(self) -> AbstractContextManager[None]:
        return nullcontext()


_translation = Translation()


def use_translation(translation: Translation) -> None:
    """Let all texts of this process be translated by `translation`."""
    global _translation  # noqa: PLW0603 - one for all texts, set once at the start
    _translation = translation


class TextCode(str):
    """The code of a text, with the text itself in `text`.

    DRF copies the messages of a ValidationError as strings, each with its code. So the parameters travel with the code.
    """

    __slots__ = ("text",)
    text: "Text"


class Text:
    """A text for people. `params` are the values of its placeholders: texts, numbers, other Texts, lists of these."""

    __slots__ = ("_code", "english", "number", "params", "plural")

    def __init__(
        self, code: str, english: str, *, plural: str = "", number: str = "", params: Mapping[str, object] | None = None
    ) -> None:
        """Use `define_text`; this alone adds nothing to the registry."""
        self._code = code
        self.english = english
        self.plural = plural
        self.number = number
        self.params: dict[str, Any] = dict(params or {})

    @property
    def code(self) -> TextCode:
        code = TextCode(self._code)
        code.text = self
        return code

    @property
    def placeholders(self) -> set[str]:
        return set(_PLACEHOLDER.findall(self.english + self.plural))

    def format(self, **params: object) -> Self:
        """The text with these values. Raises TypeError unless they are exactly those of its placeholders.

        The name is the one of str, because DRF calls it on the messages of its fields.
        """
        if set(params) != self.placeholders:
            raise TypeError(f"The text {self._code} takes {sorted(self.placeholders)}, not {sorted(params)}.")
        return type(self)(self._code, self.english, plural=self.plural, number=self.number, params=params)

    def __str__(self) -> str:
        """The text in the active language."""
        template = _translation.translate(self.english)
        if self.plural:
            number = self.params[self.number]
            template = _translation.translate_plural(self.english, self.plural, number)
        return template % _Words(self.params) if self.params else template

    def __repr__(self) -> str:
        return f"Text({self._code!r}, {self.in_english()!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Text):
            return NotImplemented
        return (self._code, self.english, self.params) == (other._code, other.english, other.params)

    def __hash__(self) -> int:
        return hash((self._code, self.english, repr(self.params)))

    def in_english(self) -> str:
        with _translation.in_english():
            return str(self)

    def describe(self) -> dict[str, object]:
        """As a remark in a response: `{ code, params, text }`, in the active language."""
        return {"code": self._code, "params": self.described_params(), "text": str(self)}

    def described_params(self) -> dict[str, object]:
        """The parameters for a response."""
        return {name: _map_texts(value, Text.describe) for name, value in self.params.items()}

    def to_stored(self) -> dict[str, object]:
        """The JSON in which a row stores the text. `from_stored` reads it."""
        params = {name: _map_texts(value, Text.to_stored) for name, value in self.params.items()}
        stored: dict[str, object] = {"code": self._code, "text": self.english, "params": params}
        return stored | {"plural": self.plural, "number": self.number} if self.plural else stored

    @classmethod
    def from_stored(cls, stored: object) -> Self:
        """The text that a row stores; also a plain string of a row from before texts had codes."""
        if not isinstance(stored, dict):
            return cls(UNCODED, str(stored))
        try:
            text = cls._parse_stored(stored)
            str(text)  # the values may not be what the template takes, in a document that somebody has edited
        except (KeyError, TypeError, ValueError, AttributeError):
            return cls(UNCODED, str(stored.get("text", "")))
        return text

    @classmethod
    def _parse_stored(cls, stored: dict[str, Any]) -> Self:
        params = {name: _map_stored(value) for name, value in stored.get("params", {}).items()}
        current = registry.get(stored["code"])
        # The wording may have been changed since. The stored one is for codes that are gone, or take other values now.
        if current is not None and current.placeholders == set(params):
            return cls(current._code, current.english, plural=current.plural, number=current.number, params=params)
        plural, number = stored.get("plural", ""), stored.get("number", "")
        return cls(stored["code"], stored["text"], plural=plural, number=number, params=params)


class TextError(ValueError):
    """An error whose reason is a `text` for people."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text


class _Words(dict[str, Any]):
    """The values of placeholders as words of the active language, for the operator `%`."""

    def __getitem__(self, name: str) -> "_Value":
        return _Value(super().__getitem__(name))


class _Value:
    """One value: `%(name)s` groups the digits of a number as the language does, `%(name)d` leaves them as they are."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __str__(self) -> str:
        if isinstance(self.value, list | tuple):
            return ", ".join(map(str, self.value))
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return _translation.format_number(self.value)
        return str(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)


def _map_texts(value: object, convert: "Callable[[Text], dict[str, object]]") -> object:
    """`value` with every Text in it converted."""
    if isinstance(value, Text):
        return convert(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_map_texts(item, convert) for item in value]
    return value


def _map_stored(value: object) -> object:
    if isinstance(value, dict):
        return Text.from_stored(value)
    return [_map_stored(item) for item in value] if isinstance(value, list) else value


registry: dict[str, Text] = {}
"""All defined texts by code."""


def define_text(code: str, english: str, *, plural: str = "", number: str = "") -> Text:
    """Define a text, at the top of a module or in a class. The code must be new, the English is the msgid.

    `english` has placeholders such as `%(limit)s`. If its wording depends on a number, `plural` is the English for
    several and `number` the name of that placeholder.
    """
    text = Text(code, english, plural=plural, number=number)
    known = registry.setdefault(code, text)
    if known.english != english:
        raise ValueError(f"There is another text with the code {code}: {known.english}")
    return text


def describe_remarks(remarks: Sequence[Text]) -> dict[str, object]:
    """The remarks about one item of a receipt: `{ reason, code, params? }` of the first, and `remarks` if there are
    several; empty without any."""
    if not remarks:
        return {}
    first = remarks[0]
    described: dict[str, object] = {"reason": str(first), "code": str(first.code)}
    if first.params:
        described["params"] = first.described_params()
    return described | {"remarks": [remark.describe() for remark in remarks]} if len(remarks) > 1 else described
