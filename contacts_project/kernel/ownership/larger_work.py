"""Larger works: an import, a run of a sync, a batch of requests. Each has many writes of its account, which count as
one for whoever asks how much one write has changed.

    work = LargerWork(owner_id, "import")
    with work.part(), account_write(owner): ...     # as often as it takes
    work.end()

A work that is killed never ends: whoever waits for its end waits for a limited time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from contacts_project.kernel.ids import new_id


class LargerWork:
    """One work of an account. `key` identifies it; `is_noted`: somebody waits for its end."""

    def __init__(self, owner_id: UUID, kind: str) -> None:
        self.owner_id, self.key = owner_id, f"{kind}:{new_id()}"
        self.is_noted = False

    @contextmanager
    def part(self) -> Iterator[None]:
        """Writes that are opened inside belong to this work."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def end(self) -> None:
        """Call after the last write, also of a work that failed. May be called twice."""
        if self.is_noted:
            self.is_noted = False
            for hook in _end_hooks:
                hook(self)


_current: ContextVar[LargerWork | None] = ContextVar("larger_work", default=None)
_end_hooks: list[Callable[[LargerWork], None]] = []


def current_work() -> LargerWork | None:
    """The work to which a write that is opened now belongs."""
    return _current.get()


def register_end_hook(hook: Callable[[LargerWork], None]) -> None:
    """Call `hook` at the end of a work that was noted. Called once per app, from AppConfig.ready()."""
    _end_hooks.append(hook)
