"""Creates rows of meetings directly."""

import datetime as dt
from typing import Any

from contacts_project.kernel.ownership.account_lock import account_write
from meetings.calendars.occurrences import hash_key
from meetings.models import CalendarSource, FoundBy, MeetingProposal, ProposedPerson
from people.models import Person


def make_proposal(source: CalendarSource, person: Person, **fields: Any) -> MeetingProposal:
    """An open proposal of a meeting with a person, an hour long."""
    owner, number = source.owner, MeetingProposal.objects.owned_by(source.owner).count()
    keys = {name: hash_key(name, str(number)) for name in ("key", "day_key", "series_key", "title_key")}
    at = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
    with account_write(owner):
        row = MeetingProposal.objects.create(
            owner=owner,
            source=source,
            **{"title": "Lunch", "starts_at": at, "ends_at": at + dt.timedelta(hours=1), **keys, **fields},
        )
        ProposedPerson.objects.create(owner=owner, proposal=row, person=person, by=FoundBy.EMAIL)
    return row
