"""What follows when a device's write to a card is refused, in whole or in part.

The refusal is kept for the owner, since programs show it seldom, and the device is told of the card again.
"""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from contacts_project.kernel.texts import Text, define_text
from dav.authentication import Credentials
from dav.cards.client_state import list_again
from dav.models import BookCard, Refusal
from dav.preconditions import DavStatusError
from dav.resources.uris import DavPath, book_path, is_card_name, member_path
from dav.signals import card_refused

_REFUSED = define_text("dav_refused", "The request was refused.")
# Programs repeat a write when the card has changed meanwhile: that is how conditions work, and nothing is lost. They
# read the card again, since its ETag is not the one that they have.
_CONDITIONAL = 412
#: How many refusals of one device are kept.
MAX_REFUSALS = 1000
_MAX_HREF = 1000


def handle_refusal(device: Credentials, place: DavPath, method: str, error: DavStatusError) -> None:
    """Keep the refusal of a request, and list its card again; nothing of paths that are no cards of this account.

    Raises AccountGoneError.
    """
    owner = device.owner
    name = place.card_name(owner.pk) or ""
    if not is_card_name(name) or error.status in {401, 404, _CONDITIONAL} or method not in {"PUT", "DELETE", "MOVE"}:
        return
    # What was rolled back has not raised it.
    try:
        owner.refresh_from_db(fields=["revision"])
    except User.DoesNotExist:
        raise AccountGoneError from None
    if method != "MOVE":
        _list_again(device, name)
    row = BookCard.objects.owned_by(owner).in_book().filter(name=name).first()
    href = member_path(book_path(owner.pk), name)
    reason = error.words if isinstance(error.words, Text) else _REFUSED
    record_refusal(device, href, reason, person_id=row.person_id if row else None)


def _list_again(device: Credentials, name: str) -> None:
    column = "plain_etag" if device.has_group_cards else "etag"
    with account_write(device.owner) as write:
        row = BookCard.objects.owned_by(device.owner).in_book().filter(name=name).first()
        if row is None or device.is_revoked():
            return
        list_again(device, row, etag=str(getattr(row, column)), revision=write.revision)


def record_refusal(device: Credentials, href: str, reason: Text, *, person_id: UUID | None = None) -> None:
    """Remember why a request for this href was refused, or what of a card was left out."""
    rows = Refusal.objects.owned_by(device.owner).filter(token=device.token)
    with account_lock(device.owner):
        found = rows.filter(href=href[:_MAX_HREF])
        if device.is_revoked():
            return
        if found.exists():
            found.update(reason=reason.to_stored(), person=person_id)
        elif rows.count() < MAX_REFUSALS:
            Refusal.objects.create(
                owner=device.owner,
                token=device.token,
                href=href[:_MAX_HREF],
                person_id=person_id,
                reason=reason.to_stored(),
            )
            told = {"token_id": device.token.pk, "device_name": device.token.name, "now": timezone.now()}
            transaction.on_commit(partial(card_refused.send, sender=Refusal, owner_id=device.owner.pk, **told))


def forget_refusal(device: Credentials, href: str) -> None:
    """The device has succeeded with this href."""
    if not device.has_refusals:
        return
    Refusal.objects.owned_by(device.owner).filter(token=device.token, href=href[:_MAX_HREF]).delete()
