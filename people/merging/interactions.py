"""Moves interactions from the secondary to the primary in a merge, and back in an undo.

An interaction of both people stays as it is: the primary already takes part, and the secondary is in the trash.
"""

from collections.abc import Collection
from uuid import UUID

from people.interactions.days import annotate_latest, end_of_today, latest_day
from people.models import Interaction, Participation, Person
from people.services.person_writer import PersonWriter

BATCH_SIZE = 500


def move_interactions(
    writer: PersonWriter, primary: Person, secondary: Person, interaction_ids: Collection[UUID]
) -> list[str]:
    """Move these interactions to the primary; returns their ids. Both people must be under `writer.edit`."""
    moved = list(interaction_ids)
    _move_participations(writer, moved, secondary, primary)
    return [str(key) for key in moved]


def restore_interactions(
    writer: PersonWriter, primary: Person, secondary: Person, interaction_ids: Collection[str]
) -> None:
    """Move them back as they are now, except those that were removed for good or are no longer the primary's."""
    _move_participations(writer, [UUID(key) for key in interaction_ids], primary, secondary)


def _move_participations(writer: PersonWriter, ids: list[UUID], source: Person, target: Person) -> None:
    owner_id = source.owner_id
    for start in range(0, len(ids), BATCH_SIZE):
        batch = ids[start : start + BATCH_SIZE]
        # Before the move: the filter finds the interactions by the person who still takes part.
        Interaction.objects.owned_by(owner_id).filter(pk__in=batch, participations__person=source).update()
        Participation.objects.owned_by(owner_id).filter(person=source, interaction__in=batch).update(person=target)
    if ids:
        people = annotate_latest(
            Person.objects.owned_by(owner_id).filter(pk__in=[source.pk, target.pk]),
            end_of_today(writer.calendar, writer.now),
        )
        days = {person.pk: latest_day(person, writer.calendar) for person in people.only("owner_id")}
        for person in (source, target):
            person.interacted_on = days[person.pk]
