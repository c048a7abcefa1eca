"""Rate limits: exact counts over a sliding window, also with other subjects and concurrent hits."""

import datetime as dt
from collections import Counter

import pytest
import time_machine
from django.utils import timezone

from accounts.tasks import purge_budgets
from contacts_project.kernel import rate_limits
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.rate_limits import BudgetUse, CachedRateLimit, RateLimit
from tests.concurrency import run_concurrently

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
THREE, TEN = RateLimit("three", 3, 60), RateLimit("ten", 10, 900)


def hits(limit: RateLimit, subject: str, times: int = 1) -> list[int]:
    """Draw `times` times; returns for each draw 0, or the seconds to wait after a refusal."""
    waits = []
    for _ in range(times):
        try:
            limit.hit(subject)
            waits.append(0)
        except RateLimitedError as error:
            waits.append(error.retry_after)
    return waits


@pytest.mark.django_db
def test_window_is_limited_and_a_returned_draw_does_not_count() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        assert hits(THREE, "a") == [0]
        clock.shift(50)
        assert hits(THREE, "a", 3) == [0, 0, 10]
        clock.shift(10)  # the first draw is out of the window, the other two are not
        assert hits(THREE, "a", 2) == [0, 50]
        assert hits(RateLimit("other", 3, 60), "a") == hits(THREE, "b") == [0]
        THREE.undo("a")
        assert hits(THREE, "a", 2) == [0, 50]
        THREE.clear("a")
        THREE.undo("a")
        assert hits(THREE, "a") == [0]


@pytest.mark.django_db
def test_other_subjects_do_not_evict_a_count() -> None:
    assert hits(THREE, "owner", 4)[-1] > 0
    for number in range(200):
        THREE.hit(f"flood {number}")
    assert hits(THREE, "owner")[0] > 0


@pytest.mark.django_db
def test_refusal_writes_nothing_and_rows_contain_no_address() -> None:
    hits(THREE, "ada@example.org", 3)
    before = list(BudgetUse.objects.values())
    assert hits(THREE, "ada@example.org")[0] > 0
    assert list(BudgetUse.objects.values()) == before
    assert "example" not in str(before)


@pytest.mark.django_db
def test_expired_draws_are_purged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_PURGE_BATCH_SIZE", 4)
    with time_machine.travel(NOON, tick=False) as clock:
        for number in range(9):
            THREE.hit(f"old {number}")
        clock.shift(40)
        hits(THREE, "new", 3)
        clock.shift(30)
        for _ in range(2):
            purge_budgets()
            assert BudgetUse.objects.count() == 1
            assert hits(THREE, "new") == [30]


def test_cached_rate_limit_writes_nothing_and_resets_after_its_window() -> None:
    passing = CachedRateLimit("passing", 2, 60)
    with time_machine.travel(NOON, tick=False) as clock:
        passing.hit("a")
        passing.hit("a")
        with pytest.raises(RateLimitedError) as caught:
            passing.hit("a")
        assert 0 < caught.value.retry_after <= 60
        passing.hit("b")
        clock.shift(caught.value.retry_after + 1)
        passing.hit("a")


@pytest.mark.django_db(transaction=True)
def test_concurrent_draws_do_not_exceed_the_limit() -> None:
    def draw() -> list[int]:
        waits = hits(TEN, "one", 4)
        purge_budgets()
        return waits

    waits = Counter(bool(wait) for waits in run_concurrently(*[draw] * 8) for wait in waits)
    assert waits == {False: 10, True: 22}
    assert timezone.now() < BudgetUse.objects.get().ends_at
