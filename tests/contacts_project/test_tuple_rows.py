"""Many rows of one table are written as tuples, as Django's bulk_create would write them."""

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from accounts.models import ApiToken, User
from contacts_project.kernel.database.tuple_rows import Row, TupleRows
from dav.models import BookCard, GivenCard
from tests.builders import make_token

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("number", [1, 2, 700])
def test_rows_as_tuples_are_those_of_django(alice: User, mallory: User, number: int) -> None:
    make_token(alice)
    token, first, later = ApiToken.unscoped.get(), *(dt.datetime(2026, 3, n, 1, 2, 3, n, dt.UTC) for n in (1, 2))
    revisions: Any = dict.fromkeys(("read_revision", "changed_revision", "plain_changed_revision"), 1)
    cards = [BookCard(owner=alice, name=f"{n}.vcf", text=b"", **revisions) for n in range(number)]
    BookCard.objects.bulk_create(cards)
    columns = ("id", "created_at", "updated_at", "owner", "token", "card", "etag")
    of_given, of_etags = GivenCard.as_tuples, TupleRows("owner", "card", "etag")
    of_etags.model = GivenCard
    of_token: Any = {"unique_fields": ("token", "card"), "update_fields": ("etag", "updated_at")}

    def rows(at: dt.datetime, etag: str) -> list[Row]:
        return [(uuid4(), at, at, alice.pk, token.pk, card.pk, f"{etag}{n}") for n, card in enumerate(cards)]

    of_given.bulk_create([])
    of_given.bulk_create(inserted := rows(first, "a"))
    stored = list(GivenCard.objects.owned_by(alice).order_by("pk").values_list(*columns))
    assert stored == sorted(map(tuple, inserted), key=lambda row: str(row[0]))
    # The same cards again: only what is to be updated is.
    of_given.bulk_create(rows(later, "b"), update_conflicts=True, **of_token)
    again = list(GivenCard.objects.owned_by(alice).order_by("pk").values_list(*columns))
    assert again == [(*row[:2], later, *row[3:6], row[6].replace("a", "b")) for row in stored]
    with pytest.raises(IntegrityError), transaction.atomic():
        of_given.bulk_create(rows(later, "c"))
    of_etags.delete([(alice.pk, cards[0].pk, "b0"), (mallory.pk, cards[-1].pk, "b")])
    assert GivenCard.objects.owned_by(alice).count() == number - 1
