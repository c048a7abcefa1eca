"""Invitations by mail: a host makes and revokes them, whoever has the link or the address sees and declines them.

Whether an address has an account is not looked up here: no answer, and no time that it takes, depends on it.
"""

import datetime as dt
import secrets
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q
from django.utils.crypto import salted_hmac

from accounts.models import User
from accounts.services.sign_in import EmailUnverifiedError
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text
from sharing.carry.neutral import lock_share
from sharing.models import Invitation, InvitationBlock, InvitationState, ShareMembership
from sharing.models.neutral import NeutralQuerySet
from sharing.services.shares import NotHostError
from sharing.signals import announce_invitation

VALID_FOR = dt.timedelta(days=7)
INVITATIONS = RateLimit("share-invitations", 20, 24 * 3600)


class InvitationEndedError(DomainError):
    """The invitation was accepted, declined or revoked, is too old, or its share is gone."""

    message = define_text("invitation_expired", "This invitation is no longer good. Ask for another one.")


def address_key(address: str) -> str:
    """A keyed hash of the folded address."""
    return salted_hmac("sharing.address", User.objects.fold_email(address), algorithm="sha256").hexdigest()


def token_key(token: str) -> str:
    return salted_hmac("sharing.invitation", token, algorithm="sha256").hexdigest()


def invite(*, owner: User, share_id: UUID, email: str, now: dt.datetime) -> Invitation:
    """Invite whoever has this address; an open invitation to it is revoked. The mail is sent after the commit.

    Raises MissingError, NotHostError, EmailUnverifiedError, RateLimitedError.
    """
    with account_write(owner):
        row = _membership_of_host(owner, share_id)
        if owner.proven_email is None:
            raise EmailUnverifiedError
        INVITATIONS.hit(str(owner.pk))
        lock_share(share_id)
        key, token = address_key(email), secrets.token_urlsafe(32)
        for former in Invitation.objects.reached_by(row).filter(address_key=key, state=InvitationState.SENT):
            is_over = former.state_at(now) == InvitationState.EXPIRED
            former.end(InvitationState.EXPIRED if is_over else InvitationState.REVOKED)
        invitation = Invitation.objects.create(
            share_id=share_id,
            by=row.member,
            inviter_id=owner.pk,
            email=email,
            address_key=key,
            token=token,
            token_key=token_key(token),
            language=owner.language,
            created_at=now,
            expires_at=now + VALID_FOR,
            mail_at=now,
        )
        announce_invitation()
    return invitation


def list_invitations(*, owner: User, share_id: UUID, now: dt.datetime) -> list[JsonObject]:
    """The share's invitations, the newest first. Raises MissingError, NotHostError."""
    row = _membership_of_host(owner, share_id)
    return [describe_invitation(one, now) for one in Invitation.objects.reached_by(row).order_by("-created_at", "-pk")]


def describe_invitation(row: Invitation, now: dt.datetime) -> JsonObject:
    """An invitation as its host sees it."""
    return {
        "id": str(row.pk),
        "email": row.email,
        "state": row.state_at(now),
        "expiresAt": format_timestamp(row.expires_at),
        "createdAt": format_timestamp(row.created_at),
    }


def revoke_invitation(*, owner: User, share_id: UUID, invitation_id: UUID, now: dt.datetime) -> None:
    """End an invitation that is open; any other stays as it is. Raises MissingError, NotHostError."""
    with account_write(owner):
        row = _membership_of_host(owner, share_id)
        lock_share(share_id)
        invitation = Invitation.objects.reached_by(row).filter(pk=invitation_id).first()
        if invitation is None:
            raise MissingError
        if invitation.state_at(now) == InvitationState.SENT:
            invitation.end(InvitationState.REVOKED)


def _membership_of_host(owner: User, share_id: UUID) -> ShareMembership:
    row = ShareMembership.objects.owned_by(owner).find_share(share_id)
    if not row.member.is_host:
        raise NotHostError
    return row


def reached_by(*, owner: User | None, token: str | None) -> NeutralQuerySet[Invitation]:
    """The invitations of a link, or else those to the account's proven address, in any state."""
    if token:
        return Invitation.objects.with_token(token_key(token))
    if owner is None or owner.proven_email is None:
        return Invitation.objects.to_address("").none()
    return Invitation.objects.to_address(address_key(owner.proven_email))


def list_received(*, owner: User | None, token: str | None, now: dt.datetime) -> list[JsonObject]:
    """The open invitations of a link, or else those to the account's proven address, the oldest first.

    Those of members whom the account, or somebody who had the address's link, does not want to hear from are not among
    them.
    """
    rows = reached_by(owner=owner, token=token)
    rows = rows.filter(state=InvitationState.SENT, expires_at__gt=now, share__ended_at=None, is_unwanted=False)
    if owner is not None:
        blocks = InvitationBlock.objects.owned_by(owner).values_list("inviter_id", flat=True)
        rows = rows.exclude(inviter_id__in=list(blocks))
    people = Count("share__people", filter=Q(share__people__is_gone=False))
    rows = rows.select_related("share", "by").order_by("created_at", "pk")
    return [
        {
            "id": str(row.pk),
            "shareName": row.share.name,
            "from": row.by.name if row.by else "",
            "peopleCount": vars(row)["people"],
            "expiresAt": format_timestamp(row.expires_at),
        }
        for row in rows.annotate(people=people)
    ]


def find_invitation(*, owner: User, invitation_id: UUID, token: str | None) -> Invitation:
    """The invitation that the account may answer, in any state. Raises MissingError."""
    reached = [reached_by(owner=owner, token=token)] if token else []
    for rows in (*reached, reached_by(owner=owner, token=None)):
        found = rows.filter(pk=invitation_id).select_related("share").first()
        if found is not None:
            return found
    raise MissingError


def check_open(invitation: Invitation, now: dt.datetime) -> None:
    """Raise InvitationEndedError for one that nobody can accept any more."""
    if invitation.state_at(now) != InvitationState.SENT or invitation.share.ended_at is not None:
        raise InvitationEndedError


def decline(*, owner: User, invitation_id: UUID, token: str | None, block: bool, now: dt.datetime) -> None:
    """Decline an invitation, and with `block` whatever its inviter sends from now on.

    Raises MissingError, InvitationEndedError.
    """
    with account_write(owner):
        found = find_invitation(owner=owner, invitation_id=invitation_id, token=token)
        lock_share(found.share_id)
        found.refresh_from_db()
        check_open(found, now)
        found.end(InvitationState.DECLINED)
        if block:
            others = Invitation.objects.to_address(found.address_key).filter(inviter_id=found.inviter_id)
            others.filter(state=InvitationState.SENT).update(is_unwanted=True)
            InvitationBlock.objects.bulk_create(
                [InvitationBlock(owner=owner, inviter_id=found.inviter_id, address_key=found.address_key)],
                ignore_conflicts=True,
            )


def link_of(token: str) -> str:
    """The address of the page that shows the invitation, also to somebody who has not signed in."""
    return f"{settings.BASE_URL}/app/invitation?token={token}"
