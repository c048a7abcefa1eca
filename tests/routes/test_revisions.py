"""What each route that writes does to the revisions of rows: what changed carries the write's, the others theirs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps

from accounts.models import User
from accounts.services.second_factor import has_second_factor
from contacts_project.kernel.ownership.models import FeedModel
from contacts_project.kernel.ownership.tombstones import Tombstone
from people.models import CustomFieldValue, ImportantDate, Interaction, Membership, Person, RelationshipType
from relationships.models import Relationship
from tests.client import client_of
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route
from tests.routes.test_routes import SAFE, committed_route_data, route_data, send

__all__ = ["committed_route_data", "route_data"]  # fixtures

WRITES = [route for route in ROUTES if route.method not in SAFE and not route.own_credential]
SETTINGS = ("settings", None)
#: What `elsewhere` looks at of each row.
JOINED: dict[Any, tuple[str, ...]] = {
    ImportantDate: ("person",),
    Relationship: ("person", "related_person"),
    RelationshipType: ("inverse",),
}


@dataclass(frozen=True)
class Seen:
    """One record: the number it carries, and all that a client can see of it."""

    revision: int
    facts: Any


def feed_models() -> list[Any]:
    return [model for model in apps.get_models() if issubclass(model, FeedModel)]


def records(owner: User) -> dict[Any, Seen]:
    """What the feed would tell of the account now, by kind and id; what is in the trash is there, too."""
    found = {}
    for model in feed_models():
        hidden = {*model.QUIET_COLUMNS, "revision"}
        for row in model._default_manager.filter(owner=owner).select_related(*JOINED.get(model, ())):
            columns = {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields if f.name not in hidden}
            found[model.FEED_TYPE, row.pk] = Seen(row.revision, (columns, list(elsewhere(row))))
    shown = {name: getattr(owner, name) for name in User.SHOWN}
    found[SETTINGS] = Seen(owner.settings_revision, (shown, has_second_factor(owner)))
    return found


def elsewhere(row: Any) -> Iterator[Any]:
    """What other tables say of the record."""
    if isinstance(row, Person):
        yield sorted(Membership.unscoped.filter(person=row, group__deleted_at=None).values_list("group_id"))
        values = CustomFieldValue.unscoped.filter(person=row, template__deleted_at=None)
        yield {value.template_id: value.value for value in values}
    elif isinstance(row, ImportantDate):
        yield row.deleted_at is row.person.deleted_at is None
    elif isinstance(row, Interaction):
        people = row.participations.select_related("person").order_by("position")
        if row.deleted_at is None:
            yield [(one.person_id, one.person.deleted_at is None) for one in people]
    elif isinstance(row, Relationship):
        yield row.deleted_at is row.person.deleted_at is row.related_person.deleted_at is None
    elif isinstance(row, RelationshipType) and (inverse := row.active_inverse):
        yield inverse.pk, inverse.name, inverse.label


@pytest.fixture(scope="module")
def before(committed_route_data: RouteData, django_db_blocker: Any) -> dict[Any, Seen]:
    """The records that every test begins with."""
    with django_db_blocker.unblock():
        return records(User.objects.get(pk=committed_route_data.owner.pk))


@pytest.mark.parametrize("route", WRITES, ids=lambda route: route.name)
def test_a_write_numbers_what_it_changes_and_nothing_else(
    route: Route, route_data: RouteData, before: dict[Any, Seen]
) -> None:
    client = route_data.client
    if route.session_only:
        client = client_of(None)
        client.force_login(route_data.owner)
    started_at = route_data.owner.revision
    Tombstone.unscoped.all().delete()
    response = send(client, route, route_data.ids)
    b"".join(response)
    owner = User.objects.filter(pk=route_data.owner.pk).first()
    if owner is None:
        assert not Tombstone.unscoped.exists()
        return
    after = records(owner)
    for key, record in after.items():
        was = before.get(key)
        if was and was.facts == record.facts:
            assert record.revision == was.revision, f"{key} has not changed"
        else:
            assert started_at < record.revision <= owner.revision, f"{key} has changed: {was} {record}"
    gone = dict.fromkeys(before.keys() - after.keys(), owner.revision)
    assert {(row.kind, row.record_id): row.revision for row in Tombstone.objects.owned_by(owner)} == gone


def test_the_routes_change_records_of_every_kind(route_data: RouteData) -> None:
    """So that the test above has something to see."""
    kinds = {*(model.FEED_TYPE for model in feed_models()), "settings"}
    assert {kind for kind, _ in records(route_data.owner)} | {
        "dismissal"
    } == kinds  # that has a route to make one alone
