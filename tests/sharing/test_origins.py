"""Larger works: what they write is carried when they have ended."""

import datetime as dt
from contextlib import suppress
from typing import Any

import time_machine
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import BatchWriter, account_write
from contacts_project.kernel.processes import this_process
from people.models import Person
from relationships.models import Relationship
from relationships.services.relationships import create_relationship, update_relationship
from sharing.carry.carrier import carry_account
from sharing.carry.origins import purge_origins
from sharing.models import SharedPerson, WriteOrigin
from tests.client import client_of
from tests.sharing.conftest import add_person, carry_all, edit, membership_of, person_of, share_people


def rename(writer: BatchWriter, user: User, person: Person, name: str) -> None:
    with writer.batch(), account_write(user):
        Person.objects.owned_by(user).filter(pk=person.pk).update(nickname=name)


def test_what_a_work_writes_goes_out_at_its_end(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada, mary = add_person(alice), add_person(alice, name="Mary")
    carry_all()
    with BatchWriter(alice) as writer:
        rename(writer, alice, ada, "A")
        edit(bob, person_of(bob, ada), job_title="Countess")
        edit(bob, person_of(bob, mary), job_title="Poet")
        for user in (alice, bob, alice):
            carry_account(user.pk)
        assert person_of(bob, ada).nickname is None
        ada.refresh_from_db()
        mary.refresh_from_db()
        # What others change still comes in, but for whom the work has changed.
        assert (ada.job_title, mary.job_title) == (None, "Poet")
        rename(writer, alice, mary, "M")
    carry_all()
    assert (person_of(bob, ada).nickname, person_of(bob, mary).nickname) == ("A", "M")
    ada.refresh_from_db()
    assert ada.job_title == "Countess"
    assert WriteOrigin.objects.owned_by(alice).values("origin").distinct().count() == 1


def test_relationships_that_a_work_changes_alone_are_judged_at_its_end(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    people = [add_person(alice, name=f"P{number}") for number in range(12)]
    for one, other in zip(people[::2], people[1::2], strict=True):
        create_relationship(
            owner=alice, person_id=one.pk, related_person_id=other.pk, type_id=None, now=timezone.now(), content={}
        )
    carry_all()
    with BatchWriter(alice) as writer:
        rows = [row for row in Relationship.objects.owned_by(alice) if row.person_id < row.related_person_id]
        for row in rows:
            with writer.batch():
                update_relationship(owner=alice, row=row, data={"since": "1999"}, now=timezone.now())
            edit(bob, person_of(bob, people[0]), job_title=f"Countess {row.pk}")
            for user in (alice, bob, alice, bob):
                carry_account(user.pk)
    carry_all()
    assert not Relationship.objects.owned_by(bob).exclude(since=None).exists()
    client = client_of(bob)
    client.reader = None
    (waiting,) = client.ok("GET", f"/api/shares/{share.pk}/waiting")["waiting"]
    assert (waiting["reason"], waiting["count"]) == ("held", 6)
    client.ok("POST", f"/api/shares/{share.pk}/held", {"action": "accept"})
    carry_all()
    assert Relationship.objects.owned_by(bob).filter(since="1999").count() == 12


def test_a_work_that_fails_has_ended(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    with suppress(OSError), BatchWriter(alice) as writer:
        rename(writer, alice, ada, "A")
        raise OSError
    carry_all()
    assert person_of(bob, ada).nickname == "A"


def test_a_killed_work_counts_as_ended_after_a_while(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    rename(BatchWriter(alice), alice, ada, "A")
    carry_account(alice.pk)
    assert membership_of(alice).due_at
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=16), tick=False):
        carry_all()
    assert person_of(bob, ada).nickname == "A"
    assert purge_origins(now=timezone.now()) == 0
    assert purge_origins(now=timezone.now() + dt.timedelta(days=8)) == 1


def test_the_work_of_a_process_that_is_gone_has_ended(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    rename(BatchWriter(alice), alice, ada, "A")
    machine, pid, start = this_process().split(":")
    for holder in ("", "elsewhere:1:1", this_process()):
        WriteOrigin.objects.owned_by(alice).update(holder=holder)
        carry_account(alice.pk)
        assert not SharedPerson.unscoped.rows().get().fields["nickname"]
    WriteOrigin.objects.owned_by(alice).update(holder=f"{machine}:{pid}:{int(start) - 1}")
    carry_all()
    assert person_of(bob, ada).nickname == "A"


def test_the_requests_of_a_batch_are_one_work(alice: User, bob: User, api: Any) -> None:
    share_people(alice, bob)
    people = [add_person(alice, name=name) for name in ("Ada", "Mary")]
    carry_all()
    operations = [{"method": "PUT", "path": f"/api/people/{person.pk}", "body": {"nickname": "N"}} for person in people]
    client_of(User.objects.get(pk=alice.pk)).ok("POST", "/api/batch", {"operations": operations})
    origins = WriteOrigin.objects.owned_by(alice)
    assert (origins.count(), origins.values("origin").distinct().count()) == (2, 1)
    assert not origins.filter(is_open=True).exists()
    carry_all()
    assert {person_of(bob, person).nickname for person in people} == {"N"}
