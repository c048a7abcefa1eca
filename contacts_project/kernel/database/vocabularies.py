"""Check constraints for columns that contain one word of a vocabulary."""

from django.db.models import CheckConstraint, Q

from contacts_project.kernel.vocabularies import Vocabulary


def one_of(vocabulary: type[Vocabulary], column: str, *, name: str, blank: bool = False) -> CheckConstraint:
    """The constraint for the Meta of a model whose `column` has these choices. `blank` also allows the empty text.

    NULL is allowed if the column is nullable. Adding or removing a word needs a migration.
    """
    words = [*vocabulary.values, ""] if blank else list(vocabulary.values)
    return CheckConstraint(condition=Q(**{f"{column}__in": words}), name=name)
