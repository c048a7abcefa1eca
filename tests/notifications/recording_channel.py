"""A channel that records what it sends, and returns the outcomes that the test sets."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from notifications.channels.interface import REMINDERS, AttemptOutcome, Channel, ChannelTarget
from notifications.channels.webhook import body_of
from notifications.notices.notice import Notice, NoticeKind
from tests.routes.openapi import check_webhook

OK = AttemptOutcome()
DOWN = AttemptOutcome(code="http_5xx")


class RecordingChannel(Channel):
    """Returns `outcomes` in order for the next attempts, then `always`.

    Raises if the body of a webhook with this notice would not match the API description.
    """

    name = "recording"
    kinds = REMINDERS | {NoticeKind.DIGEST}

    def __init__(self, *keys: str) -> None:
        self.on: dict[str, str | None] = dict.fromkeys(keys or ("one",))
        self.sent: list[Sent] = []
        self.recorded: list[tuple[str, AttemptOutcome]] = []
        self.outcomes: list[AttemptOutcome] = []
        self.always: AttemptOutcome = OK

    def targets(self, owner: User) -> list[ChannelTarget]:
        return [ChannelTarget(self.name, key, f"To {key}", off) for key, off in self.on.items()]

    def send(self, key: str, notice: Notice, row: Any = None) -> AttemptOutcome:
        check_webhook(body_of(notice))
        outcome = self.outcomes.pop(0) if self.outcomes else self.always
        self.sent.append(Sent(key, notice, outcome))
        return outcome

    def record_outcome(self, key: str, outcome: AttemptOutcome, *, owner: User, now: dt.datetime) -> None:
        self.recorded.append((key, outcome))

    @property
    def sent_notices(self) -> list[tuple[str, str]]:
        """Kind and date of each notice that was sent, in order."""
        return [(sent.notice.kind.value, sent.notice.content.get("date", "")) for sent in self.sent]


@dataclass
class Sent:
    key: str
    notice: Notice
    outcome: AttemptOutcome
    extra: dict[str, Any] = field(default_factory=dict)
