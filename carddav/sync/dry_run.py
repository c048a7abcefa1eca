"""A run that changes nothing: it decides what a run would do, and counts it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from carddav.sync.context import Context, S
from carddav.sync.plan import Planned
from contacts_project.kernel.ownership.account_lock import AccountWrite


@dataclass(slots=True)
class DryRun(Context):
    """`planned` are the contacts that are decided as a whole: what their card would be sent for is counted."""

    planned: set[UUID] = field(default_factory=set)

    @property
    def unwritten_imports(self) -> int:
        return self.tally.imported

    def act(self, work: Callable[[], object]) -> None:
        """Leave it out."""

    def carry_out(self, plan: Callable[[], Iterable[Planned]], work: Callable[[], object]) -> None:
        for planned in plan():
            self._count(planned)

    def decide(
        self,
        read: Callable[[], S | None],
        plan: Callable[[S], Planned],
        apply: Callable[[AccountWrite, S, Planned], object],
    ) -> Planned | None:
        state = read()
        if state is None:
            return None
        planned = plan(state)
        # A contact is decided once: what is listed is merged before what is unsent.
        if planned.mapping_id is None or planned.mapping_id not in self.planned:
            self._count(planned)
        return planned

    def _count(self, planned: Planned) -> None:
        self.tally.count(planned.here)
        self.tally.count(planned.there())
        if planned.mapping_id is not None:
            self.planned.add(planned.mapping_id)
