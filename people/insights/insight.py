"""One insight, as the answer shows it."""

import datetime as dt
from typing import Any, NamedTuple
from uuid import UUID

MOST = 20
"""Of each kind."""


class Insight(NamedTuple):
    """`code` says why in a word for programs, `reason` in a sentence; `since`: the day from which on it is so."""

    person_id: UUID | str
    person_name: str
    code: str
    reason: str
    since: dt.date | None = None

    def answer(self) -> dict[str, Any]:
        return {
            "personId": str(self.person_id),
            "personName": self.person_name,
            "code": self.code,
            "reason": self.reason,
            "since": self.since and self.since.isoformat(),
        }
