"""Open proposals as answers and the change feed show them, read in a constant number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from meetings.models import CalendarSource, MeetingProposal, ProposedPerson
from people.names import COLUMNS


def represent_proposals(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The proposals by id. The feed names people by id alone, those in the trash as well."""
    rows = MeetingProposal.objects.owned_by(owner).filter(pk__in=ids)
    return {row.pk: record for row, record in _represent(owner, list(rows))}


def represent_proposal(owner: User, proposal_id: UUID) -> Representation:
    """One proposal. Raises MissingError."""
    rows = MeetingProposal.objects.owned_by(owner).with_people().filter(pk=proposal_id)
    found = next(iter(_represent(owner, list(rows))), None)
    if found is None:
        raise MissingError
    return found[1]


def _represent(owner: User, rows: list[MeetingProposal]) -> Iterable[tuple[MeetingProposal, Representation]]:
    parts = ProposedPerson.objects.owned_by(owner).filter(proposal__in=[row.pk for row in rows])
    now = set(parts.of_now().values_list("pk", flat=True))
    people: dict[UUID, list[ProposedPerson]] = defaultdict(list)
    columns = ("proposal", "by", *(f"person__{column}" for column in COLUMNS))
    for part in parts.select_related("person").only(*columns).order_by("position", "pk"):
        people[part.proposal_id].append(part)
    sources = dict(CalendarSource.objects.owned_by(owner).values_list("pk", "name"))  # without decrypting addresses
    for row in rows:
        named = [
            {"id": str(part.person_id), "name": part.person.display_name_for(owner), "by": part.by}
            for part in people[row.pk]
            if part.pk in now
        ]
        in_feed = [{"id": str(part.person_id), "by": part.by} for part in people[row.pk]]
        body = _serialize(row, sources[row.source_id])
        yield row, Representation(row.revision, {**body, "people": named}, {**body, "people": in_feed})


def _serialize(row: MeetingProposal, source_name: str) -> JsonObject:
    return {
        "id": str(row.pk),
        "sourceId": str(row.source_id),
        "sourceName": source_name,
        "title": row.title or None,
        "at": format_timestamp(row.starts_at),
        "endsAt": format_timestamp(row.ends_at),
        "people": [],
        "unknown": row.unknown,
        "location": row.location or None,
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }
