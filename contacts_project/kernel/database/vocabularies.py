"""Columns that hold one word of a vocabulary: the database refuses any other."""

from django.db.models import CheckConstraint, Q, TextChoices


def one_of(vocabulary: type[TextChoices], column: str, *, name: str, blank: bool = False) -> CheckConstraint:
    """The constraint that a column of these `choices` has in its model's Meta; `blank`: the empty text passes, too.

    Null passes where the column is nullable. A word more or less is a migration.
    """
    words = [*vocabulary.values, ""] if blank else list(vocabulary.values)
    return CheckConstraint(condition=Q(**{f"{column}__in": words}), name=name)
