"""Local changes that are still to be sent."""

from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, Subquery

from carddav.models import UNSENT, Connection, Mapping, MappingStatus, Tombstone, TombstoneState
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.models import ImportantDate, Membership
from people.models.person import Person, PersonQuerySet


def unsent_mappings(connection: Connection) -> Any:
    """Mappings whose person may differ from what both sides agreed on: the person, a date or a group's name has a
    higher revision than the mapping."""
    return _unsent_mappings(connection.owner_id, connection.pk)


def unsent_mapping_ids(connection: Connection) -> list[UUID]:
    """The ids of `unsent_mappings`, oldest first."""
    return [key for (key,) in _UNSENT_IDS.values(owner_id=connection.owner_id, connection_id=connection.pk)]


def _unsent_mappings(owner_id: UUID, connection_id: UUID) -> Any:
    rows = Mapping.objects.owned_by(owner_id).filter(connection=connection_id)
    rows = rows.filter(person__deleted_at=None, person__card_dav_sync_enabled=True).exclude(status=MappingStatus.HELD)
    dates = ImportantDate.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), revision__gt=OuterRef("local_rev")
    )
    groups = Membership.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), group__revision__gt=OuterRef("local_rev")
    )
    is_edited = Q(person__revision__gt=F("local_rev")) | Exists(dates) | Exists(groups)
    return rows.filter(Q(status=MappingStatus.DIRTY) | is_edited)


def new_people(connection: Connection) -> PersonQuerySet:
    """With autoExportNew, the people without a card who were created after the connection."""
    rows = _new_people(connection.owner_id, connection.pk)
    return rows if connection.auto_export_new else rows.none()


def new_people_ids(connection: Connection) -> list[UUID]:
    """The ids of `new_people`."""
    parameters = {"owner_id": connection.owner_id, "connection_id": connection.pk}
    return [key for (key,) in _NEW_PEOPLE_IDS.values(**parameters)] if connection.auto_export_new else []


def _new_people(owner_id: UUID, connection_id: UUID) -> PersonQuerySet:
    since = Connection.objects.owned_by(owner_id).filter(pk=connection_id).values("created_at")
    return unmapped_people(owner_id).filter(created_at__gte=Subquery(since))


def unmapped_people(owner_id: UUID) -> PersonQuerySet:
    """The people who may have a card and have none."""
    mapped = Mapping.objects.owned_by(owner_id).values("person_id")
    return Person.objects.owned_by(owner_id).active().filter(card_dav_sync_enabled=True).exclude(pk__in=mapped)


# Every run executes these two, and most find nothing, so their SQL is compiled once.
_UNSENT_IDS = CompiledQuery(
    lambda owner_id, connection_id: _unsent_mappings(owner_id, connection_id).order_by("id").values_list("pk")
)
_NEW_PEOPLE_IDS = CompiledQuery(lambda owner_id, connection_id: _new_people(owner_id, connection_id).values_list("pk"))


def has_unsent(connection: Connection) -> bool:
    """Whether a run would send something. Cards that the server refused do not count."""
    to_delete = Tombstone.objects.owned_by(connection.owner_id).filter(
        connection=connection, state=TombstoneState.TO_DELETE
    )
    return (
        unsent_mappings(connection).exclude(status=MappingStatus.QUARANTINED, local_rev=UNSENT).exists()
        or to_delete.exists()
        or new_people(connection).exists()
    )
