"""Names of relationship types: how they are written, and that there is one of each among the active."""

from typing import Final
from uuid import UUID

from contacts_project.kernel.errors import FieldError
from people.models import RelationshipType

NAME_LENGTH: Final = 50


def type_name(text: str) -> str:
    """`text` as a name of a type: upper case, inner white space as `_`."""
    return "_".join(text.upper().split())


def taken_names(owner_id: UUID) -> set[str]:
    """The names of the active types."""
    return set(RelationshipType.objects.owned_by(owner_id).active().values_list("name", flat=True))


def check_name_free(name: str, taken: set[str]) -> None:
    """Raise FieldError where `name` is taken."""
    if name in taken:
        raise FieldError("name", f"There is already a relationship type named {name}.")


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, with a number where that is taken."""
    name, number = wanted, 2
    while name in taken:
        ending = f"_{number}"
        name, number = wanted[: NAME_LENGTH - len(ending)] + ending, number + 1
    return name
