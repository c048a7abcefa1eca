"""The notice of what a member sent and is held: to every other member, once a day."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind
from notifications.notices.wording import wording_of
from notifications.services.sender import build_notice
from sharing.models import Hold, Share
from sharing.signals import announce_hold
from tests.builders import verify_email
from tests.sharing.conftest import membership_of, share_people

pytestmark = pytest.mark.sqlite_suffices


def notices_of(user: User) -> list[Delivery]:
    rows = Delivery.objects.owned_by(user).filter(kind=NoticeKind.SHARE_HELD)
    return list(rows.select_related("owner").order_by("pk"))


@pytest.fixture
def share(alice: User, bob: User, carol: User) -> Share:
    for user in (alice, bob, carol):
        verify_email(user)
    return share_people(alice, bob, carol)


def hold(share: Share, user: User, capture: Any, count: int = 8) -> Hold:
    """What the account sends is held, as the carrier says it."""
    member = membership_of(user, share).member
    with capture(execute=True), transaction.atomic():
        made: Hold = Hold.objects.create(share=share, member=member, count=count, sequence=1)
        announce_hold(share.pk, member.pk)
    return made


def test_the_others_are_told(
    share: Share, alice: User, bob: User, carol: User, django_capture_on_commit_callbacks: Any
) -> None:
    hold(share, bob, django_capture_on_commit_callbacks)
    assert notices_of(bob) == []
    for user in (alice, carol):
        [delivery] = notices_of(user)
        content = {"shareId": str(share.pk), "shareName": "Family", "memberName": "Bob", "count": 8}
        assert {name: delivery.content[name] for name in content} == content
        wording = wording_of(build_notice(delivery, timezone.now()))
        assert wording.title == "Bob has changed 8 people in “Family”"
        assert wording.url.endswith(f"/app/shares/{share.pk}")


def test_once_a_day(share: Share, alice: User, bob: User, django_capture_on_commit_callbacks: Any) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        for hours, count in ((0, 1), (1, 1), (24, 2)):
            clock.shift(dt.timedelta(hours=hours))
            made = hold(share, bob, django_capture_on_commit_callbacks)
            assert len(notices_of(alice)) == count
            made.delete()


def test_who_is_not_told(
    share: Share, alice: User, bob: User, carol: User, django_capture_on_commit_callbacks: Any
) -> None:
    User.objects.filter(pk=carol.pk).update(is_active=False)
    hold(share, bob, django_capture_on_commit_callbacks)
    assert (len(notices_of(alice)), notices_of(carol)) == (1, [])


def test_what_was_decided_meanwhile(
    share: Share, alice: User, bob: User, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        announce_hold(share.pk, membership_of(bob, share).member.pk)
    assert notices_of(alice) == []
