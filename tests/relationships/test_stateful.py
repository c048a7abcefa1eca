"""Random operations on people, relationships and types through the API; everything holds after each of them.

They are done in histories of 100, in four parts; TEST_ROUNDS=30 does 12,000.
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
from relationships.models import Relationship
from relationships.network.connectivity import USER
from tests.builders import make_user
from tests.relationships import reference
from tests.relationships.invariants import check_invariants
from tests.rounds import rounds

OPERATIONS = rounds(400)
PARTS = 4
WRONG = 7  # as the last digit of a pick: one that is in the wrong state
STEPS = 100
picks = st.integers(0, 999)
numbers = itertools.count()
requests = APIRequestFactory()


def needs(kind: str, *, gone: bool = False) -> Any:
    """The rule is of no use before there are such ids."""
    return precondition(lambda self: getattr(self, kind).gone if gone else getattr(self, kind).there)


class Ids:
    """Ids of one kind, as far as the answers tell: those that are there, and those in the trash."""

    def __init__(self) -> None:
        self.there: list[str] = []
        self.gone: list[str] = []

    def add(self, *ids: str | None) -> None:
        for key in filter(None, ids):
            self.drop(key)
            self.there.append(key)

    def delete(self, key: str) -> None:
        self.drop(key)
        self.gone.append(key)

    def drop(self, key: str) -> None:
        for ids in (self.there, self.gone):
            if key in ids:
                ids.remove(key)

    def pick(self, number: int, *, or_none: bool = False, gone: bool = False) -> str | None:
        """One of the newest twelve, of the trash if `gone`; now and then one of the others."""
        if or_none and number % 4 == 0:
            return None
        wanted, others = (self.gone, self.there) if gone else (self.there, self.gone)
        ids = others if number % 10 == WRONG or not wanted else wanted
        return ids[-1 - number % min(12, len(ids))] if ids else None


class Network(RuleBasedStateMachine):
    """One account."""

    done: ClassVar[Counter[int]] = Counter()

    @initialize()
    def open_account(self) -> None:
        self.owner = make_user(f"user{next(numbers)}@example.org")
        self.checked = self.asked = self.revision()
        self.people, self.ties, self.types, self.merges = Ids(), Ids(), Ids(), Ids()
        self.types.add(*[row["id"] for row in self.send("GET", "relationship-types")["relationshipTypes"]])
        for _ in range(3):
            self.add_person(0, 999)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Any refusal will do, an error of ours will not; returns the answer, or nothing when refused.

        Straight to the view, as the owner: middleware and tokens have tests of their own, and take half of the time.
        """
        view, arguments, named = resolve(f"/api/{path}")
        request = requests.generic(method, f"/api/{path}", orjson.dumps(body).decode(), "application/json")
        force_authenticate(request, self.owner)
        response = view(request, *arguments, **named).render()
        assert response.status_code in {200, 201, 400, 404, 409}, response.content
        self.done[response.status_code] += 1
        return orjson.loads(response.content) if response.status_code < 300 else None

    def revision(self) -> int:
        """Raised by whatever is written."""
        return User.objects.values_list("revision", flat=True).get(pk=self.owner.pk)

    def delete(self, path: str, ids: Ids, pick: int, body: Any = None) -> None:
        key = ids.pick(pick)
        if self.send("DELETE", f"{path}/{key}", body) and key:
            ids.delete(key)

    def restore(self, path: str, ids: Ids, pick: int) -> None:
        key = ids.pick(pick, gone=True)
        if self.send("POST", f"{path}/{key}/restore"):
            ids.add(key)

    def remove(self, path: str, ids: Ids, pick: int) -> None:
        key = ids.pick(pick, gone=True)
        if self.send("DELETE", f"{path}/{key}/permanent") and key:
            ids.drop(key)

    @rule(kind=picks, through=picks)
    def add_person(self, kind: int, through: int) -> None:
        body = {
            "name": f"P{next(numbers)}",
            "relationshipToUserId": self.types.pick(kind, or_none=True),
            "connectedThroughId": self.people.pick(through) if through % 3 == 0 else None,
        }
        if answer := self.send("POST", "people", body):
            self.people.add(answer["person"]["id"])
            self.ties.add(*[row["id"] for row in answer["person"]["relationships"]])

    @needs("people")
    @rule(who=picks, with_orphans=st.booleans())
    def delete_person(self, who: int, with_orphans: bool) -> None:
        self.delete("people", self.people, who, {"deleteOrphans": with_orphans})

    @needs("people", gone=True)
    @rule(who=picks)
    def restore_person(self, who: int) -> None:
        self.restore("people", self.people, who)

    @needs("people", gone=True)
    @rule(who=picks)
    def remove_person(self, who: int) -> None:
        self.remove("people", self.people, who)

    @needs("people")
    @rule(one=picks, other=picks, kind=picks)
    def relate(self, one: int, other: int, kind: int) -> None:
        body = {
            "personId": self.people.pick(one),
            "relatedPersonId": self.people.pick(other),
            "relationshipTypeId": self.types.pick(kind, or_none=True),
        }
        if answer := self.send("POST", "relationships", body):
            self.ties.add(answer["relationship"]["id"])

    @needs("ties")
    @rule(which=picks, kind=picks, notes=st.sampled_from([None, "x", "y"]))
    def change_tie(self, which: int, kind: int, notes: str | None) -> None:
        body = {"relationshipTypeId": self.types.pick(kind, or_none=True), "notes": notes}
        self.send("PUT", f"relationships/{self.ties.pick(which)}", body)

    @needs("ties")
    @rule(which=picks)
    def delete_tie(self, which: int) -> None:
        self.delete("relationships", self.ties, which)

    @needs("ties", gone=True)
    @rule(which=picks)
    def restore_tie(self, which: int) -> None:
        self.restore("relationships", self.ties, which)

    @needs("ties", gone=True)
    @rule(which=picks)
    def remove_tie(self, which: int) -> None:
        self.remove("relationships", self.ties, which)

    @rule(name=st.sampled_from("ABCDEF"), symmetric=st.booleans(), back=st.sampled_from("ABCDEF"), other=picks)
    def define_type(self, name: str, symmetric: bool, back: str, other: int) -> None:
        body = {"name": name, "label": name, "symmetric": symmetric}
        if not symmetric:
            body |= {"inverseLabel": back, "inverseId": self.types.pick(other) if other % 3 == 0 else None}
        if answer := self.send("POST", "relationship-types", body):
            self.types.add(answer["relationshipType"]["inverseId"], answer["relationshipType"]["id"])

    @needs("types")
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
        answer = self.send("PUT", f"relationship-types/{self.types.pick(which)}", body)
        if answer:
            self.types.add(answer["relationshipType"]["inverseId"])

    @needs("types")
    @rule(which=picks)
    def delete_type(self, which: int) -> None:
        self.delete("relationship-types", self.types, which)

    @needs("types", gone=True)
    @rule(which=picks)
    def restore_type(self, which: int) -> None:
        self.restore("relationship-types", self.types, which)

    @needs("types", gone=True)
    @rule(which=picks)
    def remove_type(self, which: int) -> None:
        self.remove("relationship-types", self.types, which)

    @needs("people")
    @rule(some=st.lists(picks, min_size=1, max_size=3), with_orphans=st.booleans(), kind=picks, deletes=st.booleans())
    def act_in_bulk(self, some: list[int], with_orphans: bool, kind: int, deletes: bool) -> None:
        body: dict[str, Any] = {"personIds": [self.people.pick(pick) for pick in some]}
        if deletes:
            body |= {"action": "delete", "deleteOrphans": with_orphans}
        else:
            body |= {"action": "setRelationship", "relationshipTypeId": self.types.pick(kind)}
        self.send("POST", "people/bulk", body)

    @needs("people")
    @rule(one=picks, other=picks)
    def merge(self, one: int, other: int) -> None:
        primary, secondary = self.people.pick(one), self.people.pick(other)
        answer = self.send("POST", "people/merge", {"primaryId": primary, "secondaryId": secondary})
        if answer and secondary:
            self.merges.add(answer["mergeId"])
            self.people.delete(secondary)

    @needs("merges")
    @rule(which=picks)
    def undo_merge(self, which: int) -> None:
        self.send("POST", f"people/merge/{self.merges.pick(which)}/undo")

    @precondition(lambda self: self.checked - self.asked > 2)
    @rule(some=st.lists(picks, min_size=1, max_size=3))
    def ask_for_orphans(self, some: list[int]) -> None:
        self.asked = self.checked
        people = Person.objects.owned_by(self.owner).active()
        there = {str(row.pk): row.relationship_to_user_id for row in people}
        gone = there.keys() & {self.people.pick(pick) for pick in some}
        links = [(USER, person) for person, kind in there.items() if kind]
        links += [
            (str(row.person_id), str(row.related_person_id))
            for row in Relationship.objects.owned_by(self.owner).active()
        ]
        answer = self.send("POST", "people/bulk/orphans", {"personIds": sorted(gone)})
        assert {row["id"] for row in answer["orphans"]} == reference.orphans_of(gone, there, links)

    @invariant()
    def holds(self) -> None:
        """What was refused has changed nothing, and is not looked at again."""
        if self.checked != (revision := self.revision()):
            self.checked = revision
            check_invariants(self.owner)
            connection.check_constraints()


@pytest.mark.parametrize("part", range(PARTS))
def test_everything_holds_after_random_operations(db: None, part: int) -> None:
    Network.done.clear()
    while (left := OPERATIONS // PARTS - Network.done.total()) > 0:
        examples = -(-left // STEPS)
        run_state_machine_as_test(
            Network,
            settings=settings(
                max_examples=examples, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck), database=None
            ),
        )
    carried_out = Network.done[200] + Network.done[201]
    assert carried_out > OPERATIONS / PARTS / 4, Network.done
