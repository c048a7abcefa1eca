"""Sharing: how long after its commit an edit is with seven other members, and what it costs to join a share of 2,000
people."""

import statistics
import tempfile
import time
from pathlib import Path

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Person
from people.services.groups import put_members
from people.services.person_writer import PersonWriter
from sharing.carry.carrier import carry_account
from sharing.models import MAX_MEMBERS, MAX_PEOPLE, SharedCopy
from tests.bench.figures import Figure, SharedData
from tests.builders import make_user
from tests.sharing.conftest import edit, join_share, make_share, membership_of, share_people
from tests.workers import workers_in

_PEOPLE, _EDITS, _BATCH = 20, 30, 200
_POLL_SECONDS = 0.01


def arrival(shared: SharedData) -> Figure:
    """From the commit of an edit until seven other members have it, with a real worker: elapsed time."""
    users = [make_user(f"member{number}@example.org", name=f"Member {number}") for number in range(MAX_MEMBERS)]
    share_people(*users)
    _add_people(users[0], _PEOPLE)
    spans = []
    with tempfile.TemporaryDirectory() as folder, workers_in(Path(folder)) as workers:
        workers.start()
        workers.wait_until(lambda: Person.unscoped.rows().filter(owner__in=users).count() == _PEOPLE * len(users))
        people = list(Person.objects.owned_by(users[0]).order_by("pk"))
        for number in range(_EDITS):
            text = f"Edit {number}"
            edit(users[0], people[number % _PEOPLE], nickname=text)
            start = time.perf_counter()
            while Person.unscoped.rows().filter(owner__in=users, nickname=text).count() < len(users):
                time.sleep(_POLL_SECONDS)
            spans.append(time.perf_counter() - start)
    late = statistics.quantiles(spans, n=20)[-1]
    note = f"elapsed, median of {_EDITS}; 95 % within {late * 1000:,.0f} ms"
    return Figure(
        f"sharing: an edit with {MAX_MEMBERS} members, commit to arrival", statistics.median(spans), note=note
    )


def first_join(shared: SharedData) -> Figure:
    """The carries with which an account that has nobody takes in everybody of a full share."""
    host, guest = make_user("host@example.org", name="Host"), make_user("guest@example.org", name="Guest")
    share = make_share(host).share
    _add_people(host, MAX_PEOPLE)
    while carry_account(host.pk):
        pass
    join_share(share, guest)
    start = time.process_time()
    while carry_account(guest.pk):
        pass
    seconds = time.process_time() - start
    assert SharedCopy.objects.owned_by(guest).filter(state="linked").count() == MAX_PEOPLE
    return Figure(f"sharing: first join of {MAX_PEOPLE:,} people", seconds, note="once")


def _add_people(owner: User, count: int) -> None:
    group: Group | None = membership_of(owner).group
    assert group is not None
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        with account_write(owner) as write:
            people = [Person(owner=owner, name=f"Ada {number}", created_at=write.now) for number in numbers]
            entries = [
                {
                    "surname": f"Lovelace {number}",
                    "emails": [{"type": "home", "email": f"ada{number}@people.example"}],
                    "phone_numbers": [{"type": "mobile", "number": f"+49 151 {1_000_000 + number}"}],
                }
                for number in numbers
            ]
            PersonWriter(owner, write, write.now).put_many(zip(people, entries, strict=True))
            put_members(group, [person.pk for person in people], write.now)


BENCHES = [("sharing arrival", arrival), ("sharing first join", first_join)]
