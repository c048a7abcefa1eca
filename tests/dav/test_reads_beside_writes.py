"""Others write, in real threads, while the cards of a device are being read and noted."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from dav.cards import refresh
from dav.cards.client_state import record_sent_texts
from dav.cards.refresh import store
from dav.models import BookCard, GivenCard
from dav.reports import address_data
from people.models import Person
from tests.concurrency import run_concurrently
from tests.dav.devices import DECLARED, Answer, Device
from tests.dav.test_counts import make_people

pytestmark = pytest.mark.django_db(transaction=True)


def write_first(user: User, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, before which somebody else writes to the account, on a connection of their own."""

    def write() -> None:
        with account_write(user):
            row = Person.objects.owned_by(user).order_by("pk")[:1].get()
            Person.objects.owned_by(user).filter(pk=row.pk).update(notes=f"{row.notes}.")

    def after_the_write(*args: Any, **kwargs: Any) -> Any:
        run_concurrently(write)
        return function(*args, **kwargs)

    return after_the_write


def test_new_people_are_read_while_others_write(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    # More than a cursor fetches at once, so that it is open while the first cards are stored.
    make_people(alice, 2100)
    monkeypatch.setattr(refresh, "store", write_first(alice, store))
    device = Device(alice)
    assert len(device.propfind(device.book, "d:getetag", depth="1").entries) == 2101
    assert BookCard.objects.owned_by(alice).count() == 2100


def _sync(device: Device) -> Answer:
    return device.sync("", "d:getetag", "card:address-data")


def _query(device: Device) -> Answer:
    asked = f"<card:addressbook-query {DECLARED}><d:prop><d:getetag/><card:address-data/></d:prop>"
    return device.ask("REPORT", device.book, f"{asked}<card:filter/></card:addressbook-query>", HTTP_DEPTH="1")


@pytest.mark.parametrize("fetch", [_sync, _query])
def test_texts_are_sent_while_others_write(
    alice: User, monkeypatch: pytest.MonkeyPatch, fetch: Callable[[Device], Answer]
) -> None:
    make_people(alice, 450)
    device = Device(alice)
    device.sync()
    monkeypatch.setattr(address_data, "record_sent_texts", write_first(alice, record_sent_texts))
    assert len(fetch(device).entries) == 450
    assert GivenCard.objects.owned_by(alice).count() == 450
