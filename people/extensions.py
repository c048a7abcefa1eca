"""What other apps add to a person, without people knowing them.

An app above people registers an extension in its AppConfig.ready(). Every method runs inside the transaction of the
write (or read) that calls it, and does nothing unless overridden. Extensions are for what must happen with the write;
news that may follow later travels by people.signals, sent on commit.
"""

import datetime as dt
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework.serializers import Field

from accounts.models import User
from people.models import Person


@dataclass(frozen=True, slots=True)
class TieType:
    """A kind of tie that an import names; without `inverse` it is its own."""

    name: str
    label: str
    inverse: str = ""
    inverse_label: str = ""


@dataclass(frozen=True, slots=True)
class ImportedTie:
    """One person is a type (its id) of another one."""

    person_id: UUID
    related_id: UUID
    type_id: UUID | None
    notes: str | None


class PersonExtension:
    """One app's share in a person. `name` is the key of its rows in a person's answer, None when it adds none."""

    name: str | None = None

    def answer_field(self) -> "Field[Any, Any, Any, Any] | None":
        """What `name` holds in an answer; None without a name."""
        return None

    def body_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        """Further fields of the create body, by their JSON name."""
        return {}

    def delete_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        """Further fields of the delete body, by their JSON name."""
        return {}

    def check_create(self, data: dict[str, Any]) -> None:
        """Look at the validated create body before anything is written; may move values (raise FieldError)."""

    def created(self, person: Person, data: Mapping[str, Any]) -> None:
        """A person was inserted; `data` is the validated body."""

    def rows(self, owner: User, person_ids: Collection[UUID] | None) -> Mapping[str, str]:
        """What this extension adds to answers of `person_ids`, or of everyone (None).

        By the person's id as contacts_project.kernel.api.ids.IdHex, the JSON of its entries with commas between.
        """
        return {}

    def deleting(self, owner_id: UUID, person_ids: Collection[UUID], options: Mapping[str, Any]) -> Collection[UUID]:
        """People are about to be soft-deleted; returns the ids of more people to delete with them."""
        return ()

    def deleted(self, owner_id: UUID, person_ids: Collection[UUID], options: Mapping[str, Any]) -> None:
        """All these people were soft-deleted, those that the extensions added among them."""

    def restored(self, person: Person, now: dt.datetime) -> None:
        """A person came out of the trash."""

    def mark_related_changed(self, owner_id: UUID, person_ids: Collection[UUID]) -> None:
        """These people went to the trash or came back: tell the feed of this app's rows that hang on them."""

    def is_mirrored(self, owner_id: UUID, person_ids: Collection[UUID]) -> bool:
        """Whether any of these people has a counterpart on the account's CardDAV server."""
        return False

    def merging(self, primary: Person, secondary: Person, now: dt.datetime) -> Any:
        """Move what hangs on the secondary to the primary; returns a JSON before-image for `unmerging`."""
        return None

    def unmerging(self, primary: Person, secondary: Person, image: Any) -> None:
        """Put both back as `image` says. Raises people.merging.merge.UndoConflictError when that cannot be."""

    def tie_types(self, owner_id: UUID, wanted: Sequence[TieType]) -> Mapping[str, UUID]:
        """The active types by those names; what is not there is made."""
        return {}

    def tie(self, owner_id: UUID, ties: Sequence[ImportedTie], now: dt.datetime) -> Collection[UUID]:
        """Make the ties that are not there yet; returns their ids, as `untie` takes them."""
        return ()

    def tied_since(self, owner_id: UUID, person_ids: Collection[UUID], revision: int) -> Iterable[tuple[UUID, int]]:
        """Those of these people whose ties to others were made or changed after this revision, and by which write."""
        return ()

    def untie(self, owner_id: UUID, tie_ids: Collection[UUID], own: Container[int], now: dt.datetime) -> None:
        """Move these ties that an import made to the trash, but for those that other writes than its own changed."""


EXTENSIONS: list[PersonExtension] = []
"""All that are registered, in the order of INSTALLED_APPS."""


def register_extension(extension: PersonExtension) -> None:
    """Add an app's share; once, from AppConfig.ready()."""
    EXTENSIONS.append(extension)
