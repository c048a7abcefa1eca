"""The record types of this app in the change feed."""

from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

import orjson

from accounts.feed.kinds import FeedKind, RecordsById, register_feed_kind
from accounts.models import User
from contacts_project.kernel.api.json import Representation
from people.models import CustomFieldTemplate, DuplicateDismissal, Group, ImportantDate, Interaction, Person
from people.projection import represent_people
from people.projection.custom_templates import represent_template
from people.projection.groups import represent_groups
from people.projection.important_dates import represent_date
from people.projection.interactions import represent_interactions

# The parts of a person's response that repeat other records, which the feed contains as records of their own.
_REPEATED_KEYS: Final = ("groups", "relationshipToUser", "relationships", "importantDates")


def register_feed() -> None:
    """Called once, from AppConfig.ready()."""
    register_feed_kind(
        FeedKind(CustomFieldTemplate, 10, _render_templates),
        FeedKind(Group, 30, represent_groups, _without_people),
        FeedKind(Person, 40, represent_people, _without_repeated_records),
        FeedKind(ImportantDate, 50, _render_dates),
        FeedKind(Interaction, 65, represent_interactions),
        FeedKind(DuplicateDismissal, 70, _render_dismissals),
    )


def _without_repeated_records(record: orjson.Fragment) -> dict[str, Any]:
    person: dict[str, Any] = orjson.loads(orjson.dumps(record))
    for name in _REPEATED_KEYS:
        del person[name]
    person["customFieldValues"] = [
        {name: value[name] for name in ("id", "templateId", "value")} for value in person["customFieldValues"]
    ]
    return person


def _without_people(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "people"}


def _render_templates(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = CustomFieldTemplate.objects.owned_by(owner).active().filter(pk__in=ids)
    return {row.pk: represent_template(row) for row in rows}


def _render_dates(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = ImportantDate.objects.owned_by(owner).active().filter(pk__in=ids, person__deleted_at=None)
    return {row.pk: represent_date(row) for row in rows}


def _render_dismissals(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = DuplicateDismissal.objects.owned_by(owner).filter(pk__in=ids)
    return {
        row.pk: Representation(row.revision, {"id": row.pk, "personAId": row.first_id, "personBId": row.second_id})
        for row in rows
    }
