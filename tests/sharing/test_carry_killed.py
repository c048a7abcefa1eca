"""Killed between any two steps, and many at once: nothing is lost, nothing is there twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from people.models import ImportantDate, Person
from people.services.photos import set_person_photo
from relationships.models import Relationship
from sharing.carry.carrier import carry_account
from sharing.models import CopyState, LogAction, LogEntry, SharedCopy, SharedPerson
from tests.builders import make_person, make_user
from tests.concurrency import run_concurrently
from tests.pictures import picture
from tests.sharing.conftest import add_person, carry_all, edit, group_people, person_of, put_into_group, share_people
from tests.sharing.test_carry_relations import relate

PHONE = {"type": "mobile", "number": "+43 660 111"}


class KilledError(BaseException):
    """The process is gone. No handler of the service may catch it."""


@contextmanager
def killed_at(number: int) -> Iterator[Callable[[], bool]]:
    """End the work at its statement of this number; yields whether it came so far."""
    count = [0]

    def run(execute: Callable[..., Any], *arguments: Any) -> Any:
        count[0] += 1
        if count[0] == number:
            raise KilledError
        return execute(*arguments)

    with connection.execute_wrapper(run):
        yield lambda: count[0] >= number


def carry_killed(user: User) -> int:
    """Carry the account, each time killed a few statements later, until that is late enough; returns how often it was
    killed."""
    number = 1
    while True:
        with killed_at(number) as was_killed:
            with suppress(KilledError):
                carry_account(user.pk)
            if not was_killed():
                return number
        number += 1


def shown(user: User) -> dict[str, tuple[Any, ...]]:
    """What the share has of each person of the account."""
    rows = Person.objects.owned_by(user).active()
    return {
        person.name: (
            person.surname,
            sorted((entry["type"], entry["number"]) for entry in person.phone_numbers),
            person.photo and person.photo.partition("-")[0],
            sorted(
                ImportantDate.objects.owned_by(user).active().filter(person=person).values_list("type", "title", "date")
            ),
            sorted(
                Relationship.objects.owned_by(user)
                .active()
                .filter(person=person)
                .values_list("related_person__name", "relationship_type__name")
            ),
        )
        for person in rows
    }


def test_a_carry_may_be_killed_at_any_statement(alice: User, bob: User, media: Any) -> None:
    share_people(alice, bob)
    day = {"type": "BIRTHDAY", "date": timezone.now().date(), "year_unknown": False}
    ada = add_person(alice, surname="Lovelace", phone_numbers=[PHONE], important_dates=[day])
    byron = add_person(alice, name="Byron")
    relate(alice, byron, ada, "PARENT")
    set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(), now=timezone.now())
    own = make_person(bob, name="Mary", surname="Somerville")
    put_into_group(bob, own)
    for user in (alice, bob, alice, bob):
        assert carry_killed(user)
    carry_all()
    assert shown(alice) == shown(bob)
    assert group_people(alice) == ["Ada", "Byron", "Mary"]
    assert SharedPerson.unscoped.rows().filter(holders=2).count() == 3
    assert LogEntry.unscoped.rows().filter(action=LogAction.ADDED).count() == 3


def test_a_task_that_runs_twice_changes_nothing(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    for _ in range(2):
        carry_account(alice.pk)
        carry_account(bob.pk)
    edit(alice, ada, nickname="A")
    for _ in range(2):
        carry_account(alice.pk)
    assert LogEntry.unscoped.rows().count() == 2
    carry_all()
    assert person_of(bob, ada).nickname == "A"


@pytest.mark.django_db(transaction=True)
def test_members_write_and_carry_at_once() -> None:
    users = [make_user(f"{name}@example.org", name=name) for name in ("Ada", "Bea", "Cid")]
    share_people(*users)
    shared = [add_person(users[0], name=name, surname=name[::-1]) for name in ("Xenia", "Yorick", "Zoltan")]
    carry_all()
    people = {user.pk: [person_of(user, person) for person in shared] for user in users}

    def work(user: User, number: int) -> None:
        for turn in range(3):
            column = ("organization", "job_title", "nickname")[number]
            edit(user, people[user.pk][turn], **{column: f"{user.name}{turn}"})
            carry_account(user.pk)
        add_person(user, name=f"New{user.name}", surname=f"Of{user.email[:2]}xq")

    run_concurrently(
        *(partial(work, user, number) for number, user in enumerate(users)),
        *(partial(carry_repeatedly, user) for user in users),
    )
    carry_all()
    assert shown(users[0]) == shown(users[1]) == shown(users[2])
    for user in users:
        for turn, person in enumerate(people[user.pk]):
            person.refresh_from_db()
            assert (person.organization, person.job_title, person.nickname) == (
                f"Ada{turn}",
                f"Bea{turn}",
                f"Cid{turn}",
            )
    states = SharedCopy.unscoped.rows().order_by().values_list("state", flat=True)
    assert set(states) == {CopyState.LINKED}
    assert SharedPerson.unscoped.rows().filter(holders=3, is_gone=False).count() == 6


def carry_repeatedly(user: User) -> None:
    for _ in range(5):
        carry_account(user.pk)
