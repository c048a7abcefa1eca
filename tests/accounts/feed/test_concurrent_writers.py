"""A client that reads the feed during concurrent writes misses no change."""

import random
from functools import partial
from threading import Event

import pytest

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from tests.accounts.feed.reader import Replica, load_account_records
from tests.accounts.feed.test_changes import create_records
from tests.builders import make_person
from tests.client import Client, client_of
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)
WRITES = 12


def write(owner: User, seed: int) -> None:
    """Random writes; some are refused, because another writer has changed the same records."""
    client, chance = client_of(owner), random.Random(seed)
    for number in range(WRITES):
        people = [person["id"] for person in client.ok("GET", "/api/people")["people"]]
        groups = [group["id"] for group in client.ok("GET", "/api/groups")["groups"]]
        _change(client, chance, people, groups, f"{seed}-{number}")


def _change(client: Client, chance: random.Random, people: list[str], groups: list[str], name: str) -> None:
    person, other = chance.choice(people or [""]), chance.choice(people or [""])
    choices = [
        partial(client.call, "POST", "/api/people", {"name": name, "groupIds": groups[:1]}),
        partial(client.call, "POST", "/api/people", {"name": name}),
        partial(client.call, "PUT", f"/api/people/{person}", {"nickname": name}),
        partial(client.call, "POST", "/api/groups", {"name": name, "peopleIds": people[:2]}),
        partial(client.call, "DELETE", f"/api/people/{person}"),
        partial(client.call, "POST", f"/api/people/{person}/restore"),
        partial(client.call, "DELETE", f"/api/people/{person}/permanent"),
        partial(client.call, "POST", "/api/relationships", {"personId": person, "relatedPersonId": other}),
        partial(client.call, "POST", "/api/people/merge", {"primaryId": person, "secondaryId": other}),
        partial(
            client.call,
            "POST",
            f"/api/people/{person}/important-dates",
            {"title": name, "date": "1815-12-10"},
        ),
    ]
    status = chance.choice(choices)().status_code
    assert status < 500


def test_a_replica_ends_equal_to_the_account(alice: User) -> None:
    create_records(client_of(alice))
    done = Event()
    replicas = [Replica(client_of(alice), limit=limit) for limit in (3, 50)]

    def read(replica: Replica) -> None:
        while not done.wait(0.01):  # a pause, so that reading takes less time than writing
            replica.catch_up()

    def write_all() -> None:
        try:
            run_concurrently(*(partial(write, alice, seed) for seed in range(4)))
        finally:
            done.set()

    run_concurrently(write_all, *(partial(read, replica) for replica in replicas))
    account = load_account_records(client_of(alice))
    for replica in replicas:
        replica.catch_up()
        assert replica.own_fields() == account


def test_a_revision_is_seen_only_after_all_lower_ones(alice: User) -> None:
    """A cursor must not pass a revision that is assigned but not committed, or the client would never see that change.

    The first writer holds the lock while the second one waits for it; the reader must not see the second one first.
    """
    replica = Replica(client_of(alice))
    replica.catch_up()
    under_way, read = Event(), []

    def write_slowly() -> None:
        with account_write(alice.pk) as write:
            make_person(alice, name="First", revision=write.revision)
            under_way.set()
            other.wait(0.2)

    other = Event()

    def write_next() -> None:
        under_way.wait(30)
        client_of(alice).ok("POST", "/api/people", {"name": "Second"}, status=201)
        other.set()

    def poll() -> None:
        under_way.wait(30)
        while not other.is_set():
            read.append([change["record"]["name"] for change in replica.catch_up()])

    run_concurrently(write_slowly, write_next, poll)
    read.append([change["record"]["name"] for change in replica.catch_up()])
    assert [name for names in read for name in names] == ["First", "Second"]
