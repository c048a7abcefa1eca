"""What devices sent and did not get: kept for their owner, since programs show a refusal seldom."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.texts import Text
from dav.authentication import Credentials
from dav.models import Refusal
from dav.signals import card_refused

#: How many refusals of one device are kept.
MAX_REFUSALS = 1000
_MAX_HREF = 1000


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
