"""Shares: they are made and changed. How people leave them is in `leaving`, how they come in `joining`."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError, MissingError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.texts import define_text
from people.models import Group
from sharing.carry.holds import publish_all
from sharing.carry.neutral import lock_share, next_sequence, notify_members
from sharing.models import (
    MAX_SHARES,
    Share,
    SharedCopy,
    ShareMember,
    ShareMembership,
    account_name,
    default_private,
    mark_shared,
)
from sharing.signals import announce_account

SETTINGS = frozenset({"private", "reminders", "newcomers", "paused"})


class NotHostError(DomainError):
    """Only the host of a share may do this."""

    message = define_text("not_host", "Only the host of the share may do this.")


class AlreadySharedError(DomainError):
    """The group is another share's."""

    message = define_text("already_shared", "This group is shared already.")


class TooManySharesError(DomainError):
    """An account is in at most so many shares."""

    message = define_text(
        "share_limit", "At most %(limit)s share.", plural="At most %(limit)s shares.", number="limit"
    ).format(limit=MAX_SHARES)


class GroupDeletedError(DomainError):
    """The tied group is in the trash, which pauses the membership."""

    message = define_text("share_group_deleted", "The group of this share is in the trash: restore it first.")


def create_share(*, owner: User, data: JsonMapping, now: dt.datetime) -> UUID:
    """Make a share of a group, with the owner as host; returns its id.

    Raises FieldError (the group), IdTakenError, AlreadySharedError, TooManySharesError.
    """
    with account_write(owner):
        key = claimed_id(data)
        group = lock_group(owner, data["group_id"])
        check_number(owner)
        share = Share.objects.create(id=key, name=data["name"], created_at=now, updated_at=now)
        add_member(owner, share, group, data, now, is_host=True)
    return share.pk


def lock_group(owner: User, group_id: UUID) -> Group:
    """The active group to tie, inside the account's write. Raises FieldError, AlreadySharedError."""
    try:
        group = Group.objects.find_active(owner, group_id)
    except MissingError:
        raise FieldError("groupId", NO_SUCH_RECORD) from None
    if ShareMembership.objects.owned_by(owner).active().filter(group=group).exists():
        raise AlreadySharedError
    return group


def check_number(owner: User) -> None:
    """Raise TooManySharesError if the account is in as many shares as it may."""
    if ShareMembership.objects.owned_by(owner).active().count() >= MAX_SHARES:
        raise TooManySharesError


def add_member(
    owner: User, share: Share, group: Group, data: JsonMapping, now: dt.datetime, *, is_host: bool = False
) -> ShareMembership:
    """Insert the account's two rows, inside its write and under the share's lock. The host has nobody to review."""
    member = ShareMember.objects.create(share=share, name=account_name(owner), is_host=is_host, joined_at=now)
    membership = ShareMembership.objects.create(
        id=member.pk,
        owner=owner,
        share=share,
        member=member,
        group=group,
        private=data.get("private", default_private()),
        created_at=now,
        reviewed_at=now if is_host else None,
        received=share.sequence,
        due_at=now,
        **{name: data[name] for name in ("reminders", "newcomers") if name in data},
    )
    mark_shared(owner.pk)
    announce_account(owner.pk)
    return membership


def update_share(*, owner: User, share_id: UUID, data: JsonObject, now: dt.datetime) -> None:
    """Change the settings in `data`, and as the host its name.

    Raises MissingError, NotHostError, GroupDeletedError.
    """
    with account_write(owner):
        row = ShareMembership.objects.owned_by(owner).find_share(share_id)
        if "name" in data and data["name"] != row.share.name:
            if not row.member.is_host:
                raise NotHostError
            _rename(row, data["name"], now)
        if data.get("paused") is False and _is_group_deleted(row):
            raise GroupDeletedError
        if set(row.private) - set(data.get("private", row.private)):
            publish_all(row)
        if set(data.get("private", row.private)) - set(row.private):
            # What is private now is in conflict no more.
            SharedCopy.objects.owned_by(owner).filter(conflict__membership=row).update(is_due=True)
        for name in SETTINGS & data.keys():
            setattr(row, name, data[name])
        row.save()


def _rename(row: ShareMembership, name: str, now: dt.datetime) -> None:
    share = lock_share(row.share_id)
    share.name, share.updated_at = name, now
    share.save(update_fields=["name", "updated_at"])
    next_sequence(share)
    notify_members(share, but=row.pk)


def _is_group_deleted(row: ShareMembership) -> bool:
    return row.group is not None and row.group.is_deleted
