"""Which operations POST /api/batch may run: any that the caller could send alone, except those that do not respond with
plain JSON, take a file, or concern signing in. In an atomic batch, an operation must neither commit by itself nor wait
for other machines."""

from typing import Any

from django.urls import ResolverMatch

from accounts.api.authentication import SessionOnly
from accounts.api.route_marks import is_allowed_in_atomic_batch, is_allowed_in_batch
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.errors import DomainError, MissingError


class NotInBatchError(DomainError):
    """No batch may contain the operation."""

    message = "This operation cannot be part of a batch: send it alone."


class NotInAtomicBatchError(NotInBatchError):
    """The operation commits by itself or waits for other machines, so it cannot be rolled back with the others."""

    message = "This operation cannot be undone with others: send it in a batch that is not atomic."


def check_operation(match: ResolverMatch, method: str, *, atomic: bool) -> None:
    """Raises MissingError for a URL outside the API, NotInBatchError or NotInAtomicBatchError for a refused action."""
    view: Any = match.func
    cls = getattr(view, "cls", None)
    if not (isinstance(cls, type) and issubclass(cls, ApiViewSet)):
        raise MissingError("There is nothing at this address.")
    handler = getattr(cls, view.actions.get(method.lower(), ""), None)
    # `@action(permission_classes=...)` passes its own to the view, in place of those of the class.
    permissions = view.initkwargs.get("permission_classes", view.cls.permission_classes)
    is_session_only = any(issubclass(permission, SessionOnly) for permission in permissions)
    if not (cls.allowed_in_batches and is_allowed_in_batch(handler)) or is_session_only:
        raise NotInBatchError
    if atomic and not is_allowed_in_atomic_batch(handler):
        raise NotInAtomicBatchError
