"""Rows of an account, and the one way to query them."""

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError

M = TypeVar("M", bound=models.Model)
Q = TypeVar("Q")


class UnscopedQueryError(Exception):
    """A query on owned rows that names no owner. Jobs over all accounts say `Model.unscoped`."""


class OwnedQuerySet(models.QuerySet[M, M]):
    """Rows of owned models."""

    def owned_by(self, owner: Any) -> Self:
        """The rows of `owner`: a user or the id of one."""
        owner_id = getattr(owner, "pk", owner)
        rows: Any = self.filter(owner_id=owner_id)
        rows._hints = {**rows._hints, "owner_id": owner_id}  # as with_owner_hint, without another copy
        return cast("Self", rows)

    def with_owner_hint(self, owner_id: UUID | None) -> Self:
        """The same rows, all of which are this account's. The hint stays with what is made of the queryset."""
        rows: Any = self.all()
        rows._hints = {**rows._hints, "owner_id": owner_id}
        return cast("Self", rows)

    @property
    def owner_id(self) -> UUID | None:
        """Whose rows these are, where that has been said."""
        rows: Any = self
        return cast("UUID | None", rows._hints.get("owner_id"))

    def with_id(self, key: object) -> Self:
        """The row with the id that `key` is or spells; none where it spells none."""
        row_id = key if isinstance(key, UUID) else parse_id(key)
        return self.none() if row_id is None else self.filter(pk=row_id)

    def find(self, key: object) -> M:
        """The row with the id that `key` is or spells. Raises MissingError, which is 404 in the API."""
        row = self.with_id(key).first()
        if row is None:
            raise MissingError
        return row


class UnscopedManager(models.Manager[M], Generic[M, Q]):
    """`Model.unscoped`: rows of all accounts, for jobs, the admin and Django itself; never for a request's data."""

    def __init__(self, queryset: type[Q] | None = None) -> None:
        super().__init__()
        self.queryset = queryset

    def get_queryset(self) -> Any:
        default: Any = self.model._default_manager  # related managers are made without arguments
        queryset: Any = self.queryset or default.queryset
        return queryset(self.model, using=self._db)

    def rows(self) -> Any:
        """All rows, as the model's own queryset; typed Any, since the mypy plugin loses a manager's second type."""
        return self.get_queryset()


class OwnedManager(Generic[M, Q]):
    """`Model.objects`: takes nothing but `owned_by(owner)` and inserts; all else raises UnscopedQueryError.

    No subclass of Django's Manager: nothing leaks in from there, and `owned_by` keeps the type of the queryset.
    """

    model: type[M]

    def __init__(self, queryset: type[Q]) -> None:
        self.queryset = queryset

    def contribute_to_class(self, model: type[M], name: str) -> None:
        """Called by Django as it builds the model."""
        self.model = model
        setattr(model, name, self)

    def owned_by(self, owner: Any) -> Q:
        """The rows of `owner` (a user or the id of one), as the model's own queryset."""
        return cast("Q", self._rows().owned_by(owner))

    @cached_property
    def active_rows(self) -> CompiledQuery:
        """The active rows with some ids, by a statement that is written once: asked by `owner_id` and `row_ids`."""

        def rows(owner_id: UUID, row_ids: Collection[UUID]) -> Any:
            owned: Any = self.owned_by(owner_id)
            return (owned.active() if hasattr(owned, "active") else owned).filter(pk__in=row_ids)

        return CompiledQuery(rows)

    def create(self, **kwargs: Any) -> M:
        return cast("M", self._rows().create(**kwargs))

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        return cast("list[M]", self._rows().bulk_create(objs, *args, **kwargs))

    def _rows(self) -> Any:
        queryset: Any = self.queryset
        return queryset(self.model)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnscopedQueryError(f"{self.model.__name__}.objects needs owned_by(owner); jobs use .unscoped.")


def owner_without_index() -> Any:
    """`owner` for large tables, where another index begins with it.

    One of its own would be a second way to the rows: PostgreSQL takes it while it has no statistics, and reads all of
    the account.
    """
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", editable=False, db_index=False
    )


class OwnedModel(models.Model):
    """A row of one account. Subclasses declare `unscoped` (first: Django's default) and `objects` of their queryset."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    owner_id: UUID

    class Meta:
        abstract = True
