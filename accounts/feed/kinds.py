"""The kinds of records that the change feed tells of: each app registers its own in AppConfig.ready()."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.json import Representation
from contacts_project.kernel.ownership.models import FeedModel

Answers = Mapping[UUID, Representation]
"""Records by id, each as its own GET shows it."""


@dataclass(frozen=True)
class FeedKind:
    """One kind. `answers(owner, ids)` gives those of the records that are active, in a constant number of queries.

    `place` orders what one write has changed: what others point at first. It is part of cursors, so it stays.
    `record` makes of the body of an answer what the feed tells; without it that is the body itself.
    """

    model: type[FeedModel]
    place: int
    answers: Callable[[User, Collection[UUID]], Answers]
    record: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        return self.model.FEED_TYPE


SETTINGS = "settings"
"""The account's profile: no table of records, and always there."""

_kinds: dict[str, FeedKind] = {}
_settings: list[Callable[[User], Representation]] = []


def register_feed_kind(*kinds: FeedKind) -> None:
    """Add kinds; once, from AppConfig.ready()."""
    _kinds.update({kind.name: kind for kind in kinds})


def register_feed_settings(answer: Callable[[User], Representation]) -> None:
    """Say how the profile is shown; once, from AppConfig.ready()."""
    _settings.append(answer)


def settings_record(owner: User) -> Representation:
    """The profile, as its GET shows it."""
    return _settings[0](owner)


def feed_kinds() -> list[FeedKind]:
    """All of them, by place."""
    return sorted(_kinds.values(), key=lambda kind: kind.place)


def feed_types() -> list[str]:
    """What `types` may name."""
    return [SETTINGS, *(kind.name for kind in feed_kinds())]
