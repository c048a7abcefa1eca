"""Extension points through which other apps add to people; the people app does not import them.

An app registers an extension in its AppConfig.ready(). Every method runs inside the transaction of the calling write
(or read), and does nothing unless overridden. Extensions are for what must happen in the same transaction. What may
happen later uses people.signals, which are sent on commit.
"""

import datetime as dt
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework.serializers import Field

from accounts.models import User
from contacts_project.kernel.json import JsonMapping, JsonObject
from people.models import Person


@dataclass(frozen=True, slots=True)
class RelationshipTypeSpec:
    """A relationship type of an import or of a new account, by name. Without `inverse` it is symmetric."""

    name: str
    label: str
    inverse: str = ""
    inverse_label: str = ""


@dataclass(frozen=True, slots=True)
class ImportedRelationship:
    """A relationship that an import creates. `type_id` is the id of a relationship type."""

    person_id: UUID
    related_id: UUID
    type_id: UUID | None
    notes: str | None


class PersonExtension:
    """What one app adds to people. `name` is its key in a person's response, None if it adds none.

    `is_in_etag` is False for what changes without the person's revision and ETag.
    """

    name: str | None = None
    is_in_etag: bool = True

    def response_field(self) -> "Field[Any, Any, Any, Any] | None":
        """The serializer field of `name` in a response; None without a name."""
        return None

    def body_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        """Additional fields of the create body, by JSON name."""
        return {}

    def delete_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        """Additional fields of the delete body, by JSON name."""
        return {}

    def figures(self, owner: User) -> dict[str, int]:
        """What GET /api/dashboard/stats adds of this app, by JSON name."""
        return {}

    def check_create(self, owner_id: UUID, data: JsonObject) -> None:
        """Check the validated create body before anything is written; may change it. Raises FieldError."""

    def after_create(self, person: Person, data: JsonMapping) -> None:
        """A person was inserted; `data` is the validated body."""

    def rows(self, owner: User, person_ids: Collection[UUID] | None) -> Mapping[str, str]:
        """The entries of `name` in the responses of `person_ids`, or of all people (None).

        Maps the person's id, as `expressions.IdHex` of the kernel, to the comma-separated JSON of its entries.
        """
        return {}

    def before_delete(self, owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> Collection[UUID]:
        """People are about to be soft-deleted; returns the ids of more people to delete with them."""
        return ()

    def after_delete(self, owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> None:
        """People were soft-deleted, including those that `before_delete` of the extensions returned."""

    def before_removal(self, owner_id: UUID, person_ids: Collection[UUID]) -> Collection[str]:
        """People in the trash are about to be removed for good; returns the names of files that may go with them."""
        return ()

    def after_restore(self, person: Person, now: dt.datetime) -> None:
        """A person was restored from the trash."""

    def mark_related_changed(self, owner_id: UUID, person_ids: Collection[UUID]) -> None:
        """People were deleted or restored: mark this app's rows of them as changed in the change feed."""

    def related_pairs(self, owner_id: UUID, today: dt.date) -> Iterable[tuple[UUID, UUID]]:
        """The pairs of people that have a relationship which has not ended, each once or twice."""
        return ()

    def is_mirrored(self, owner_id: UUID, person_ids: Collection[UUID]) -> bool:
        """Whether any of these people has a card on the account's CardDAV server."""
        return False

    def after_group_delete(self, owner_id: UUID, group_ids: Collection[UUID]) -> None:
        """Groups were moved to the trash."""

    def before_group_removal(self, owner_id: UUID, group_ids: Collection[UUID]) -> None:
        """Groups in the trash are about to be removed for good."""

    def merge(self, primary: Person, secondary: Person, now: dt.datetime) -> Any:
        """Move the rows of the secondary to the primary, and mark those that stay as changed in the change feed.

        Returns a JSON before-image for `undo_merge`.
        """
        return None

    def undo_merge(self, primary: Person, secondary: Person, image: Any) -> None:
        """Restore both from `image`. Raises people.merging.related_rows.UndoConflictError if that is impossible."""

    def ensure_relationship_types(self, owner_id: UUID, specs: Sequence[RelationshipTypeSpec]) -> Mapping[str, UUID]:
        """The ids of the active relationship types by name; missing types are created."""
        return {}

    def add_relationships(
        self, owner_id: UUID, relationships: Sequence[ImportedRelationship], now: dt.datetime
    ) -> Collection[UUID]:
        """Create the missing relationships; returns their ids for `delete_relationships`."""
        return ()

    def relationships_changed_since(
        self, owner_id: UUID, person_ids: Collection[UUID], revision: int
    ) -> Iterable[tuple[UUID, int]]:
        """Pairs of a person's id and the revision of a relationship of theirs that changed after `revision`."""
        return ()

    def delete_relationships(
        self, owner_id: UUID, relationship_ids: Collection[UUID], own_revisions: Container[int], now: dt.datetime
    ) -> None:
        """Move relationships of an import to the trash, except those whose last revision is not in `own_revisions`."""


EXTENSIONS: list[PersonExtension] = []
"""The registered extensions, in the order of INSTALLED_APPS."""


def register_extension(extension: PersonExtension) -> None:
    """Called once per app, from AppConfig.ready()."""
    EXTENSIONS.append(extension)


# Whatever lets people say "not before that day", such as the task lists of their devices, need not know the app that
# sends reminders.
Snoozer = Callable[[User, Person, "dt.date | None", dt.datetime], None]
"""Of an account, one of its people, the day and now: inside the write of the caller, send nothing before that day, and
then once. Without a day: as if it had never been put off."""

_snoozers: list[Snoozer] = []


def register_snoozer(snooze: Snoozer) -> None:
    """Called once per app, from AppConfig.ready()."""
    _snoozers.append(snooze)


def snooze_contact(*, owner: User, person: Person, day: dt.date | None, now: dt.datetime) -> None:
    """Put the contact reminder off to a day, or no longer. Must be called inside `account_write`."""
    for snooze in _snoozers:
        snooze(owner, person, day, now)
