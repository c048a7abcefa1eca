"""The texts that cards had before, kept while some device has them."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from dav.models import BookCard, FormerText, GivenCard


def keep_former_texts(owner: User | UUID, cards: Sequence[BookCard], *, but_of: UUID | None = None) -> None:
    """Keep the texts of these cards, which are about to change, where a device has them. `but_of` is the token of one
    that has sent another text itself, and has this one no more."""
    by_id = {card.pk: card for card in cards}
    owner_id = owner.pk if isinstance(owner, User) else owner
    given = (
        _given_to_others.values(owner_id=owner_id, card_ids=list(by_id), token_id=but_of)
        if but_of
        else _given(owner_id, list(by_id))
    )
    kept = [
        FormerText(owner_id=card.owner_id, card=card, etag=etag, text=card.text, photo=card.shown_photo)
        for card, etag in ((by_id[card_id], etag) for card_id, etag in given)
        if etag in {card.etag, card.plain_etag}
    ]
    FormerText.objects.bulk_create(kept, ignore_conflicts=True)


def _given(owner_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    return GivenCard.objects.owned_by(owner_id).filter(card__in=card_ids).values_list("card_id", "etag").distinct()


@compiled_query
def _given_to_others(owner_id: UUID, card_ids: Sequence[UUID], token_id: UUID) -> Rows:
    return _given(owner_id, card_ids).exclude(token=token_id)


def drop_former_texts(owner_id: UUID, card_ids: Sequence[UUID]) -> None:
    """Delete the former texts of these cards that no device has any more."""
    _without_device.delete(owner_id=owner_id, card_ids=card_ids)


@compiled_query
def _without_device(owner_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    given = GivenCard.objects.owned_by(owner_id).filter(card=OuterRef("card"), etag=OuterRef("etag"))
    return FormerText.objects.owned_by(owner_id).filter(~Q(Exists(given)), card__in=card_ids)
