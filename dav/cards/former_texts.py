"""The texts that cards had before, kept while some device has them."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from accounts.models import User
from dav.models import BookCard, FormerText, GivenCard


def keep_former_texts(owner: User | UUID, cards: Sequence[BookCard]) -> None:
    """Keep the texts of these cards, which are about to change, where a device has them."""
    by_id = {card.pk: card for card in cards}
    given = GivenCard.objects.owned_by(owner).filter(card__in=by_id).values_list("card_id", "etag").distinct()
    kept = [
        FormerText(
            owner_id=by_id[card_id].owner_id,
            card=by_id[card_id],
            etag=etag,
            text=by_id[card_id].text,
            photo=by_id[card_id].shown_photo,
        )
        for card_id, etag in given
        if etag in {by_id[card_id].etag, by_id[card_id].plain_etag}
    ]
    FormerText.objects.bulk_create(kept, ignore_conflicts=True)


def drop_former_texts(owner_id: UUID, card_ids: Sequence[UUID]) -> None:
    """Delete the former texts of these cards that no device has any more."""
    given = GivenCard.objects.owned_by(owner_id).filter(card=OuterRef("card"), etag=OuterRef("etag"))
    FormerText.objects.owned_by(owner_id).filter(~Q(Exists(given)), card__in=card_ids).delete()
