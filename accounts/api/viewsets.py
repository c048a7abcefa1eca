"""What the routes of all apps are built on: DRF's GenericViewSet, from the account behind the request."""

import threading
from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from django.contrib.auth import get_user
from django.db.models import Model
from django.urls import register_converter
from django.utils import timezone
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

from accounts.api.idempotency import HEADER, REFUSALS, answering_once
from accounts.api.preconditions import RecordView, under_if_match
from accounts.api.route_marks import commits_by_itself, takes_key
from accounts.api.serializers.user import UserSerializer, whole_profile
from accounts.models import User
from accounts.services.profile import stored_profile
from contacts_project.kernel.api.json import Representation, parse_id, record_answer
from contacts_project.kernel.ownership.models import OwnedQuerySet, TrashQuerySet

M = TypeVar("M", bound=Model)


class IdConverter:
    """`<id:person_id>` in a path. What spells no id is the nil id (RFC 9562, section 5.9), which no row has: so it is
    404 like an unknown one, and like that only for who may know."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID:
        return parse_id(value) or UUID(int=0)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")


class _BuiltSerializers(threading.local):
    """The serializers that this thread has read bodies with, each with its fields.

    To copy and bind the fields takes longer than to check a body with them. They are the thread's own: fields find the
    request by the serializer that they are bound to.
    """

    def __init__(self) -> None:
        self.serializers: dict[tuple[type[Serializer[Any]], bool], Serializer[Any]] = {}


_built = _BuiltSerializers()


class ApiViewSet(GenericViewSet[M]):
    """Routes for signed-in accounts. An action may have permissions, parsers or a longer body of its own."""

    max_body_bytes = "MAX_JSON_BYTES"  # the name of a setting
    record_serializer: ClassVar[type["Serializer[Any]"] | None] = None  # of what `current` gives
    keeps_answers = True  # for those who send a POST again under its Idempotency-Key
    in_batches = True  # as an operation of POST /api/batch

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """As DRF's: who calls, and may they. Then the handler is put under the conditions that headers ask for: that
        the record is what the caller has seen (If-Match), that it is carried out once (Idempotency-Key)."""
        super().initial(request, *args, **kwargs)
        name = str(request.method).lower()
        handler: Any = getattr(self, name, None)
        if "If-Match" in request.headers and getattr(handler, "takes_if_match", False):
            handler = under_if_match(cast("RecordView", self), handler, request)
            setattr(self, name, handler)
        if HEADER in request.headers and handler is not None and self.key_refusals(str(request.method), handler):
            self.post = answering_once(self, handler, request)

    def commits_by_itself(self, handler: Any) -> bool:
        """Whether the request in hand is no single transaction, so that none can hold the keeping of its answer."""
        return commits_by_itself(handler)

    @classmethod
    def key_refusals(cls, method: str, handler: Any) -> tuple[type[Exception], ...]:
        """What an Idempotency-Key is refused with, for the API description; nothing where none is taken."""
        return REFUSALS if cls.keeps_answers and takes_key(method, handler) else ()

    @property
    def owner(self) -> User:
        """The signed-in account. OwnData, the default permission, has turned everybody else away."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError("owner is for routes that only signed-in accounts reach")
        return user

    def read_body(self, serializer_class: type["Serializer[Any]"], *, partial: bool = False) -> dict[str, Any]:
        """The body of the request, checked: the validated data. Raises ValidationError."""
        serializer = _built.serializers.get((serializer_class, partial))
        if serializer is None:
            serializer = _built.serializers[serializer_class, partial] = serializer_class(data=None, partial=partial)
        untouched = vars(serializer).copy()
        try:
            serializer.initial_data, serializer._context = self.request.data, {"request": self.request}
            serializer.is_valid(raise_exception=True)
            return dict(serializer.validated_data)
        finally:  # nothing of this request stays for the next one
            fields = serializer.fields
            vars(serializer).clear()
            vars(serializer).update(untouched, fields=fields)


class OpenViewSet(ApiViewSet[Any]):
    """Looks at no credential, so that a stale one is no obstacle to signing in.

    No CSRF token is asked for either: a form of another site can send neither JSON nor a preflighted request.
    """

    authentication_classes = ()
    permission_classes = (AllowAny,)
    keeps_answers = False  # no account is behind the request
    in_batches = False


def session_user(request: Request) -> User | None:
    """The account of the session behind a request to an open route; beside a bearer header no session counts."""
    if request.headers.get("Authorization"):
        return None
    user = get_user(request._request)
    return user if isinstance(user, User) else None


class OwnedViewSet(ApiViewSet[M]):
    """Routes of one owned model: whatever they look for is among the rows of the caller.

    `lookup_url_kwarg` names the id in the path, of which `get_object` gives the row.
    """

    model: type[M]
    lookup_url_kwarg: str
    lookup_value_converter = "id"
    record_name: str  # of one record in an answer

    def get_queryset(self) -> OwnedQuerySet[M]:
        """The rows of the caller. Overrides narrow it down."""
        model: Any = self.model
        rows: OwnedQuerySet[M] = model.objects.owned_by(self.owner)
        return rows

    def get_object(self) -> M:
        """The row with the id of the path. Raises MissingError, which is 404, for an id that is none as well."""
        return self.get_queryset().find(self.kwargs[self.lookup_url_kwarg])

    def shown(self, row_id: UUID) -> Representation:
        """One of the caller's records as its GET shows it, in or out of the trash. Raises MissingError."""
        raise NotImplementedError

    def current(self) -> Representation:
        """The same for the record of the path."""
        return self.shown(self.get_object().pk)

    def stored_revision(self) -> int | None:
        """The revision of the row that the path names, now; None where the caller has none."""
        model: Any = self.model
        rows = model.objects.owned_by(self.owner).with_id(self.kwargs[self.lookup_url_kwarg])
        found: int | None = rows.values_list("revision", flat=True).first()
        return found

    def answer_record(self, row_id: UUID, status: int = 200) -> Response:
        """`{ <record_name>: record }` with its ETag. Raises MissingError."""
        return record_answer(self.record_name, self.shown(row_id), status)


class SettingsViewSet(ApiViewSet[Any]):
    """Routes whose record is the account's own profile."""

    record_serializer = UserSerializer

    def current(self) -> Representation:
        """The profile as it is now."""
        return whole_profile(stored_profile(user=self.owner))

    def stored_revision(self) -> int | None:
        """The revision of what the profile shows, now."""
        return stored_profile(user=self.owner).settings_revision


class TrashViewSet(OwnedViewSet[M]):
    """Routes of a kind that is soft-deleted: `restore` and `permanent` reach into the trash, all others do not."""

    def get_queryset(self) -> TrashQuerySet[M]:
        """The active rows of the caller, for those two also what is deleted and can still be restored."""
        model: Any = self.model
        rows: TrashQuerySet[M] = model.objects.owned_by(self.owner)
        return rows.within_retention(timezone.now()) if self.action in {"restore", "permanent"} else rows.active()
