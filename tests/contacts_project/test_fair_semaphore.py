"""FairSemaphore: a model of it is compared with real threads; nobody is forgotten, and no limit is passed."""

import random
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf, isinf
from typing import Any

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore, NoPlaceError, SemaphoreLimits
from tests.concurrency import wait_until

KEYS = ("one", "two", None)


def make_semaphore(**limits: float) -> FairSemaphore[str | None]:
    return FairSemaphore(SemaphoreLimits(key="account", **limits))


def is_idle(semaphore: FairSemaphore[str | None]) -> bool:
    return (semaphore._number_held, semaphore._held, semaphore._waiters) == (0, {}, {})


class Model:
    """What a semaphore should do: callers are numbers; `holding` and `waiting` are theirs, by key."""

    def __init__(self, limits: SemaphoreLimits) -> None:
        self.limits = limits
        self.holding: dict[int, str | None] = {}
        self.waiting: dict[str | None, deque[int]] = {}

    def has_place(self, key: str | None) -> bool:
        held = Counter(self.holding.values())
        return held.total() < self.limits.total and (key is None or held[key] < self.limits.per_key)

    def ask(self, caller: int, key: str | None) -> bool:
        """Returns whether the caller has a place or waits; else it is refused."""
        if self.has_place(key):
            self.holding[caller] = key
            return True
        number = sum(map(len, self.waiting.values()))
        is_full = key is not None and len(self.waiting.get(key, ())) >= self.limits.waiting_per_key
        if is_full or number >= self.limits.waiting:
            return False
        self.waiting.setdefault(key, deque()).append(caller)
        return True

    def give_back(self, caller: int) -> None:
        del self.holding[caller]
        while ready := [key for key in self.waiting if self.has_place(key)]:
            callers = self.waiting.pop(ready[0])
            self.holding[callers.popleft()] = ready[0]
            if callers:
                self.waiting[ready[0]] = callers


class Callers:
    """Threads that hold a place until they are told to give it back."""

    def __init__(self, semaphore: FairSemaphore[str | None]) -> None:
        self.semaphore = semaphore
        self.threads: list[threading.Thread] = []
        self.ends: list[threading.Event] = []
        self.holding: set[int] = set()
        self.gone: set[int] = set()

    def start(self, key: str | None) -> int:
        number = len(self.threads)
        self.ends.append(threading.Event())
        self.threads.append(threading.Thread(target=self._run, args=(number, key)))
        self.threads[-1].start()
        return number

    def _run(self, number: int, key: str | None) -> None:
        try:
            with self.semaphore.hold(key, 3_600):
                self.holding.add(number)
                self.ends[number].wait()
                self.holding.discard(number)
        except NoPlaceError:
            pass
        self.gone.add(number)


limits = st.builds(
    SemaphoreLimits,
    key=st.just("account"),
    total=st.integers(1, 2) | st.just(inf),
    per_key=st.integers(1, 2) | st.just(inf),
    waiting=st.just(inf) | st.integers(0, 4),
    waiting_per_key=st.just(inf) | st.integers(0, 3),
)
# A key asks for a place, or one of those who hold one gives it back.
steps = st.lists(st.sampled_from(KEYS) | st.sampled_from(KEYS) | st.integers(0, 5), min_size=8, max_size=20)


@given(limits, steps)
def test_places_are_given_as_in_the_model(limits: SemaphoreLimits, steps: list[Any]) -> None:
    semaphore: FairSemaphore[str | None] = FairSemaphore(limits)
    model, callers = Model(limits), Callers(semaphore)

    def compare() -> None:
        wait_until(lambda: callers.holding == set(model.holding), 30)
        assert {key: semaphore.waiting(key) for key in KEYS if semaphore.waiting(key)} == {
            key: len(waiting) for key, waiting in model.waiting.items()
        }
        assert all(semaphore.held(key) == Counter(model.holding.values())[key] for key in KEYS)
        assert all(semaphore.has_place(key) == model.has_place(key) for key in KEYS)

    def give_back(caller: int) -> None:
        callers.ends[caller].set()
        wait_until(lambda: caller in callers.gone)
        model.give_back(caller)

    try:
        for step in steps:
            if not isinstance(step, int):
                waiting = semaphore.waiting(step)
                caller = callers.start(step)
                is_admitted = model.ask(caller, step)
                settled = {True: callers.holding, False: callers.gone}[is_admitted]
                wait_until(lambda: caller in settled or semaphore.waiting(step) > waiting)  # noqa: B023 - called here
                assert (caller in callers.gone) is not is_admitted
            elif model.holding:
                give_back(sorted(model.holding)[step % len(model.holding)])
            compare()
        while model.holding:
            give_back(min(model.holding))
            compare()
    finally:
        for end in callers.ends:
            end.set()
        for thread in callers.threads:
            thread.join(120)
    assert is_idle(semaphore), "all of those who waited have had a place"


def test_keys_take_turns_and_of_a_key_the_one_that_waited_longest_is_next() -> None:
    semaphore, order = make_semaphore(total=1), []

    def wait(key: str | None, number: int) -> None:
        with semaphore.hold(key, 3_600):
            order.append((key, number))

    arrivals = [("one", 1), ("one", 2), ("one", 3), ("two", 1), (None, 1), ("two", 2)]
    with semaphore.hold("other"):
        threads = [threading.Thread(target=wait, args=arrival) for arrival in arrivals]
        for thread, (key, number) in zip(threads, arrivals, strict=True):
            thread.start()
            wait_until(lambda: semaphore.waiting(key) == number)  # noqa: B023 - called here
    for thread in threads:
        thread.join(120)
    assert order == [("one", 1), ("two", 1), (None, 1), ("one", 2), ("two", 2), ("one", 3)]


@pytest.mark.parametrize("seconds", [0.0, 0.0005, inf])
def test_many_threads_pass_no_limit_and_nobody_waits_for_ever(seconds: float) -> None:
    """Also where a place is handed to a thread that has just stopped waiting for it."""
    semaphore = make_semaphore(total=3, per_key=2)
    lock, held, most, outcomes = threading.Lock(), Counter[str](), Counter[str](), Counter[bool]()

    def run(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(300):
            key = chance.choice("abcd")
            try:
                with semaphore.hold(key, seconds):
                    with lock:
                        held.update((key, "all"))
                        for name in (key, "all"):
                            most[name] = max(most[name], held[name])
                    if chance.random() < 0.5:
                        threading.Event().wait(0.0002)
                    with lock:
                        held.subtract((key, "all"))
                outcome = True
            except NoPlaceError:
                outcome = False
            with lock:
                outcomes[outcome] += 1

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert outcomes.total() == 3_000, "all threads have come to their end"
    assert outcomes[True] == 3_000 or not isinf(seconds)
    assert most["all"] <= 3
    assert max(most[key] for key in "abcd") <= 2
    assert is_idle(semaphore)


class Interrupted(BaseException):
    """As KeyboardInterrupt."""


@contextmanager
def place_is_given_back_during_a_wait(
    semaphore: FairSemaphore[str | None], monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | None
) -> Iterator[None]:
    """The wait ends, by time or by an error, in the moment in which the place is handed over."""

    def wait(event: threading.Event, seconds: float | None = None) -> bool:
        semaphore.release("other")
        if error is not None:
            raise error
        return False

    semaphore.acquire("other")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Event, "wait", wait)
        yield


def test_place_that_comes_at_the_end_of_a_wait_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    semaphore = make_semaphore(total=1)
    with place_is_given_back_during_a_wait(semaphore, monkeypatch, None), semaphore.hold("one", 1):
        assert semaphore.held("one") == 1
    with (
        pytest.raises(Interrupted),
        place_is_given_back_during_a_wait(semaphore, monkeypatch, Interrupted),
        semaphore.hold("one", 1),
    ):
        raise AssertionError
    assert is_idle(semaphore)


def test_caller_whose_time_is_over_leaves_the_line_and_gets_the_error_of_the_semaphore() -> None:
    semaphore: FairSemaphore[str | None] = FairSemaphore(
        SemaphoreLimits(key="account", total=1, seconds=0.001), KeyError
    )
    with semaphore.hold("other"):
        with pytest.raises(KeyError, match="one"), semaphore.hold("one"):
            raise AssertionError
        assert not semaphore.try_acquire("one")
        assert semaphore.waiting("one") == 0
    assert semaphore.try_acquire("one")
    semaphore.release("one")
    assert is_idle(semaphore)


def test_error_inside_the_block_gives_the_place_back() -> None:
    semaphore = make_semaphore(total=1)
    with pytest.raises(ZeroDivisionError), semaphore.hold("one"):
        _ = 1 / 0
    assert is_idle(semaphore)


def test_wait_without_an_end_counts_for_no_limit_of_those_who_wait() -> None:
    semaphore, order = make_semaphore(total=1, waiting=1, waiting_per_key=1), []

    def wait(name: str, seconds: float) -> None:
        with semaphore.hold("one", seconds):
            order.append(name)

    waits = [("first", inf), ("second", inf), ("third", 3_600.0)]
    with semaphore.hold(None):
        threads = [threading.Thread(target=wait, args=one) for one in waits]
        for number, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(lambda: semaphore.waiting("one") == number)  # noqa: B023 - called here
        with pytest.raises(NoPlaceError), semaphore.hold("one", 3_600):
            raise AssertionError
        with pytest.raises(NoPlaceError), semaphore.hold("two", 3_600):
            raise AssertionError
    for thread in threads:
        thread.join(120)
    assert order == ["first", "second", "third"]


@pytest.mark.parametrize("name", ["imports", "large pictures"])
def test_account_has_neither_all_places_nor_all_that_wait(name: str) -> None:
    limits = LIMITS[name]
    semaphore: FairSemaphore[str | None] = FairSemaphore(limits)
    callers = Callers(semaphore)
    try:
        of_one = {callers.start("one") for _ in range(10)}
        wait_until(lambda: len(callers.holding) + semaphore.waiting("one") + len(callers.gone) == 10)
        assert (len(callers.holding), semaphore.waiting("one")) == (1, limits.waiting_per_key)
        of_two = callers.start("two")
        wait_until(lambda: of_two in callers.holding or semaphore.waiting("two") == 1)
        turns = 0
        while of_two not in callers.holding:
            (holder,) = callers.holding
            callers.ends[holder].set()
            wait_until(lambda: holder in callers.gone and len(callers.holding) == 1)  # noqa: B023 - called here
            turns += 1
        assert turns <= 2, "that of the caller which is under way, and one of those who waited before"
        assert of_one - callers.gone, "others of the first account still wait"
    finally:
        for end in callers.ends:
            end.set()
        for thread in callers.threads:
            thread.join(120)


def test_key_of_nobody_has_all_places() -> None:
    semaphore = make_semaphore(total=2, per_key=1)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(semaphore.hold(None))
        with pytest.raises(NoPlaceError), semaphore.hold(None):
            raise AssertionError


def test_docs_have_the_table_of_limits() -> None:
    lines = (settings.BASE_DIR / "docs" / "fairness.md").read_text().splitlines()

    def show(number: float) -> str:
        return "–" if isinf(number) else f"{number:g}"

    for name, limits in LIMITS.items():
        numbers = (limits.total, limits.per_key, limits.waiting, limits.waiting_per_key, limits.seconds)
        row = f"| {name} | {limits.key} | {' | '.join(map(show, numbers))} |"
        assert [line for line in lines if line.startswith(row)], row
