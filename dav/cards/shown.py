"""Cards as they are shown: what their texts and properties are made from. Lists of them are long."""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from itertools import starmap
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from dav.models import BookCard
from dav.xml import dav


class ShownCard(NamedTuple):
    """Of a BookCard what is shown. To build an instance of the model takes as long as to make its response element.

    The text and the times are there only if they were asked for.
    """

    pk: UUID
    name: str
    photo: str
    original: str
    etag: str
    plain_etag: str
    is_group: bool
    text: bytes = b""
    updated_at: dt.datetime | None = None
    created_at: dt.datetime | None = None

    @property
    def shown_photo(self) -> str:
        return self.original or self.photo


_COLUMNS = ("id", "name", "photo", "original", "etag", "plain_etag", "is_group")
_COLUMNS_WITH_TEXT = (*_COLUMNS, "text")
_TIMES = frozenset({dav("getlastmodified"), dav("creationdate")})


def needs_times(properties: Collection[str]) -> bool:
    """Whether one of these properties is a time, which few programs ask for."""
    return not _TIMES.isdisjoint(properties)


def read_shown(rows: QuerySet[BookCard], properties: Collection[str], *, with_text: bool = True) -> Iterator[ShownCard]:
    """The cards of these rows, with what these properties are made from."""
    columns: tuple[str, ...] = _COLUMNS_WITH_TEXT if with_text else _COLUMNS
    if needs_times(properties):
        columns = (*_COLUMNS_WITH_TEXT, "updated_at", "created_at")
    return starmap(ShownCard, rows.defer(None).values_list(*columns))


def find_row(owner: User, name: str) -> BookCard | None:
    """The card of this name, whether it is in the book or has left."""
    row: BookCard | None = _card_of_name.instance(owner_id=owner.pk, name=name)
    return row


@compiled_query
def _card_of_name(owner_id: UUID, name: str) -> Rows:
    return BookCard.objects.owned_by(owner_id).filter(name=name)


def read_named(owner_id: UUID, names: Sequence[str]) -> Iterator[ShownCard]:
    """The cards in the book with these names, groups included, without times."""
    return starmap(ShownCard, _cards_of_names.values(owner_id=owner_id, names=names))


@compiled_query
def _cards_of_names(owner_id: UUID, names: Sequence[str]) -> Rows:
    return BookCard.objects.owned_by(owner_id).in_book().filter(name__in=names).values_list(*_COLUMNS_WITH_TEXT)
