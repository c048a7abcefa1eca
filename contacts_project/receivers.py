"""Signal receivers that connect apps which do not import each other."""

import datetime as dt
from uuid import UUID

from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from carddav.services.runs import contacts_found
from dav.services.deletions import undo_deletions
from dav.signals import card_refused, many_deleted
from notifications.services.account_notices import (
    notify_contacts_found,
    notify_deletions,
    notify_refused,
    notify_share_held,
    register_undo_of_deletions,
)
from sharing.models import Hold, ShareMembership
from sharing.signals import share_held


@receiver(contacts_found)
def notify_of_contacts_found(*, owner_id: UUID, run_id: UUID, count: int, now: dt.datetime, **kwargs: object) -> None:
    """Notify the account, over its channels, of contacts on its CardDAV server that can be imported."""
    notify_contacts_found(owner_id=owner_id, run_id=run_id, count=count, now=now)


@receiver(many_deleted)
def notify_of_deletions(
    *,
    owner_id: UUID,
    token_id: UUID,
    device_name: str,
    count: int,
    since: dt.datetime,
    now: dt.datetime,
    **kwargs: object,
) -> None:
    """Notify the account, over its channels, that one of its devices has deleted many people."""
    notify_deletions(owner_id=owner_id, token_id=token_id, name=device_name, count=count, since=since, now=now)


@receiver(card_refused)
def notify_of_refused(*, owner_id: UUID, token_id: UUID, device_name: str, now: dt.datetime, **kwargs: object) -> None:
    """Notify the account, at most once a day, that a device sent what was refused."""
    notify_refused(owner_id=owner_id, token_id=token_id, name=device_name, now=now)


@receiver(share_held)
def notify_of_held(*, share_id: UUID, member_id: UUID, **kwargs: object) -> None:
    """Notify the other members, each at most once a day, of what one of them sent and is held."""
    hold = Hold.unscoped.rows().filter(member=member_id, done_at=None).select_related("member", "share").first()
    if hold is None:
        return  # it was decided meanwhile
    others = ShareMembership.unscoped.rows().current().filter(share=share_id, owner__is_active=True)
    for owner_id in list(others.exclude(pk=member_id).order_by("pk").values_list("owner_id", flat=True)):
        notify_share_held(
            owner_id=owner_id,
            share_id=share_id,
            share_name=hold.share.name,
            member_name=hold.member.name,
            count=hold.count,
            now=timezone.now(),
        )


def _undo(owner: User, token_id: UUID, since: dt.datetime, now: dt.datetime) -> int:
    return undo_deletions(owner=owner, token_id=token_id, since=since, now=now).restored


register_undo_of_deletions(_undo)
