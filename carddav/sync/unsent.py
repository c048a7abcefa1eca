"""Local changes that are still to be sent."""

import datetime as dt
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from carddav.models import UNSENT, Connection, Mapping, MappingStatus, Tombstone, TombstoneState
from people.mentions import may_be_mentioned
from people.models import ImportantDate, Membership
from people.models.person import Person, PersonQuerySet


def unsent_mappings(connection: Connection) -> QuerySet[Mapping]:
    """Mappings whose person may differ from what both sides agreed on: the person, a date or a group's name has a
    higher revision than the mapping."""
    owner_id = connection.owner_id
    rows = Mapping.objects.owned_by(owner_id).filter(connection=connection.pk)
    rows = rows.filter(person__deleted_at=None, person__card_dav_sync_enabled=True).exclude(status=MappingStatus.HELD)
    dates = ImportantDate.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), revision__gt=OuterRef("local_rev")
    )
    groups = Membership.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), group__revision__gt=OuterRef("local_rev")
    )
    is_edited = Q(person__revision__gt=F("local_rev")) | Exists(dates) | Exists(groups)
    return rows.filter(Q(status=MappingStatus.DIRTY) | is_edited)


def unsent_mapping_ids(connection: Connection) -> list[UUID]:
    """The ids of `unsent_mappings`, oldest first."""
    return list(unsent_mappings(connection).order_by("id").values_list("pk", flat=True))


def new_people(connection: Connection) -> PersonQuerySet:
    """With autoExportNew, the people without a card who were created after the connection."""
    rows = unmapped_people(connection.owner_id)
    if not connection.auto_export_new:
        return rows.none()
    since = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk).values("created_at")
    return rows.filter(created_at__gte=Subquery(since))


def unmapped_people(owner_id: UUID) -> PersonQuerySet:
    """The people who may get a card and have none."""
    mapped = Mapping.objects.owned_by(owner_id).values("person_id")
    return people_for_new_cards(owner_id).exclude(pk__in=mapped)


def people_for_new_cards(owner_id: UUID) -> PersonQuerySet:
    """The people who may get a card. A card that is there stays when its person becomes quiet, and goes on being
    synced."""
    return Person.objects.owned_by(owner_id).active().filter(may_be_mentioned(), card_dav_sync_enabled=True)


def next_retry_at(connection: Connection) -> dt.datetime | None:
    """When the first of the cards that are held back may be tried again; None if none may before it changes."""
    rows = Mapping.objects.owned_by(connection.owner_id).filter(connection=connection.pk).held_back()
    # A server without room, or a book that can only be read, waits for the next run that is due anyway.
    rows = rows.filter(failures__gt=0, next_try_at__isnull=False)
    return rows.order_by("next_try_at").values_list("next_try_at", flat=True).first()


_IS_HELD_BACK = Q(status=MappingStatus.QUARANTINED, local_rev=UNSENT) & ~Q(body_hash="")


def has_unsent(connection: Connection) -> bool:
    """Whether a run would send something. Cards that are held back do not count, unless the user lets them be tried."""
    to_delete = Tombstone.objects.owned_by(connection.owner_id).filter(
        connection=connection, state=TombstoneState.TO_DELETE
    )
    return (
        unsent_mappings(connection).exclude(_IS_HELD_BACK).exists()
        or to_delete.exists()
        or new_people(connection).exists()
    )
