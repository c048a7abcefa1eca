"""What `manage.py doctor` says of shares."""

import datetime as dt

import pytest
from django.utils import timezone

from accounts.models import User
from sharing.checks import check_shares
from sharing.models import Invitation, ShareMember, ShareMembership
from tests.sharing.conftest import carry_all, share_people

pytestmark = pytest.mark.sqlite_suffices

LONG_AGO = dt.timedelta(minutes=16)


def test_nothing_to_say(alice: User, bob: User) -> None:
    share_people(alice, bob)
    assert check_shares(None) == []


def test_changes_that_wait(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    carry_all()
    ShareMembership.objects.owned_by(alice).update(due_at=timezone.now() - LONG_AGO)
    ShareMember.unscoped.rows().filter(share=share, name="Bob").update(due_at=timezone.now() - LONG_AGO)
    [message] = check_shares(None)
    assert (message.id, message.msg) == ("doctor.W058", "Changes of 2 members of shares have waited for a while.")
    ShareMembership.objects.owned_by(alice).update(paused=True)
    assert "of 1 members" in check_shares(None)[0].msg


def test_mails_that_are_not_sent(alice: User) -> None:
    share, now = share_people(alice), timezone.now()
    Invitation.objects.create(
        share=share, inviter_id=alice.pk, email="x@example.org", language="en", expires_at=now, mail_at=now - LONG_AGO
    )
    assert [message.id for message in check_shares(None)] == ["doctor.W059"]
