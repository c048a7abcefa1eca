"""The state of a client: which text of each card a device has, and which properties of vCard it knows.

A text is recorded when it is sent to the device, and read when the device sends the card back: what it puts is a change
of that text. A former text of a card is kept while some device has it.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.expressions import IdHex
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.texts import define_text
from dav.authentication import Credentials
from dav.cards.texts import etag_of, revision_of, unpack, with_revision, without_categories
from dav.models import BookCard, CardRow, Device, FormerText, GivenCard, ListedAgain
from dav.preconditions import Conditions, DavStatusError
from people.vcard import CardText

_NEVER_GIVEN = define_text("dav_never_given", "This device has never read this card. Read it first.")
# The row comes with each request. Programs send up to a hundred names; what is beyond counts as never sent, and stays.
_MAX_NAMES, _MAX_NAME_LENGTH = 1000, 100
_FORM_OF_REV = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class ClientCard:
    """A card as a device has it: its text, and the file name of the picture in it."""

    source: CardText
    photo: str


def find_client_card(device: Credentials, row: BookCard, current: CardText, conditions: Conditions) -> ClientCard:
    """What the device's card is a change of: the card as it is if the condition says so, else the text that the device
    has. Raises DavStatusError (412) if it never had one. `current` is the text of the card as it is."""
    as_it_is = ClientCard(current, row.shown_photo)
    if conditions.if_match is not None and "*" not in conditions.if_match:
        return as_it_is
    given = GivenCard.objects.owned_by(device.owner).filter(token=device.token, card=row).first()
    if given is None and conditions.if_match is None and conditions.if_none_match is None:
        raise DavStatusError(412, words=_NEVER_GIVEN)
    if given is None or given.etag in {row.etag, row.plain_etag}:
        return as_it_is
    former = FormerText.objects.owned_by(device.owner).filter(card=row, etag=given.etag).first()
    return ClientCard(CardText(unpack(former.text)), former.photo) if former else as_it_is


def record_sent_texts(device: Credentials, sent: Sequence[tuple[BookCard | CardRow, str]]) -> None:
    """Remember the texts of a response: the card of each as it was read, and the ETag that stands for its text. Called
    before it is sent: a device may have what it was not told of.

    Writes nothing for texts that the device had already.
    """
    owner_id, token_id = device.owner.pk, device.token.pk
    ids = [card.pk for card, _ in sent]
    known: dict[str, str] = dict(_etags_of_device.rows(owner_id=owner_id, token_id=token_id, card_ids=ids))
    new = [(card, etag) for card, etag in sent if known.get(card.pk.hex) != etag]
    if not new:
        return
    with account_lock(owner_id):
        ids = [card.pk for card, _ in new]
        if device.is_revoked():
            return  # while the response was made
        # Not of what was removed for good meanwhile: nothing of that is kept.
        present = BookCard.objects.owned_by(owner_id).filter(pk__in=ids).exclude(etag="")
        etags = {key: {etag, plain_etag} for key, etag, plain_etag in present.values_list("pk", "etag", "plain_etag")}
        # The card may have changed since its text was read, and nobody kept the text, which no device had.
        former = [(card, etag, card.text) for card, etag in new if card.pk in etags and etag not in etags[card.pk]]
        _store_former_texts(device, former)
        _store_etags(device, [(card.pk, etag) for card, etag in new if card.pk in etags])
        if device.listed_again_revision:
            # Of a text that the card has no more, the device was told for nothing.
            again = ListedAgain.objects.owned_by(owner_id).filter(token=token_id, card__in=ids)
            again.exclude(etag__in={etag for pair in etags.values() for etag in pair}).delete()
        if former_ids := [card_id for card_id in ids if card_id.hex in known]:
            drop_former_texts(owner_id, former_ids)


@compiled_query
def _etags_of_device(owner_id: UUID, token_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    rows = GivenCard.objects.owned_by(owner_id).filter(token=token_id, card__in=card_ids)
    return rows.values_list(IdHex("card_id"), "etag")


def record_put_text(
    device: Credentials, card: BookCard, etag: str, text: bytes | None, *, is_first: bool = False
) -> None:
    """Remember the text that a device has put, inside of its write: that of the card, or another one, packed.

    `is_first`: of a card that no device had yet."""
    owner_id, own = device.owner.pk, {card.etag, card.plain_etag}
    if etag not in own:
        _store_former_texts(device, [(card, etag, text or card.text)])
    _store_etags(device, [(card.pk, etag)])
    if device.listed_again_revision:
        again = ListedAgain.objects.owned_by(owner_id).filter(token=device.token, card=card.pk)
        again.exclude(etag__in=own).delete()
    if not is_first:
        drop_former_texts(owner_id, [card.pk])


def _store_former_texts(
    device: Credentials, texts: Iterable[tuple[BookCard | CardRow, str, bytes | memoryview]]
) -> None:
    """Keep texts that the device has and that are none of the card any more."""
    rows = [
        FormerText(owner_id=device.owner.pk, card_id=card.pk, etag=etag, text=text, photo=card.shown_photo)
        for card, etag, text in texts
    ]
    if rows:
        FormerText.objects.bulk_create(rows, ignore_conflicts=True)


def _store_etags(device: Credentials, etags: Iterable[tuple[UUID, str]]) -> None:
    now, owner_id, token_id = timezone.now(), device.owner.pk, device.token.pk
    rows = [(new_id(), now, now, owner_id, token_id, card_id, etag) for card_id, etag in etags]
    GivenCard.as_tuples.bulk_create(
        rows, update_conflicts=True, unique_fields=("token", "card"), update_fields=("etag",)
    )


def keep_former_texts(owner: User | UUID, cards: Sequence[BookCard], *, but_of: UUID | None = None) -> None:
    """Keep the texts of these cards, which are about to change, where a device has them. `but_of` is the token of one
    that has sent another text itself, and has this one no more."""
    by_id = {card.pk: card for card in cards}
    owner_id = owner.pk if isinstance(owner, User) else owner
    etags = (
        _etags_of_others.values(owner_id=owner_id, card_ids=list(by_id), token_id=but_of)
        if but_of
        else _etags_of_devices(owner_id, list(by_id))
    )
    kept = [
        FormerText(owner_id=card.owner_id, card=card, etag=etag, text=card.text, photo=card.shown_photo)
        for card, etag in ((by_id[card_id], etag) for card_id, etag in etags)
        if etag in {card.etag, card.plain_etag}
    ]
    FormerText.objects.bulk_create(kept, ignore_conflicts=True)


def _etags_of_devices(owner_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    return GivenCard.objects.owned_by(owner_id).filter(card__in=card_ids).values_list("card_id", "etag").distinct()


@compiled_query
def _etags_of_others(owner_id: UUID, card_ids: Sequence[UUID], token_id: UUID) -> Rows:
    return _etags_of_devices(owner_id, card_ids).exclude(token=token_id)


def drop_former_texts(owner_id: UUID, card_ids: Sequence[UUID]) -> None:
    """Delete the former texts of these cards that no device has any more."""
    if keys := [key for (key,) in _texts_of_nobody.values(owner_id=owner_id, card_ids=card_ids)]:
        FormerText.objects.owned_by(owner_id).filter(pk__in=keys).delete()


@compiled_query
def _texts_of_nobody(owner_id: UUID, card_ids: Sequence[UUID]) -> Rows:
    given = GivenCard.objects.owned_by(owner_id).filter(card=OuterRef("card"), etag=OuterRef("etag"))
    return FormerText.objects.owned_by(owner_id).filter(~Q(Exists(given)), card__in=card_ids).values_list("pk")


def list_again(device: Credentials, row: BookCard, *, etag: str, revision: int) -> None:
    """List a card whose text the device has wrong in its next sync, with a newer REV, and so an ETag that is new to it.

    `etag` is that of its card, `revision` that of the open write."""
    rows = ListedAgain.objects.owned_by(device.owner)
    former = rows.filter(token=device.token, card=row).values_list("revised", flat=True).first() or ""
    text = unpack(row.text)
    shown = without_categories(text) if device.has_group_cards and not row.is_group else text
    revised = _later_than(revision_of(shown), former)
    shown_etag = etag_of(with_revision(shown, revised), row.shown_photo)
    values = {"etag": etag, "shown_etag": shown_etag, "revised": revised, "revision": revision}
    ListedAgain.objects.bulk_create(
        [ListedAgain(owner=device.owner, token=device.token, card=row, **values)],
        update_conflicts=True,
        unique_fields=["token", "card"],
        update_fields=[*values],
    )


def _later_than(*revisions: str) -> str:
    """The value of a REV that is later than these: now, if that is."""
    latest = timezone.now().astimezone(dt.UTC)
    for text in revisions:
        digits = "".join(filter(str.isdigit, text))[:14]
        try:
            when = dt.datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
        except ValueError:
            continue
        latest = max(latest, when + dt.timedelta(seconds=1))
    return latest.strftime(_FORM_OF_REV)


def known_properties(device: Credentials) -> set[str]:
    """The names of the properties and parameters (`names_in`) that a device had ever sent when the request began."""
    known = set(device.row.sent_properties) if device.row else set()
    return known - {"CATEGORIES"} if device.has_group_cards else known


def record_properties(device: Credentials, names: Collection[str]) -> None:
    """Remember the names of the properties and parameters that the device has sent."""
    if device.row is not None and set(device.row.sent_properties).issuperset(names):
        return
    row = Device.objects.owned_by(device.owner).filter(token=device.token).first()
    known = set(row.sent_properties) if row else set()
    new = sorted(name for name in set(names) - known if len(name) <= _MAX_NAME_LENGTH)[: _MAX_NAMES - len(known)]
    if row is not None and not new:
        return
    Device.objects.bulk_create(
        [
            Device(
                owner=device.owner,
                token=device.token,
                last_seen_at=timezone.now(),
                sent_properties=sorted(known.union(new)),
            )
        ],
        update_conflicts=True,
        unique_fields=["token"],
        update_fields=["sent_properties"],
    )
