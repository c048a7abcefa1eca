"""What each device has of each card: recorded when a text is sent, and read when the device sends the card back."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.ids import IdHex
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_lock
from dav.authentication import Credentials
from dav.cards.former_texts import drop_former_texts
from dav.cards.shown import ShownCard
from dav.models import BookCard, FormerText, GivenCard, ListedAgain


@dataclass(frozen=True)
class SentText:
    """A text that a device was sent, or sent itself: the card as it was read, the ETag that stands for the text, and
    the packed text if it is not that of the card."""

    card: BookCard | ShownCard
    etag: str
    text: bytes | None = None


def record_given(device: Credentials, sent: Sequence[SentText]) -> None:
    """Remember the texts of a response. Called before it is sent: a device may have what it was not told of.

    Writes nothing for texts that the device had already.
    """
    owner_id, token_id = device.owner.pk, device.token.pk
    ids = [text.card.pk for text in sent]
    known: dict[str, str] = dict(_given.rows(owner_id=owner_id, token_id=token_id, card_ids=ids))
    new = [text for text in sent if known.get(text.card.pk.hex) != text.etag]
    if not new:
        return
    with account_lock(owner_id):
        ids = [text.card.pk for text in new]
        if device.is_revoked():
            return  # while the response was made
        # Not of what was removed for good meanwhile: nothing of that is kept.
        present = BookCard.objects.owned_by(owner_id).filter(pk__in=ids).exclude(etag="")
        etags = {key: {etag, plain_etag} for key, etag, plain_etag in present.values_list("pk", "etag", "plain_etag")}
        # The card may have changed since its text was read, and nobody kept the text, which no device had.
        _store(device, [(text, etags[text.card.pk]) for text in new if text.card.pk in etags])
        if device.told_again_revision:
            # Of a text that the card has no more, the device was told for nothing.
            again = ListedAgain.objects.owned_by(owner_id).filter(token=token_id, card__in=ids)
            again.exclude(etag__in={etag for pair in etags.values() for etag in pair}).delete()
        if former := [card_id for card_id in ids if card_id.hex in known]:
            drop_former_texts(owner_id, former)


@compiled_query
def _given(owner_id: UUID, token_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    rows = GivenCard.objects.owned_by(owner_id).filter(token=token_id, card__in=card_ids)
    return rows.values_list(IdHex("card_id"), "etag")


def record_put(device: Credentials, sent: SentText, *, is_first: bool) -> None:
    """Remember the text that a device has put, inside of its write. `is_first`: of a card that no device had yet."""
    owner_id, token, card = device.owner.pk, device.token, sent.card
    _store(device, [(sent, {card.etag, card.plain_etag})])
    if device.told_again_revision:
        again = ListedAgain.objects.owned_by(owner_id).filter(token=token, card=card.pk)
        again.exclude(etag__in=(card.etag, card.plain_etag)).delete()
    if not is_first:
        drop_former_texts(owner_id, [card.pk])


def _store(device: Credentials, sent: Sequence[tuple[SentText, set[str]]]) -> None:
    """Store which text of each card the device has, and the text itself where it is none of the card's own ETags."""
    owner_id = device.owner.pk
    former = [
        FormerText(
            owner_id=owner_id, card_id=t.card.pk, etag=t.etag, text=t.text or t.card.text, photo=t.card.shown_photo
        )
        for t, own in sent
        if t.etag not in own
    ]
    if former:
        FormerText.objects.bulk_create(former, ignore_conflicts=True)
    now = timezone.now()
    rows = [(new_id(), now, now, owner_id, device.token.pk, t.card.pk, t.etag) for t, _ in sent]
    GivenCard.as_tuples.bulk_create(
        rows, update_conflicts=True, unique_fields=("token", "card"), update_fields=("etag",)
    )
