"""What `purge_deleted` ends and removes of shares."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from people.models import Person
from sharing.models import Hold, Invitation, InvitationState, LogAction, LogEntry, Share, SharedPerson, ShareMember
from sharing.services.purge import purge_shares
from tests.client import client_of
from tests.sharing.conftest import add_person, carry_all, leave_group, membership_of, put_into_group, share_people

pytestmark = pytest.mark.sqlite_suffices

DAY = dt.timedelta(days=1)


@pytest.fixture
def share(alice: User, bob: User) -> Share:
    return share_people(alice, bob)


def make_invitation(share: Share, now: dt.datetime, **fields: Any) -> Invitation:
    host = ShareMember.unscoped.rows().get(share=share, is_host=True)
    values = {"expires_at": now + 7 * DAY, "token": "t", "mail_at": now, "language": "en", **fields}
    return Invitation.objects.create(
        share=share,
        by=host,
        inviter_id=share.pk,
        email="x@example.org",
        address_key=str(fields),
        token_key=str(fields),
        **values,
    )


def test_invitations_end_and_go(share: Share) -> None:
    now = timezone.now()
    invitation = make_invitation(share, now)
    ended = now + 7 * DAY
    call_command("purge_deleted", "--now", (ended - DAY).isoformat())
    invitation.refresh_from_db()
    assert invitation.state == InvitationState.SENT
    call_command("purge_deleted", "--now", ended.isoformat())
    invitation.refresh_from_db()
    assert (invitation.state, invitation.token, invitation.mail_at) == (InvitationState.EXPIRED, "", None)
    purge_shares(now=ended + 91 * DAY)
    assert not Invitation.unscoped.rows().filter(pk=invitation.pk).exists()


def test_entries_of_the_log_and_holds_after_ninety_days(share: Share, alice: User) -> None:
    now, member = timezone.now(), membership_of(alice, share).member
    for days in (89, 91):
        at = now - days * DAY
        LogEntry.objects.create(share=share, by=member, by_name="A", action=LogAction.JOINED, created_at=at)
        Hold.objects.create(share=share, member=member, count=1, sequence=1, done_at=at)
    removed = purge_shares(now=now)
    assert (removed["log entries"], removed["holds"]) == (1, 1)
    assert LogEntry.unscoped.rows().filter(share=share).count() == Hold.unscoped.rows().filter(share=share).count() == 1


@pytest.mark.both_databases
def test_people_whom_nobody_has(share: Share, alice: User, bob: User, settings: Any) -> None:
    ada = add_person(alice)
    carry_all()
    for user in (alice, bob):
        leave_group(user, Person.objects.owned_by(user).get(name="Ada"))
    carry_all()
    document = SharedPerson.unscoped.rows().get(share=share)
    assert document.is_gone
    now = timezone.now()
    assert purge_shares(now=now)["shared people"] == 0
    put_into_group(alice, ada)
    carry_all()
    document.refresh_from_db()
    assert not document.is_gone
    leave_group(alice, ada)
    carry_all()
    assert purge_shares(now=now + (settings.RETENTION_DAYS + 1) * DAY)["shared people"] == 1
    put_into_group(alice, ada)
    carry_all()
    assert not SharedPerson.unscoped.rows().get(share=share).is_gone


def test_a_share_that_has_ended(share: Share, alice: User, bob: User) -> None:
    for user in (alice, bob):
        client = client_of(user)
        client.reader = None
        client.ok("DELETE", f"/api/shares/{share.pk}/membership")
    now = timezone.now()
    assert purge_shares(now=now + 119 * DAY)["shares"] == 0
    assert purge_shares(now=now + 121 * DAY)["shares"] == 1
    assert not Share.unscoped.rows().filter(pk=share.pk).exists()
