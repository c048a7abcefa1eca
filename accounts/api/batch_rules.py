"""Which operations POST /api/batch may run: any that the caller could send alone, except those that do not respond with
plain JSON, take a file, or concern signing in. In an atomic batch, an operation must neither commit by itself nor wait
for other machines; in one that writes, a GET is of one record."""

from typing import Any

from django.urls import ResolverMatch

from accounts.api.authentication import SessionOnly
from accounts.api.route_marks import is_allowed_in_atomic_batch, is_allowed_in_batch, is_of_one_record
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.errors import NO_SUCH_ADDRESS, DomainError, MissingError
from contacts_project.kernel.texts import define_text


class NotInBatchError(DomainError):
    """No batch may contain the operation."""

    message = define_text("not_in_batch", "This operation cannot be part of a batch: send it alone.")


class NotInAtomicBatchError(NotInBatchError):
    """The operation commits by itself or waits for other machines, so it cannot be rolled back with the others."""

    message = define_text(
        "not_in_atomic_batch", "This operation cannot be undone with others: send it in a batch that is not atomic."
    )


class LongReadInBatchError(NotInBatchError):
    """The operation reads more than one record, which would keep others from writing for as long as it takes."""

    message = define_text(
        "long_read_in_batch",
        "An atomic batch that writes reads single records only: send lists, searches and exports in another batch.",
    )


def check_operation(match: ResolverMatch, method: str, *, atomic: bool, within_write: bool) -> None:
    """Raises MissingError for a URL outside the API, NotInBatchError or a subclass for a refused action.

    `within_write`: the batch is atomic, and other operations of it write.
    """
    view: Any = match.func
    cls = getattr(view, "cls", None)
    if not (isinstance(cls, type) and issubclass(cls, ApiViewSet)):
        raise MissingError(NO_SUCH_ADDRESS)
    handler = getattr(cls, view.actions.get(method.lower(), ""), None)
    # `@action(permission_classes=...)` passes its own to the view, in place of those of the class.
    permissions = view.initkwargs.get("permission_classes", view.cls.permission_classes)
    is_session_only = any(issubclass(permission, SessionOnly) for permission in permissions)
    if not (cls.allowed_in_batches and is_allowed_in_batch(handler)) or is_session_only:
        raise NotInBatchError
    if atomic and not is_allowed_in_atomic_batch(handler):
        raise NotInAtomicBatchError
    if within_write and method == "GET" and not is_of_one_record(handler):
        raise LongReadInBatchError
