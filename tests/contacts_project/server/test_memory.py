"""What a request took is free after it, and memory goes back to the system after large ones, once for many."""

import asyncio
import gc
import weakref

import pytest
from django.urls import resolve

from contacts_project.server import memory


def releases_after(monkeypatch: pytest.MonkeyPatch, sizes: list[int]) -> int:
    """How often memory is released when requests of so many bytes end together."""
    done: list[None] = []
    monkeypatch.setattr(memory, "release_memory", lambda: done.append(None))
    monkeypatch.setattr(memory, "DELAY_SECONDS", 0)

    async def end_all() -> None:
        release = memory.Release()
        for size in sizes:
            release.note(size)
        await asyncio.sleep(0.01)
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(end_all())
    return len(done)


def test_memory_is_released_once_for_large_requests_that_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert releases_after(monkeypatch, [memory.LARGE, 10 * memory.LARGE, 1]) == 1


def test_small_requests_release_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert releases_after(monkeypatch, [0, 1, memory.LARGE - 1]) == 0


def test_releasing_works_on_this_system() -> None:
    memory.release_memory()


def test_the_description_of_a_route_keeps_no_view() -> None:
    route = resolve("/api/dashboard/graph").func
    view = weakref.ref(route.cls(**route.initkwargs))  # type: ignore[attr-defined]  # as_view() of DRF sets both
    gc.collect()
    assert view() is None
