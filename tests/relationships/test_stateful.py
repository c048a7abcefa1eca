"""Random operations on people, relationships and types through the API, with a check of the invariants after each.

They run in sequences of 100, in four parts; TEST_ROUNDS=30 runs 12,000.
"""

import itertools
from collections import Counter
from typing import Any, ClassVar

import orjson
import pytest
from django.db import connection
from django.urls import resolve
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from rest_framework.test import APIRequestFactory, force_authenticate

from accounts.models import User
from people.models import Person
from relationships.connectivity import USER
from relationships.models import Relationship
from tests.builders import make_user
from tests.relationships import reference
from tests.relationships.invariants import check_invariants
from tests.rounds import rounds_per_database

OPERATIONS = rounds_per_database(400)
PARTS = 4
WRONG_STATE_DIGIT = 7  # a pick with this last digit is an id in the wrong state
STEPS = 100
picks = st.integers(0, 999)
counter = itertools.count()
request_factory = APIRequestFactory()


def requires(kind: str, *, deleted: bool = False) -> Any:
    """Run the rule only if there are such ids."""
    return precondition(lambda self: getattr(self, kind).deleted if deleted else getattr(self, kind).active)


class Ids:
    """Ids of one kind, as far as the responses show: the active ones, and those in the trash."""

    def __init__(self) -> None:
        self.active: list[str] = []
        self.deleted: list[str] = []

    def add(self, *ids: str | None) -> None:
        for key in filter(None, ids):
            self.drop(key)
            self.active.append(key)

    def delete(self, key: str) -> None:
        self.drop(key)
        self.deleted.append(key)

    def drop(self, key: str) -> None:
        for ids in (self.active, self.deleted):
            if key in ids:
                ids.remove(key)

    def pick(self, number: int, *, or_none: bool = False, deleted: bool = False) -> str | None:
        """One of the newest twelve active ids, or deleted ones if `deleted`; sometimes one in the other state."""
        if or_none and number % 4 == 0:
            return None
        preferred, others = (self.deleted, self.active) if deleted else (self.active, self.deleted)
        ids = others if number % 10 == WRONG_STATE_DIGIT or not preferred else preferred
        return ids[-1 - number % min(12, len(ids))] if ids else None


class RelationshipMachine(RuleBasedStateMachine):
    """Operations on one account."""

    status_counts: ClassVar[Counter[int]] = Counter()

    @initialize()
    def create_account(self) -> None:
        self.owner = make_user(f"user{next(counter)}@example.org")
        self.checked_revision = self.compared_revision = self.revision()
        self.people, self.relationships, self.types, self.merges = Ids(), Ids(), Ids(), Ids()
        self.types.add(*[row["id"] for row in self.send("GET", "relationship-types")["relationshipTypes"]])
        for _ in range(3):
            self.add_person(0, 999)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that may be refused but must not fail; returns the response, or None if it was refused.

        Calls the view directly, as the owner: middleware and tokens have their own tests, and take half of the time.
        """
        view, arguments, named = resolve(f"/api/{path}")
        request = request_factory.generic(method, f"/api/{path}", orjson.dumps(body).decode(), "application/json")
        force_authenticate(request, self.owner)
        response = view(request, *arguments, **named).render()
        assert response.status_code in {200, 201, 400, 404, 409}, response.content
        self.status_counts[response.status_code] += 1
        return orjson.loads(response.content) if response.status_code < 300 else None

    def revision(self) -> int:
        """The revision of the account, which each write raises."""
        return User.objects.values_list("revision", flat=True).get(pk=self.owner.pk)

    def delete(self, path: str, ids: Ids, pick: int, body: Any = None) -> None:
        key = ids.pick(pick)
        if self.send("DELETE", f"{path}/{key}", body) and key:
            ids.delete(key)

    def restore(self, path: str, ids: Ids, pick: int) -> None:
        key = ids.pick(pick, deleted=True)
        if self.send("POST", f"{path}/{key}/restore"):
            ids.add(key)

    def remove(self, path: str, ids: Ids, pick: int) -> None:
        key = ids.pick(pick, deleted=True)
        if self.send("DELETE", f"{path}/{key}/permanent") and key:
            ids.drop(key)

    @rule(kind=picks, through=picks)
    def add_person(self, kind: int, through: int) -> None:
        body = {
            "name": f"P{next(counter)}",
            "relationshipToUserId": self.types.pick(kind, or_none=True),
            "connectedThroughId": self.people.pick(through) if through % 3 == 0 else None,
        }
        if response := self.send("POST", "people", body):
            self.people.add(response["person"]["id"])
            self.relationships.add(*[row["id"] for row in response["person"]["relationships"]])

    @requires("people")
    @rule(who=picks, with_orphans=st.booleans())
    def delete_person(self, who: int, with_orphans: bool) -> None:
        self.delete("people", self.people, who, {"deleteOrphans": with_orphans})

    @requires("people", deleted=True)
    @rule(who=picks)
    def restore_person(self, who: int) -> None:
        self.restore("people", self.people, who)

    @requires("people", deleted=True)
    @rule(who=picks)
    def remove_person(self, who: int) -> None:
        self.remove("people", self.people, who)

    @requires("people")
    @rule(one=picks, other=picks, kind=picks)
    def relate(self, one: int, other: int, kind: int) -> None:
        body = {
            "personId": self.people.pick(one),
            "relatedPersonId": self.people.pick(other),
            "relationshipTypeId": self.types.pick(kind, or_none=True),
        }
        if response := self.send("POST", "relationships", body):
            self.relationships.add(response["relationship"]["id"])

    @requires("relationships")
    @rule(which=picks, kind=picks, notes=st.sampled_from([None, "x", "y"]))
    def change_relationship(self, which: int, kind: int, notes: str | None) -> None:
        body = {"relationshipTypeId": self.types.pick(kind, or_none=True), "notes": notes}
        self.send("PUT", f"relationships/{self.relationships.pick(which)}", body)

    @requires("relationships")
    @rule(which=picks)
    def delete_relationship(self, which: int) -> None:
        self.delete("relationships", self.relationships, which)

    @requires("relationships", deleted=True)
    @rule(which=picks)
    def restore_relationship(self, which: int) -> None:
        self.restore("relationships", self.relationships, which)

    @requires("relationships", deleted=True)
    @rule(which=picks)
    def remove_relationship(self, which: int) -> None:
        self.remove("relationships", self.relationships, which)

    @rule(name=st.sampled_from("ABCDEF"), symmetric=st.booleans(), back=st.sampled_from("ABCDEF"), other=picks)
    def create_type(self, name: str, symmetric: bool, back: str, other: int) -> None:
        body = {"name": name, "label": name, "symmetric": symmetric}
        if not symmetric:
            body |= {"inverseLabel": back, "inverseId": self.types.pick(other) if other % 3 == 0 else None}
        if response := self.send("POST", "relationship-types", body):
            self.types.add(response["relationshipType"]["inverseId"], response["relationshipType"]["id"])

    @requires("types")
    @rule(
        which=picks,
        symmetric=st.sampled_from([None, True, False]),
        back=st.sampled_from([None, "B", "X", "Y"]),
        other=picks,
    )
    def change_type(self, which: int, symmetric: bool | None, back: str | None, other: int) -> None:
        body: dict[str, Any] = {"inverseLabel": back}
        if symmetric is not None:
            body["symmetric"] = symmetric
        if other % 3 == 0:
            body["inverseId"] = self.types.pick(other)
        response = self.send("PUT", f"relationship-types/{self.types.pick(which)}", body)
        if response:
            self.types.add(response["relationshipType"]["inverseId"])

    @requires("types")
    @rule(which=picks)
    def delete_type(self, which: int) -> None:
        self.delete("relationship-types", self.types, which)

    @requires("types", deleted=True)
    @rule(which=picks)
    def restore_type(self, which: int) -> None:
        self.restore("relationship-types", self.types, which)

    @requires("types", deleted=True)
    @rule(which=picks)
    def remove_type(self, which: int) -> None:
        self.remove("relationship-types", self.types, which)

    @requires("people")
    @rule(some=st.lists(picks, min_size=1, max_size=3), with_orphans=st.booleans(), kind=picks, deletes=st.booleans())
    def change_in_bulk(self, some: list[int], with_orphans: bool, kind: int, deletes: bool) -> None:
        body: dict[str, Any] = {"personIds": [self.people.pick(pick) for pick in some]}
        if deletes:
            body |= {"action": "delete", "deleteOrphans": with_orphans}
        else:
            body |= {"action": "setRelationship", "relationshipTypeId": self.types.pick(kind)}
        self.send("POST", "people/bulk", body)

    @requires("people")
    @rule(one=picks, other=picks)
    def merge(self, one: int, other: int) -> None:
        primary, secondary = self.people.pick(one), self.people.pick(other)
        response = self.send("POST", "people/merge", {"primaryId": primary, "secondaryId": secondary})
        if response and secondary:
            self.merges.add(response["mergeId"])
            self.people.delete(secondary)

    @requires("merges")
    @rule(which=picks)
    def undo_merge(self, which: int) -> None:
        self.send("POST", f"people/merge/{self.merges.pick(which)}/undo")

    @precondition(lambda self: self.checked_revision - self.compared_revision > 2)
    @rule(some=st.lists(picks, min_size=1, max_size=3))
    def compare_orphans(self, some: list[int]) -> None:
        self.compared_revision = self.checked_revision
        people = Person.objects.owned_by(self.owner).active()
        active = {str(row.pk): row.relationship_to_user_id for row in people}
        removed = active.keys() & {self.people.pick(pick) for pick in some}
        edges = [(USER, person) for person, kind in active.items() if kind]
        edges += [
            (str(row.person_id), str(row.related_person_id))
            for row in Relationship.objects.owned_by(self.owner).active()
        ]
        response = self.send("POST", "people/bulk/orphans", {"personIds": sorted(removed)})
        assert {row["id"] for row in response["orphans"]} == reference.orphans_of(removed, active, edges)

    @invariant()
    def check(self) -> None:
        """Check the invariants, unless nothing was written since the last check."""
        if self.checked_revision != (revision := self.revision()):
            self.checked_revision = revision
            check_invariants(self.owner)
            connection.check_constraints()


@pytest.mark.parametrize("part", range(PARTS))
def test_invariants_hold_after_random_operations(db: None, part: int) -> None:
    RelationshipMachine.status_counts.clear()
    while (left := OPERATIONS // PARTS - RelationshipMachine.status_counts.total()) > 0:
        examples = -(-left // STEPS)
        run_state_machine_as_test(
            RelationshipMachine,
            settings=settings(
                max_examples=examples, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck), database=None
            ),
        )
    successful = RelationshipMachine.status_counts[200] + RelationshipMachine.status_counts[201]
    assert successful > OPERATIONS / PARTS / 4, RelationshipMachine.status_counts
