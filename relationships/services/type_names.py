"""Names of relationship types: their normal form, and their uniqueness among the active types of an account."""

from typing import Final
from uuid import UUID

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import define_text
from people.models import RelationshipType

_TAKEN = define_text("type_name_taken", "There is already a relationship type named %(name)s.")

NAME_LENGTH: Final = 50


def normalize_type_name(text: str) -> str:
    """`text` in upper case and NFC, with `_` for white space between words: the form in which names are stored."""
    return nfc("_".join(text.upper().split()))  # upper() takes some letters apart


def taken_names(owner_id: UUID) -> set[str]:
    """The names of the active types."""
    return set(RelationshipType.objects.owned_by(owner_id).active().values_list("name", flat=True))


def check_name_free(name: str, taken: set[str]) -> None:
    """Raise FieldError if `name` is taken."""
    if name in taken:
        raise FieldError("name", _TAKEN.format(name=name))


def unique_name(preferred: str, taken: set[str]) -> str:
    """`preferred`, with a number as suffix if it is taken: `CHILD_2`."""
    name, number = preferred, 2
    while name in taken:
        suffix = f"_{number}"
        name, number = preferred[: NAME_LENGTH - len(suffix)] + suffix, number + 1
    return name
