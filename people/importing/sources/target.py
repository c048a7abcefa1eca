"""Where the cells of a column go."""

from typing import NamedTuple

IGNORE = "ignore"
#: The types of the columns of a birthday that is in three columns.
BIRTHDAY_PARTS = ("year", "month", "day")


class Target(NamedTuple):
    """The target field of a column, and the type that its entries get, or an empty `kind`.

    An empty `field` means an unknown column: its values are left out with a warning. A birthday in three columns has
    the kinds BIRTHDAY_PARTS.
    """

    field: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.field}:{self.kind}" if self.kind else self.field or IGNORE


def parse_target(text: str) -> Target:
    """The target that is written as in a mapping: a field, and its type after a colon."""
    field, _, kind = text.partition(":")
    return Target(field.strip(), kind.strip())
