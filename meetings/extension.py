"""Hooks into writes of people: proposals follow who is deleted or merged."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from contacts_project.kernel.json import JsonMapping
from meetings.models import MeetingProposal, ProposedPerson
from meetings.services.answers import drop_empty
from people.extensions import PersonExtension
from people.models import Person


class MeetingsExtension(PersonExtension):
    """A proposal goes with the last of its people; the next reading finds again who is restored."""

    def after_delete(self, owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> None:
        if ProposedPerson.objects.owned_by(owner_id).filter(person__in=person_ids).exists():
            drop_empty(owner_id)

    def merge(self, primary: Person, secondary: Person, now: dt.datetime) -> None:
        """The primary is in the secondary's proposals."""
        rows = ProposedPerson.objects.owned_by(primary.owner_id)
        present = rows.filter(person=primary).values("proposal_id")
        moved = list(rows.filter(person=secondary).exclude(proposal__in=present).values_list("proposal_id", flat=True))
        if moved:
            rows.filter(person=secondary, proposal__in=moved).update(person=primary)
            MeetingProposal.objects.owned_by(primary.owner_id).filter(pk__in=moved).update()
