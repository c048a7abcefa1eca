"""Vocabularies: closed lists of words, such as the units of an interval. Pure: columns and rules use the same classes.

They offer what Django's TextChoices offers and the project uses, without Django.
"""

from enum import EnumType, StrEnum


class _VocabularyType(EnumType):
    """Adds the lists of a vocabulary to its class."""

    def __contains__(cls, value: object) -> bool:
        """Also for a plain text, which is no member (Python before 3.12 raises TypeError)."""
        return value in cls._value2member_map_ if isinstance(value, str) else super().__contains__(value)

    @property
    def values(cls) -> list[str]:
        return [str(word) for word in cls._value2member_map_]

    @property
    def choices(cls) -> list[tuple[str, str]]:
        """Each word with its label, as a column's `choices`."""
        return [(word, name.replace("_", " ").title()) for name, word in zip(cls.__members__, cls.values, strict=True)]


class Vocabulary(StrEnum, metaclass=_VocabularyType):
    """Base class of vocabularies."""
