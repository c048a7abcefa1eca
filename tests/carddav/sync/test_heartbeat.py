"""The lock outlasts slow pictures: each may take five seconds, and fifty of them more than a lease."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection
from carddav.sync import new_cards
from carddav.sync.lock import Lock
from carddav.sync.pictures import Picture
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard


def test_a_batch_with_slow_pictures_keeps_the_lock(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = SyncedAccount(alice)
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X", "PHOTO;VALUE=uri:https://slow.example/"))
    locks: list[Lock] = []
    held: list[bool] = []
    make = Lock.__init__

    def remember(self: Lock, *args: Any) -> None:
        make(self, *args)
        locks.append(self)

    def slow(*args: Any) -> Picture:
        rows = Connection.objects.owned_by(alice)
        held.append(rows.filter(held_until__gt=timezone.now()).exists())
        rows.update(held_until=timezone.now() - dt.timedelta(seconds=1))
        locks[-1].kept_at -= dt.timedelta(seconds=150)
        return Picture(None)

    monkeypatch.setattr(Lock, "__init__", remember)
    monkeypatch.setattr(new_cards, "picture_of", slow)
    assert counts(synced.sync()) == {"imported": 3}
    assert held == [True, True, True]
