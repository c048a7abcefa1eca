"""Requests leave no objects behind, and large ones return memory to the system, once for several that end together."""

import asyncio
import gc
import weakref

import pytest
from django.urls import resolve

from contacts_project.server import memory


def count_releases(monkeypatch: pytest.MonkeyPatch, requests: int) -> int:
    """End this number of large requests together; returns how often memory is released."""
    done: list[None] = []
    monkeypatch.setattr(memory, "release_memory", lambda: done.append(None))
    monkeypatch.setattr(memory, "RELEASE_DELAY_SECONDS", 0)

    async def end_all() -> None:
        releaser = memory.MemoryReleaser()
        for _ in range(requests):
            releaser.schedule()
        await asyncio.sleep(0.01)
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(end_all())
    return len(done)


def test_memory_is_released_once_for_large_requests_that_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_releases(monkeypatch, 3) == 1


def test_requests_with_many_bytes_or_much_cpu_time_are_large() -> None:
    assert memory.is_large(memory.LARGE_BYTES, 0.0)
    assert memory.is_large(0, memory.LARGE_CPU_SECONDS)
    assert not memory.is_large(memory.LARGE_BYTES - 1, memory.LARGE_CPU_SECONDS / 2)


def test_memory_can_be_released_on_this_system() -> None:
    memory.release_memory()


def test_resolved_route_keeps_no_view_alive() -> None:
    route = resolve("/api/dashboard/graph").func
    view = weakref.ref(route.cls(**route.initkwargs))  # type: ignore[attr-defined]  # as_view() of DRF sets both
    gc.collect()
    assert view() is None
