"""Slots for heavy operations: one account never has all of them, nor the places of those who wait."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.slots import IMPORT_SLOTS, Slots
from contacts_project.kernel.texts import Text
from tests.concurrency import wait_until


@contextmanager
def request_of(account: str | None, slots: Slots) -> Iterator[None]:
    token = account_of_request.set(account)
    try:
        with slots.acquire():
            yield
    finally:
        account_of_request.reset(token)


def make_slots(number: int, *, waiting: int = 1, seconds: float = 0.0) -> Slots:
    return Slots(number, waiting=waiting, seconds=seconds, message=Text("busy", "busy"))


def test_account_never_has_all_slots() -> None:
    slots = make_slots(3)
    with request_of("one", slots), request_of("one", slots):
        with pytest.raises(UnavailableError), request_of("one", slots):
            raise AssertionError
        with request_of("two", slots), pytest.raises(UnavailableError), request_of("three", slots):
            raise AssertionError
    assert IMPORT_SLOTS._max_per_account == 1, "of two"


def test_callers_without_an_account_have_all_slots() -> None:
    slots = make_slots(2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(request_of(None, slots))
        with pytest.raises(UnavailableError), slots.acquire():
            raise AssertionError


def test_account_takes_no_place_of_others_to_wait_for_itself() -> None:
    slots, order = make_slots(1, waiting=1, seconds=60), []

    def run(account: str) -> None:
        with request_of(account, slots):
            order.append(account)

    threads = [threading.Thread(target=run, args=(account,)) for account in ("one", "two")]
    with request_of("one", slots):
        threads[0].start()
        wait_until(lambda: "one" in slots._waiting_for_itself)
        with pytest.raises(UnavailableError), request_of("one", slots):
            raise AssertionError
        threads[1].start()
        wait_until(lambda: slots._free_places == 0)
        with pytest.raises(UnavailableError), request_of("three", slots):
            raise AssertionError
    for thread in threads:
        thread.join(60)
    assert sorted(order) == ["one", "two"]
    assert (slots._free, slots._free_places, slots._held, slots._waiting_for_itself) == (1, 1, {}, set())
