"""What an operation may be in POST /api/batch: any that the caller could send alone, except what answers no plain JSON,
takes a file, or is about signing in. In one transaction with others nothing may commit by itself or wait for other
machines."""

from typing import Any

from django.urls import ResolverMatch

from accounts.api.authentication import SessionOnly
from accounts.api.route_marks import is_atomic, is_in_batches
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.errors import DomainError, MissingError


class NotInBatchError(DomainError):
    """The operation cannot be one of many."""

    message = "This operation cannot be part of a batch: send it alone."


class NotInAtomicBatchError(NotInBatchError):
    """It commits by itself or waits for other machines, so that it could not be undone with the others."""

    message = "This operation cannot be undone with others: send it in a batch that is not atomic."


def check_operation(match: ResolverMatch, method: str, *, atomic: bool) -> None:
    """Pass what a batch may do. Raises MissingError for what is no route of the API, NotInBatchError."""
    view: Any = match.func
    cls = getattr(view, "cls", None)
    if not (isinstance(cls, type) and issubclass(cls, ApiViewSet)):
        raise MissingError("There is nothing at this address.")
    handler = getattr(cls, view.actions.get(method.lower(), ""), None)
    if not (cls.in_batches and is_in_batches(handler)) or _is_session_only(view):
        raise NotInBatchError
    if atomic and not is_atomic(handler):
        raise NotInAtomicBatchError


def _is_session_only(view: Any) -> bool:
    classes = view.initkwargs.get("permission_classes", view.cls.permission_classes)
    return any(issubclass(permission, SessionOnly) for permission in classes)
