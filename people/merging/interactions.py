"""Interactions of two people that are merged into one, and apart again.

One in which both took part stays as it is: the primary is there, and the secondary is in the trash.
"""

from collections.abc import Collection
from uuid import UUID

from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.interactions.days import annotate_latest, latest_day
from people.models import Interaction, Participation, Person
from people.services.person_writer import PersonWriter

# Those of the one in which the other did not take part; of many there may be thousands, so the database compares.
_OF_ONE_ALONE = CompiledQuery(
    lambda owner_id, person_id, other_id: (
        Participation.objects.owned_by(owner_id)
        .filter(person_id=person_id)
        .exclude(
            interaction__in=Participation.objects.owned_by(owner_id).filter(person_id=other_id).values("interaction")
        )
    )
)


def move_interactions(writer: PersonWriter, primary: Person, secondary: Person) -> list[str]:
    """Give the secondary's interactions to the primary; returns their ids. Both are under the writer's change."""
    rows = _OF_ONE_ALONE.instances(owner_id=primary.owner_id, person_id=secondary.pk, other_id=primary.pk)
    moved = [row.interaction_id for row in rows]
    _move(writer, moved, secondary, primary)
    return [str(key) for key in moved]


def return_interactions(
    writer: PersonWriter, primary: Person, secondary: Person, interaction_ids: Collection[str]
) -> None:
    """Give them back as they are now; those that are gone, or no longer the primary's, stay so."""
    _move(writer, [UUID(key) for key in interaction_ids], primary, secondary)


_AT_ONCE = 500


def _move(writer: PersonWriter, ids: list[UUID], giver: Person, taker: Person) -> None:
    owner_id = giver.owner_id
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        Interaction.objects.owned_by(owner_id).filter(pk__in=some, participations__person=giver).mark_changed()
        Participation.objects.owned_by(owner_id).filter(person=giver, interaction__in=some).update(person=taker)
    if ids:
        both = annotate_latest(
            Person.objects.owned_by(owner_id).filter(pk__in=[giver.pk, taker.pk]), writer.calendar, writer.now
        )
        days = {person.pk: latest_day(person, writer.calendar) for person in both.only("owner_id")}
        for person in (giver, taker):
            person.interacted_on = days[person.pk]
