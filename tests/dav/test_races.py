"""Devices, the API and refreshes at the same time, with real threads; and processes that are killed in between."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from contacts_project.kernel.ownership.account_lock import account_write
from dav.cards import refresh
from dav.cards.client_state import record_sent_texts
from dav.cards.refresh import store
from dav.models import Book, BookCard, FormerText, GivenCard
from dav.reports import address_data
from dav.services import card_write, put_card
from people.models import Person
from tests.client import client_of
from tests.concurrency import run_concurrently
from tests.dav.devices import DECLARED, Answer, Device, card
from tests.dav.test_counts import make_people

pytestmark = pytest.mark.django_db(transaction=True)


def assert_whole(user: User) -> None:
    """What the devices see is what is, and the doctor finds nothing."""
    device = Device(user)
    texts = device.sync("", "d:getetag", "card:address-data").entries
    assert len(texts) == Person.objects.owned_by(user).active().count()
    cards = dict(BookCard.objects.owned_by(user).values_list("name", "person_id"))
    for href, entry in texts.items():
        got = device.call("GET", href)
        assert got["ETag"] == entry.text("d:getetag")
        person = Person.objects.owned_by(user).get(pk=cards[href.rpartition("/")[2]])
        assert f"NOTE:{person.notes}\r\n" in got.content.decode() or not person.notes
    assert [violation for word in ("device", "card", "book") for violation in find_violations(word)] == []


def test_two_devices_put_the_same_card_with_its_etag(alice: User) -> None:
    first, second = Device(alice), Device(alice)
    etag = first.put("a.vcf", card("NOTE:zero"))["ETag"]
    second.text("a.vcf")
    statuses = run_concurrently(
        lambda: first.put("a.vcf", card("NOTE:first"), HTTP_IF_MATCH=etag).status_code,
        lambda: second.put("a.vcf", card("NOTE:second"), HTTP_IF_MATCH=etag).status_code,
    )
    assert sorted(statuses) == [204, 412]
    assert_whole(alice)


def test_two_devices_create_the_same_name_and_the_same_person(alice: User) -> None:
    first, second = Device(alice), Device(alice)
    statuses = run_concurrently(
        lambda: first.put("a.vcf", card("NOTE:1"), HTTP_IF_NONE_MATCH="*").status_code,
        lambda: second.put("a.vcf", card("NOTE:2"), HTTP_IF_NONE_MATCH="*").status_code,
    )
    assert sorted(statuses) == [201, 412]
    statuses = run_concurrently(
        lambda: first.put("b.vcf", card("NOTE:1").replace("u-1", "u-2").replace("Ada", "Bob")).status_code,
        lambda: second.put("c.vcf", card("NOTE:2").replace("u-1", "u-2").replace("Ada", "Bob")).status_code,
    )
    assert sorted(statuses) == [201, 409]
    assert_whole(alice)


def test_a_put_beside_writes_of_the_api_loses_neither(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:zero", "TEL:+44 20 0"))
    (row,) = Person.objects.owned_by(alice)

    def by_api() -> list[int]:
        api = client_of(alice)
        return [api.call("PUT", f"/api/people/{row.pk}", {"nickname": f"N{n}"}).status_code for n in range(8)]

    def by_device() -> list[int]:
        return [device.put("a.vcf", card(f"NOTE:{n}", "TEL:+44 20 0")).status_code for n in range(8)]

    def reads() -> list[int]:
        other = Device(alice)
        return [other.get("a.vcf").status_code for _ in range(8)]

    statuses = Counter(status for each in run_concurrently(by_api, by_device, reads) for status in each)
    assert statuses == {200: 16, 204: 8}
    person = Person.objects.owned_by(alice).get()
    assert (person.nickname, person.notes) == ("N7", "7")
    assert_whole(alice)


def test_refreshes_of_many_devices_at_once(alice: User) -> None:
    api = client_of(alice)
    for number in range(20):
        api.ok("POST", "/api/people", {"name": f"P{number}"}, status=201)
    devices = [Device(alice) for _ in range(4)]
    found = run_concurrently(*(lambda d=d: len(d.sync("", "d:getetag", "card:address-data").entries) for d in devices))
    assert found == [20] * 4
    assert (Book.objects.owned_by(alice).count(), BookCard.objects.owned_by(alice).count()) == (1, 20)
    assert GivenCard.objects.owned_by(alice).count() == 80
    assert FormerText.objects.owned_by(alice).count() == 0
    assert_whole(alice)


@pytest.mark.parametrize(
    "names",
    [["record_put_text"], ["advance_book"], ["refresh_person", "store_new"], ["record_properties"], ["forget_refusal"]],
    ids=lambda names: names[0],
)
def test_a_put_that_is_killed_has_happened_or_not(
    alice: User, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:zero"))

    def killed(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        for module, name in product((put_card, card_write), names):
            if hasattr(module, name):
                patched.setattr(module, name, killed)
        with pytest.raises(KeyboardInterrupt):
            device.put("a.vcf", card("NOTE:one"))
        with pytest.raises(KeyboardInterrupt):
            device.put("b.vcf", card("NOTE:one").replace("u-1", "u-2").replace("Ada", "Bob"))
    assert_whole(alice)
    assert Person.objects.owned_by(alice).get().notes == "zero"
    # The program sends it again, without a condition.
    assert device.put("a.vcf", card("NOTE:one")).status_code == 204
    assert device.put("b.vcf", card("NOTE:one").replace("u-1", "u-2").replace("Ada", "Bob")).status_code == 201
    assert_whole(alice)


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
