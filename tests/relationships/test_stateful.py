"""Random operations on people, relationships and types through the API; everything holds after each of them.

RELATIONSHIP_OPERATIONS sets how many are done in all, in histories of 100. The default of 500 is for every run of the
tests; 10,000 are done by hand on each database.
"""

import itertools
import os
from collections import Counter
from typing import Any, ClassVar

from django.db import connection
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

from people.models import Person
from relationships.models import Relationship
from relationships.network.connectivity import USER
from tests.builders import make_user
from tests.client import client_of
from tests.relationships import reference
from tests.relationships.invariants import check_invariants

OPERATIONS = int(os.environ.get("RELATIONSHIP_OPERATIONS", "500"))
STEPS = 100
picks = st.integers(0, 999)
numbers = itertools.count()


class Network(RuleBasedStateMachine):
    """One account. The lists hold every id ever made, so that the deleted and removed are picked as well."""

    done: ClassVar[Counter[int]] = Counter()

    @initialize()
    def open_account(self) -> None:
        self.owner = make_user(f"user{next(numbers)}@example.org")
        self.api = client_of(self.owner)
        self.people: list[str] = []
        self.ties: list[str] = []
        self.merges: list[str] = []
        self.types: list[str] = [
            row["id"] for row in self.api.ok("GET", "/api/relationship-types")["relationshipTypes"]
        ]
        for _ in range(3):
            self.add_person(0, 999)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Any refusal will do, an error of ours will not; returns the answer, or nothing when refused."""
        response = self.api.call(method, f"/api/{path}", body)
        assert response.status_code in {200, 201, 400, 404, 409}, response.content
        self.done[response.status_code] += 1
        return response.json() if response.status_code < 300 else None

    def picked(self, ids: list[str], pick: int, or_none: bool = False) -> str | None:
        """One of the newest twelve; sometimes nothing."""
        if not ids or (or_none and pick % 4 == 0):
            return None
        return ids[-1 - pick % min(12, len(ids))]

    @rule(kind=picks, through=picks)
    def add_person(self, kind: int, through: int) -> None:
        body = {
            "name": f"P{len(self.people)}",
            "relationshipToUserId": self.picked(self.types, kind, or_none=True),
            "connectedThroughId": self.picked(self.people, through) if through % 3 == 0 else None,
        }
        if answer := self.send("POST", "people", body):
            self.people.append(answer["person"]["id"])
            self.ties += [row["id"] for row in answer["person"]["relationships"]]

    @rule(who=picks, with_orphans=st.booleans())
    def delete_person(self, who: int, with_orphans: bool) -> None:
        self.send("DELETE", f"people/{self.picked(self.people, who)}", {"deleteOrphans": with_orphans})

    @rule(who=picks)
    def restore_person(self, who: int) -> None:
        self.send("POST", f"people/{self.picked(self.people, who)}/restore")

    @rule(who=picks)
    def remove_person(self, who: int) -> None:
        self.send("DELETE", f"people/{self.picked(self.people, who)}/permanent")

    @rule(one=picks, other=picks, kind=picks)
    def relate(self, one: int, other: int, kind: int) -> None:
        body = {
            "personId": self.picked(self.people, one),
            "relatedPersonId": self.picked(self.people, other),
            "relationshipTypeId": self.picked(self.types, kind, or_none=True),
        }
        if answer := self.send("POST", "relationships", body):
            self.ties.append(answer["relationship"]["id"])

    @rule(which=picks, kind=picks, notes=st.sampled_from([None, "x", "y"]))
    def change_tie(self, which: int, kind: int, notes: str | None) -> None:
        body = {"relationshipTypeId": self.picked(self.types, kind, or_none=True), "notes": notes}
        self.send("PUT", f"relationships/{self.picked(self.ties, which)}", body)

    @rule(which=picks)
    def delete_tie(self, which: int) -> None:
        self.send("DELETE", f"relationships/{self.picked(self.ties, which)}")

    @rule(which=picks)
    def restore_tie(self, which: int) -> None:
        self.send("POST", f"relationships/{self.picked(self.ties, which)}/restore")

    @rule(which=picks)
    def remove_tie(self, which: int) -> None:
        self.send("DELETE", f"relationships/{self.picked(self.ties, which)}/permanent")

    @rule(name=st.sampled_from("ABCDEF"), symmetric=st.booleans(), back=st.sampled_from("ABCDEF"))
    def define_type(self, name: str, symmetric: bool, back: str) -> None:
        body = {"name": name, "label": name, "symmetric": symmetric, "inverseLabel": None if symmetric else back}
        if answer := self.send("POST", "relationship-types", body):
            self.types += {answer["relationshipType"]["id"], answer["relationshipType"]["inverseId"]}

    @rule(which=picks, symmetric=st.sampled_from([None, True, False]), back=st.sampled_from([None, "B", "X", "Y"]))
    def change_type(self, which: int, symmetric: bool | None, back: str | None) -> None:
        body: dict[str, Any] = {"inverseLabel": back}
        if symmetric is not None:
            body["symmetric"] = symmetric
        if answer := self.send("PUT", f"relationship-types/{self.picked(self.types, which)}", body):
            self.types.append(answer["relationshipType"]["inverseId"])

    @rule(which=picks)
    def delete_type(self, which: int) -> None:
        self.send("DELETE", f"relationship-types/{self.picked(self.types, which)}")

    @rule(which=picks)
    def restore_type(self, which: int) -> None:
        self.send("POST", f"relationship-types/{self.picked(self.types, which)}/restore")

    @rule(which=picks)
    def remove_type(self, which: int) -> None:
        self.send("DELETE", f"relationship-types/{self.picked(self.types, which)}/permanent")

    @rule(some=st.lists(picks, min_size=1, max_size=3), with_orphans=st.booleans(), kind=picks, deletes=st.booleans())
    def act_in_bulk(self, some: list[int], with_orphans: bool, kind: int, deletes: bool) -> None:
        body: dict[str, Any] = {"personIds": [self.picked(self.people, pick) for pick in some]}
        if deletes:
            body |= {"action": "delete", "deleteOrphans": with_orphans}
        else:
            body |= {"action": "setRelationship", "relationshipTypeId": self.picked(self.types, kind)}
        self.send("POST", "people/bulk", body)

    @rule(one=picks, other=picks)
    def merge(self, one: int, other: int) -> None:
        body = {"primaryId": self.picked(self.people, one), "secondaryId": self.picked(self.people, other)}
        if answer := self.send("POST", "people/merge", body):
            self.merges.append(answer["mergeId"])

    @rule(which=picks)
    def undo_merge(self, which: int) -> None:
        self.send("POST", f"people/merge/{self.picked(self.merges, which)}/undo")

    @precondition(lambda self: self.people)
    @rule(some=st.lists(picks, min_size=1, max_size=3))
    def ask_for_orphans(self, some: list[int]) -> None:
        people = Person.objects.owned_by(self.owner).active()
        there = {str(row.pk): row.relationship_to_user_id for row in people}
        gone = there.keys() & {self.picked(self.people, pick) for pick in some}
        links = [(USER, person) for person, kind in there.items() if kind]
        links += [
            (str(row.person_id), str(row.related_person_id))
            for row in Relationship.objects.owned_by(self.owner).active()
        ]
        answer = self.send("POST", "people/bulk/orphans", {"personIds": sorted(gone)})
        assert {row["id"] for row in answer["orphans"]} == reference.orphans_of(gone, there, links)

    @invariant()
    def holds(self) -> None:
        check_invariants(self.owner)
        connection.check_constraints()


def test_everything_holds_after_random_operations(db: None) -> None:
    Network.done.clear()
    while (left := OPERATIONS - Network.done.total()) > 0:
        examples = -(-left // STEPS)
        run_state_machine_as_test(
            Network,
            settings=settings(
                max_examples=examples, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck), database=None
            ),
        )
    carried_out = Network.done[200] + Network.done[201]
    assert carried_out > OPERATIONS / 4, Network.done
