"""The kinds of records in the change feed: each app registers its own in AppConfig.ready()."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.models import FeedModel

RecordsById = Mapping[UUID, Representation]
"""Records by id, each in the format of its own GET; `in_feed` is without what the feed sends as other records."""


@dataclass(frozen=True)
class FeedKind:
    """One kind. `load(owner, ids)` returns those of the records that are active, in a constant number of queries.

    `order` sorts the records that one write has changed: a record comes after those that it refers to. Cursors contain
    it, so it must not change.
    """

    model: type[FeedModel]
    order: int
    load: Callable[[User, Collection[UUID]], RecordsById]

    @property
    def name(self) -> str:
        return self.model.FEED_TYPE


SETTINGS = "settings"
"""The account's profile: a single record that always exists, in the row of the user."""

_kinds: dict[str, FeedKind] = {}
_settings: list[Callable[[User], Representation]] = []


def register_feed_kind(*kinds: FeedKind) -> None:
    """Must be called once, from AppConfig.ready()."""
    _kinds.update({kind.name: kind for kind in kinds})


def register_feed_settings(serialize: Callable[[User], Representation]) -> None:
    """Set the function that serializes the profile. Must be called once, from AppConfig.ready()."""
    _settings.append(serialize)


def settings_record(owner: User) -> Representation:
    """The profile, in the format of its GET."""
    return _settings[0](owner)


def feed_kinds() -> list[FeedKind]:
    """All registered kinds, sorted by `order`."""
    return sorted(_kinds.values(), key=lambda kind: kind.order)


def feed_types() -> list[str]:
    """The valid values of the query parameter `types`."""
    return [SETTINGS, *(kind.name for kind in feed_kinds())]
