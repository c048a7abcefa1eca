"""Each write gives its revision to the rows that it changes, and leaves the revisions of all other rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import User
from accounts.services.second_factor import has_second_factor
from contacts_project.kernel.ownership.models import FeedModel, Tombstone
from meetings.models import CalendarSource, MeetingProposal, ProposedPerson
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Interaction,
    Membership,
    Participation,
    Person,
    RelationshipType,
)
from relationships.models import Relationship
from tests.routes.calls import SAFE, owner_client, send
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES, Route

pytestmark = pytest.mark.sqlite_suffices

WRITES = [route for route in ROUTES if route.method not in SAFE and not route.own_credential]
SETTINGS = ("settings", None)
#: Tables whose rows the feed reports as part of another record.
LINKS = (CustomFieldValue, Membership, Participation, ProposedPerson, CalendarSource)


@dataclass(frozen=True)
class RecordState:
    """A record's revision, and everything that a client can see of it."""

    revision: int
    facts: Any


def feed_models() -> list[Any]:
    return [model for model in apps.get_models() if issubclass(model, FeedModel)]


def load_rows(model: Any, owner: User) -> dict[UUID, dict[str, Any]]:
    """The account's rows of a table, by id, in the database's own types: they are compared only with each other."""
    with connection.cursor() as cursor:
        key = User._meta.pk.get_db_prep_value(owner.pk, connection)
        cursor.execute(f'SELECT * FROM "{model._meta.db_table}" WHERE owner_id = %s', [key])
        columns = [column[0] for column in cursor.description]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    return {UUID(str(row["id"])): row for row in rows}


def records(owner: User) -> dict[Any, RecordState]:
    """The state of every record of the feed, by kind and id, including the trash."""
    found: dict[Any, RecordState] = {}
    tables = {model: load_rows(model, owner) for model in (*feed_models(), *LINKS)}
    for model in feed_models():
        hidden = {*model.UNREVISED_COLUMNS, "revision"}
        for key, row in tables[model].items():
            columns = {name: value for name, value in row.items() if name.removesuffix("_id") not in hidden}
            found[model.FEED_TYPE, key] = RecordState(
                row["revision"], (columns, list(linked_facts(model, row, tables)))
            )
    shown = {name: getattr(owner, name) for name in User.PROFILE_COLUMNS}
    found[SETTINGS] = RecordState(owner.settings_revision, (shown, has_second_factor(owner)))
    return found


def linked_facts(model: Any, row: dict[str, Any], tables: dict[Any, dict[UUID, dict[str, Any]]]) -> Iterator[Any]:
    """Yield the facts about the record that other tables contain."""

    def is_active(other: Any, key: Any) -> bool:
        return tables[other][UUID(str(key))]["deleted_at"] is None

    def links(of: Any, name: str) -> list[dict[str, Any]]:
        return [link for link in tables[of].values() if link[name] == row["id"]]

    if model is Person:
        yield {link["group_id"] for link in links(Membership, "person_id") if is_active(Group, link["group_id"])}
        values = links(CustomFieldValue, "person_id")
        yield {
            value["template_id"]: value["value"]
            for value in values
            if is_active(CustomFieldTemplate, value["template_id"])
        }
    elif model is ImportantDate:
        yield row["deleted_at"] is None and is_active(Person, row["person_id"])
    elif model is Interaction and row["deleted_at"] is None:
        people = sorted(links(Participation, "interaction_id"), key=itemgetter("position"))
        yield [(one["person_id"], is_active(Person, one["person_id"])) for one in people]
    elif model is MeetingProposal:
        yield tables[CalendarSource][UUID(str(row["source_id"]))]["name"]
        yield sorted((one["position"], one["person_id"]) for one in links(ProposedPerson, "proposal_id"))
    elif model is Relationship:
        ends = (row["person_id"], row["related_person_id"])
        yield row["deleted_at"] is None and all(is_active(Person, end) for end in ends)
    elif model is RelationshipType and row["inverse_id"] and is_active(RelationshipType, row["inverse_id"]):
        inverse = tables[RelationshipType][UUID(str(row["inverse_id"]))]
        yield inverse["id"], inverse["name"], inverse["label"]


@pytest.fixture(scope="module")
def before(committed_route_data: RouteData, django_db_blocker: Any) -> dict[Any, RecordState]:
    """The records that exist before each test."""
    with django_db_blocker.unblock():
        return records(User.objects.get(pk=committed_route_data.owner.pk))


@pytest.mark.parametrize("route", WRITES, ids=lambda route: route.name)
def test_write_sets_the_revision_of_changed_rows_only(
    route: Route, route_data: RouteData, before: dict[Any, RecordState]
) -> None:
    client = owner_client(route, route_data)
    revision_before = route_data.owner.revision
    Tombstone.unscoped.all().delete()
    response = send(client, route, route_data.ids)
    b"".join(response)
    owner = User.objects.filter(pk=route_data.owner.pk).first()
    if owner is None:
        assert not Tombstone.unscoped.exists()
        return
    after = records(owner)
    for key, record in after.items():
        previous = before.get(key)
        if previous and previous.facts == record.facts:
            assert record.revision == previous.revision, f"{key} has not changed"
        else:
            assert revision_before < record.revision <= owner.revision, f"{key} has changed: {previous} {record}"
    removed = dict.fromkeys(before.keys() - after.keys(), owner.revision)
    assert {(row.kind, row.record_id): row.revision for row in Tombstone.objects.owned_by(owner)} == removed


@pytest.mark.both_databases
def test_every_feed_kind_is_changed_by_some_route(route_data: RouteData) -> None:
    """Checks that the test above covers every kind."""
    kinds = {*(model.FEED_TYPE for model in feed_models()), "settings"}
    # No record of the table is a dismissal, but a route creates one.
    assert {kind for kind, _ in records(route_data.owner)} | {"dismissal"} == kinds
