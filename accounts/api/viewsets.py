"""Base viewsets for the routes of every app: DRF's GenericViewSet, restricted to the account behind the request."""

import threading
from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from django.contrib.auth import get_user
from django.db.models import Model
from django.urls import register_converter
from django.utils import timezone
from django.utils.translation import activate
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

from accounts.api.authentication import bearer_text
from accounts.api.decorators import RecordView, accepts_idempotency_key, commits_by_itself, require_if_match
from accounts.api.idempotency import HEADER, REFUSALS, make_idempotent
from accounts.api.serializers import UserSerializer, profile_record
from accounts.models import User
from accounts.services.profile import load_profile
from contacts_project.kernel.api.body_limit import BodyLimited
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import marks_of
from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.languages import language_of
from contacts_project.kernel.ownership.models import FeedModel, OwnedQuerySet, TrashQuerySet

M = TypeVar("M", bound=Model)
T = TypeVar("T", bound=FeedModel)


class IdConverter:
    """`<id:person_id>` in a URL pattern. Accepts any path segment; a malformed id becomes the nil UUID (RFC 9562,
    section 5.9), which no row has."""

    # A stricter pattern would answer 404 from the URL resolver, before authentication. This way a malformed id is
    # answered as an unknown one is: 401 without a credential, 404 with one.
    regex = "[^/]+"

    def to_python(self, value: str) -> UUID:
        return parse_id(value) or UUID(int=0)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")


class ApiViewSet(BodyLimited, GenericViewSet[M]):
    """Routes for signed-in accounts. An action may set its own permissions, parsers or `body_limit`."""

    record_serializer: ClassVar[type["Serializer[Any]"] | None] = None  # describes what `current_record` returns
    accepts_idempotency_keys = True  # POST actions store their response under an Idempotency-Key
    allowed_in_batches = True  # as an operation of POST /api/batch

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate and check permissions as DRF does, then wrap the handler for If-Match and Idempotency-Key."""
        super().initial(request, *args, **kwargs)
        account_of_request.set(request.user.pk if isinstance(request.user, User) else None)
        # The language of every text in the response. RequestLogMiddleware deactivates it.
        activate(request.user.language if isinstance(request.user, User) else language_of(request))
        # `dispatch` looks the handler up on the instance after `initial`, so an attribute set here takes effect. Only
        # requests with one of the headers pay for it; a decorator would run for every write.
        name = str(request.method).lower()
        handler: Any = getattr(self, name, None)
        if "If-Match" in request.headers and marks_of(handler).takes_if_match:
            handler = require_if_match(cast("RecordView", self), handler, request)
            setattr(self, name, handler)
        # Idempotency-Key wraps If-Match, not the reverse: a repeated request must get the stored response. Its ETag is
        # stale by then, because the first request changed the record.
        if HEADER in request.headers and handler and self.idempotency_refusals(str(request.method), handler):
            self.post = make_idempotent(self, handler, request)

    def commits_by_itself(self, handler: object) -> bool:
        """Whether this request is more than one transaction, so that its response cannot be stored in the same one."""
        return commits_by_itself(handler)

    @classmethod
    def idempotency_refusals(cls, method: str, handler: object) -> tuple[type[Exception], ...]:
        """The errors that an Idempotency-Key can cause, for the API description; empty if the route ignores keys."""
        return REFUSALS if cls.accepts_idempotency_keys and accepts_idempotency_key(method, handler) else ()

    @property
    def owner(self) -> User:
        """The signed-in account. The default permission, IsAuthenticatedInScope, rejects anonymous requests."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError("owner is for routes that only signed-in accounts reach")
        return user

    def read_body(self, serializer_class: type["Serializer[Any]"], *, partial: bool = False) -> JsonObject:
        """Validate the request body and return the validated data. Raises ValidationError."""
        serializer = _kept_serializer(serializer_class, partial=partial)
        initial_state = vars(serializer).copy()
        try:
            serializer.initial_data, serializer._context = self.request.data, {"request": self.request}
            serializer.is_valid(raise_exception=True)
            return dict(serializer.validated_data)
        finally:
            # The next request on this thread must not see this one's data. `fields` is kept: building them is what
            # keeping the serializer saves.
            fields = serializer.fields
            vars(serializer).clear()
            vars(serializer).update(initial_state, fields=fields)


def _kept_serializer(serializer_class: type["Serializer[Any]"], *, partial: bool) -> "Serializer[Any]":
    """A serializer for request bodies, with its fields, kept for the next request of this thread.

    DRF copies and binds all fields for each new serializer, which takes ten times longer than the validation itself:
    0.5 ms of CPU for a person. One for each thread, because a field reaches the request through the serializer that it
    is bound to.
    """
    key = (serializer_class, partial)
    serializer = _serializers.by_class.get(key)
    if serializer is None:
        serializer = _serializers.by_class[key] = serializer_class(data=None, partial=partial)
    return serializer


class _Serializers(threading.local):
    def __init__(self) -> None:
        self.by_class: dict[tuple[type[Serializer[Any]], bool], Serializer[Any]] = {}


_serializers = _Serializers()


class OpenViewSet(ApiViewSet[Any]):
    """Routes that anybody may call. No credential is read, so that a stale cookie or token never blocks a sign-in.

    They need no CSRF token either: an HTML form on another site can send neither JSON nor a preflighted request.
    """

    authentication_classes = ()
    permission_classes = (AllowAny,)
    accepts_idempotency_keys = False  # a response is stored for an account, and there is none
    allowed_in_batches = False


def session_user(request: Request) -> User | None:
    """The account of the session cookie on an open route; None if there is none, or a bearer header is sent."""
    # As on other routes: SessionAuthentication ignores the cookie, too.
    if bearer_text(request) is not None:
        return None
    user = get_user(request._request)
    return user if isinstance(user, User) else None


class OwnedViewSet(ApiViewSet[M]):
    """Routes of one owned model. Every query starts at the rows of the account behind the request."""

    model: type[M]
    lookup_url_kwarg: str  # the path's keyword argument with the id of the row
    lookup_value_converter = "id"
    record_name: str  # the JSON key of one record in a response

    def get_queryset(self) -> OwnedQuerySet[M]:
        """The rows of the account. Subclasses may narrow them further."""
        model: Any = self.model
        rows: OwnedQuerySet[M] = model.objects.owned_by(self.owner)
        return rows

    def get_object(self) -> M:
        """The row that the path names. Raises MissingError (404) if the id is malformed, unknown or someone else's."""
        return self.get_queryset().find(self.kwargs[self.lookup_url_kwarg])

    def get_record(self, row_id: UUID) -> Representation:
        """One record of the account as its GET returns it, also from the trash. Raises MissingError."""
        raise NotImplementedError

    def current_record(self) -> Representation:
        """The record that the path names, as its GET returns it. Raises MissingError."""
        return self.get_record(self.get_object().pk)

    def stored_revision(self) -> int | None:
        """The current revision of the row that the path names; None if the account has no such row."""
        model: Any = self.model
        rows = model.objects.owned_by(self.owner).with_id(self.kwargs[self.lookup_url_kwarg])
        revision: int | None = rows.values_list("revision", flat=True).first()
        return revision

    def record_response(self, row_id: UUID, status: int = 200) -> Response:
        """The response `{ <record_name>: record }` with the record's ETag. Raises MissingError."""
        return representation_response(self.record_name, self.get_record(row_id), status)


class SettingsViewSet(ApiViewSet[Any]):
    """Routes whose record is the account's own profile."""

    record_serializer = UserSerializer

    def current_record(self) -> Representation:
        return profile_record(load_profile(user=self.owner))

    def stored_revision(self) -> int | None:
        # From the database: `owner` was loaded before the account lock, so another request may have changed it.
        return load_profile(user=self.owner).settings_revision


ACTIONS_IN_THE_TRASH = frozenset({"restore", "permanent"})
"""The actions that find rows in the trash."""


class TrashViewSet(OwnedViewSet[T]):
    """Routes of a soft-deleted model. Only the actions `restore` and `permanent` find rows in the trash."""

    def get_queryset(self) -> TrashQuerySet[T]:
        """The active rows of the account; for `restore` and `permanent` also deleted rows within their retention."""
        model: Any = self.model
        rows: TrashQuerySet[T] = model.objects.owned_by(self.owner)
        return rows.within_retention(timezone.now()) if self.action in ACTIONS_IN_THE_TRASH else rows.active()

    def get_object(self) -> T:
        """The row that the path names. Raises MissingError."""
        # A viewset that narrows the rows must be asked; for all active rows there is a compiled query.
        narrows = type(self).get_queryset is not TrashViewSet.get_queryset
        if narrows or self.action in ACTIONS_IN_THE_TRASH:
            return super().get_object()
        model: Any = self.model
        row: T = model.objects.find_active(self.owner, self.kwargs[self.lookup_url_kwarg])
        return row
