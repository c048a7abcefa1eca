"""One insight, as the response shows it."""

import datetime as dt
from typing import NamedTuple
from uuid import UUID

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text

MAX_INSIGHTS = 20
"""Per kind."""


class Insight(NamedTuple):
    """`code` is the kind of reason, `reason` the sentence for users; `since` is the day on which it began."""

    person_id: UUID | str
    person_name: str
    code: str
    reason: Text
    since: dt.date | None = None

    def to_json(self) -> JsonObject:
        return {
            "personId": str(self.person_id),
            "personName": self.person_name,
            "code": self.code,
            "reason": str(self.reason),
            "params": self.reason.described_params(),
            "since": self.since and self.since.isoformat(),
        }
