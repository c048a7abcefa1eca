"""Stored counts of an account, and how many bytes it stores in cards and photos: the limit.

Each write of a counted column adds the bytes that it writes to one row of AccountCount; a write without cards adds none
and asks nothing. What is removed or replaced is not subtracted: so no place that deletes, and no cascade, can be
forgotten, and the number is never less than what is stored. Only where it exceeds the limit, the rows are measured, at
most once a minute in a process, and the number becomes what they hold. So the limit holds under the account lock, and
no write of an account below it sums over its rows.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.db.models import Func, Sum

from contacts_project.kernel.errors import PlanLimitError
from contacts_project.kernel.ownership.models import OwnedQuerySet
from contacts_project.kernel.texts import define_text

M = TypeVar("M", bound=models.Model)

CARD_BYTES, _PHOTO_BYTES = "card_bytes", "photo_bytes"
_MEASURE_AGAIN_SECONDS = 60.0
#: When this process last measured the rows of an account that seemed full. Full accounts are few.
_measured_at: dict[UUID, float] = {}


class AccountCount(models.Model):
    """The number of active rows (or bytes) of a kind and key in an account; only triggers write it (people.counts).

    Except the bytes of cards, which are counted where they are written (`add_bytes`).
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=36)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "kind", "key"], name="account_count_once")]
        # For sums over all accounts; kinds without keys have an empty key.
        indexes = [models.Index(fields=["kind", "number"], name="account_count_whole", condition=models.Q(key=""))]


class StorageLimitError(PlanLimitError):
    """The account stores as many bytes as this service allows."""

    message = define_text(
        "storage_limit",
        "The cards and photos of this account have reached the limit of %(limit)s MiB. Nothing was stored: remove "
        "people, photos or pending cards for good, and try again in a minute.",
    )


class OctetLength(Func):
    """The bytes of a text, or of JSON as text."""

    output_field = models.BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="OCTET_LENGTH(CAST(%(expressions)s AS text))", **context)


_measures: list[Callable[[UUID], int]] = []


class CountedQuerySet(OwnedQuerySet[M]):
    """Rows whose column `COUNTED_COLUMN` counts. Every write of it by `save`, `update` or in bulk is counted."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        created = super().bulk_create(rows, *args, **kwargs)
        count_rows(rows)
        return created

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows, columns = list(objs), list(fields)
        number = super().bulk_update(rows, columns, batch_size)
        if self.model.COUNTED_COLUMN in columns:  # type: ignore[attr-defined]  # of each model that has this queryset
            count_rows(rows)
        return number

    def update(self, **values: object) -> int:
        owner_id, value = self.owner_id, values.get(self.model.COUNTED_COLUMN)  # type: ignore[attr-defined]  # as above
        number = super().update(**values)
        # Not the expression by which Django updates many rows, which bulk_update counts.
        if number and owner_id and value and isinstance(value, str | list):
            add_bytes(owner_id, number * _size(value))
        return number


class CountedModel(models.Model):
    """A row with a counted column."""

    COUNTED_COLUMN: str

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        columns = kwargs.get("update_fields")
        if columns is None or self.COUNTED_COLUMN in columns:
            count_rows([self])


def register_counted_bytes(model: type[models.Model], column: str, empty: object) -> None:
    """Count the bytes of this column in the rows of an account, except where it is `empty`."""

    def measure(owner_id: UUID) -> int:
        owned: Any = model
        rows = owned.objects.owned_by(owner_id).exclude(**{column: empty})
        return int(rows.aggregate(total=Sum(OctetLength(column)))["total"] or 0)

    _measures.append(measure)


def count_rows(rows: Iterable[Any]) -> None:
    """Add what the rows hold. Raises StorageLimitError."""
    sizes: dict[UUID, int] = defaultdict(int)
    for row in rows:
        # From __dict__: a deferred column was not written.
        if value := vars(row).get(row.COUNTED_COLUMN):
            sizes[row.owner_id] += _size(value)
    for owner_id, size in sizes.items():
        add_bytes(owner_id, size)


def _size(value: object) -> int:
    # Not less than what the databases store: they escape no more than this.
    return len(value.encode()) if isinstance(value, str) else len(json.dumps(value))


def add_bytes(owner_id: UUID, added: int) -> None:
    """Count bytes of cards that were just written, and check the limit; 0 for a photo, which triggers have counted.

    Must be called under the account lock. Raises StorageLimitError, so that the write is rolled back.
    """
    limit = settings.MAX_ACCOUNT_BYTES
    row = AccountCount.objects.filter(owner_id=owner_id, kind=CARD_BYTES, key="")
    photos = AccountCount.objects.filter(owner_id=owner_id, kind=_PHOTO_BYTES, key="").values("number")
    if _add_if_there_is_room(owner_id, added, limit):  # the usual case
        return
    counted = row.values_list("number", flat=True).first()
    now = time.monotonic()
    if now - _measured_at.get(owner_id, -_MEASURE_AGAIN_SECONDS) < _MEASURE_AGAIN_SECONDS:
        raise _limit_error(limit)
    cards = measure_cards(owner_id)  # with what was just written
    if counted is not None or cards - added > limit:
        _measured_at[owner_id] = now
    if cards + (photos.values_list("number", flat=True).first() or 0) > limit:
        raise _limit_error(limit)
    if counted is None:
        new = AccountCount(owner_id=owner_id, kind=CARD_BYTES, key="", number=cards)
        AccountCount.objects.bulk_create([new], ignore_conflicts=True)
    else:
        row.update(number=cards)


def _add_if_there_is_room(owner_id: UUID, added: int, limit: int) -> bool:
    # As SQL, because the ORM takes 1 ms to build this: a third of a device's PUT of a new card.
    table = AccountCount._meta.db_table
    photos = f'SELECT p.number FROM "{table}" p WHERE p.owner_id = %s AND p.kind = %s AND p.key = %s'  # noqa: S608 - its own name
    update = (
        f'UPDATE "{table}" SET number = number + %s WHERE owner_id = %s AND kind = %s AND key = %s'  # noqa: S608 - as above
        f" AND number + COALESCE(({photos}), 0) + %s <= %s"
    )
    owner_field: Any = AccountCount._meta.get_field("owner")
    owner = owner_field.get_db_prep_value(owner_id, connection)
    with connection.cursor() as cursor:
        cursor.execute(update, [added, owner, CARD_BYTES, "", owner, _PHOTO_BYTES, "", added, limit])
        return bool(cursor.rowcount)


def _limit_error(limit: int) -> StorageLimitError:
    return StorageLimitError(StorageLimitError.message.format(limit=limit >> 20))


def measure_cards(owner_id: UUID) -> int:
    """The bytes of cards that the account stores: a sum over its rows."""
    return sum(measure(owner_id) for measure in _measures)


def undercounted_accounts() -> list[str]:
    """The accounts that store more bytes of cards than was counted, for `doctor --deep`."""
    rows = AccountCount.objects.filter(kind=CARD_BYTES, key="").values_list("owner_id", "number")
    suspects = [owner_id for owner_id, number in rows.iterator() if measure_cards(owner_id) > number]
    # Again, since a write may have come between the two.
    again = dict(rows.filter(owner_id__in=suspects))
    return [str(owner_id) for owner_id in suspects if measure_cards(owner_id) > again.get(owner_id, 0)]
