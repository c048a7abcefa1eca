"""The record types of this app in the change feed."""

from collections.abc import Collection
from uuid import UUID

from accounts.feed.changes import FeedKind, RecordsById, register_feed_kind
from accounts.models import User
from contacts_project.kernel.json import Representation
from people.models import CustomFieldTemplate, DuplicateDismissal, Group, ImportantDate, Interaction, Person
from people.projection.people import represent_people
from people.projection.records import load_dates, represent_groups, represent_interactions, represent_template


def register_feed() -> None:
    """Called once, from AppConfig.ready()."""
    register_feed_kind(
        FeedKind(CustomFieldTemplate, 10, _render_templates),
        FeedKind(Group, 30, _render_groups),
        FeedKind(Person, 40, represent_people),
        FeedKind(ImportantDate, 50, load_dates),
        FeedKind(Interaction, 65, represent_interactions),
        FeedKind(DuplicateDismissal, 70, _render_dismissals),
    )


def _render_groups(owner: User, ids: Collection[UUID]) -> RecordsById:
    groups = represent_groups(owner, ids)
    return {
        key: group._replace(in_feed={name: value for name, value in group.body.items() if name != "people"})
        for key, group in groups.items()
    }


def _render_templates(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = CustomFieldTemplate.objects.owned_by(owner).active().filter(pk__in=ids)
    return {row.pk: represent_template(row) for row in rows}


def _render_dismissals(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = DuplicateDismissal.objects.owned_by(owner).filter(pk__in=ids)
    return {
        row.pk: Representation(row.revision, {"id": row.pk, "personAId": row.first_id, "personBId": row.second_id})
        for row in rows
    }
