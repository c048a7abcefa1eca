"""What waits here to be sent."""

from typing import Any

from django.db.models import Exists, F, OuterRef, Q

from carddav.models import UNSENT, Connection, Mapping, MappingStatus, Tombstone, TombstoneState
from people.models import ImportantDate, Membership
from people.models.person import Person, PersonQuerySet


def unsent_mappings(connection: Connection) -> Any:
    """The mappings whose person differs from what was agreed on, or may do so: the person, a date or the name of a
    group was written after the account's revision at which both sides agreed."""
    rows = Mapping.objects.owned_by(connection.owner_id).filter(connection=connection)
    rows = rows.filter(person__deleted_at=None, person__card_dav_sync_enabled=True).exclude(status=MappingStatus.HELD)
    owner = connection.owner_id
    dates = ImportantDate.objects.owned_by(owner).filter(person=OuterRef("person"), revision__gt=OuterRef("local_rev"))
    groups = Membership.objects.owned_by(owner).filter(
        person=OuterRef("person"), group__revision__gt=OuterRef("local_rev")
    )
    is_edited = Q(person__revision__gt=F("local_rev")) | Exists(dates) | Exists(groups)
    return rows.filter(Q(status=MappingStatus.DIRTY) | is_edited)


def new_people(connection: Connection) -> PersonQuerySet:
    """With autoExportNew, the people who were made since there is a connection, and have no card yet."""
    rows = unmapped_people(connection)
    return rows.filter(created_at__gte=connection.created_at) if connection.auto_export_new else rows.none()


def unmapped_people(connection: Connection) -> PersonQuerySet:
    """The people who may have a card, and have none."""
    mapped = Mapping.objects.owned_by(connection.owner_id).values("person_id")
    active = Person.objects.owned_by(connection.owner_id).active()
    return active.filter(card_dav_sync_enabled=True).exclude(pk__in=mapped)


def has_unsent(connection: Connection) -> bool:
    """Whether a run would have something to send; what the server has refused is not sent again by itself."""
    to_delete = Tombstone.objects.owned_by(connection.owner_id).filter(
        connection=connection, state=TombstoneState.TO_DELETE
    )
    return (
        unsent_mappings(connection).exclude(status=MappingStatus.QUARANTINED, local_rev=UNSENT).exists()
        or to_delete.exists()
        or new_people(connection).exists()
    )
