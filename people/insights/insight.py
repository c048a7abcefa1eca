"""One insight, as the response shows it."""

import datetime as dt
from typing import Any, NamedTuple
from uuid import UUID

MAX_INSIGHTS = 20
"""Per kind."""


class Insight(NamedTuple):
    """`code` is the reason for programs, `reason` the sentence for users; `since` is the day on which it began."""

    person_id: UUID | str
    person_name: str
    code: str
    reason: str
    since: dt.date | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "personId": str(self.person_id),
            "personName": self.person_name,
            "code": self.code,
            "reason": self.reason,
            "since": self.since and self.since.isoformat(),
        }
