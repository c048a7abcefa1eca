"""A real worker carries: what one account commits is with the others, without anybody asking."""

from pathlib import Path

import pytest

from accounts.models import User
from people.models import Person
from sharing.models import SharedPerson
from tests.builders import make_user
from tests.sharing.conftest import add_person, edit, share_people
from tests.workers import workers_in

pytestmark = pytest.mark.django_db(transaction=True)


def nicknames(users: list[User]) -> set[str | None]:
    return set(Person.unscoped.rows().filter(owner__in=users).values_list("nickname", flat=True))


def test_a_worker_carries_what_is_written(tmp_path: Path) -> None:
    users = [make_user(f"{name}@example.org", name=name) for name in ("Ada", "Bea", "Cid")]
    share_people(*users)
    with workers_in(tmp_path) as workers:
        worker = workers.start()
        person = add_person(users[0], name="Xenia", surname="Quill")
        workers.wait_until(lambda: Person.unscoped.rows().count() == 3)
        edit(users[0], person, nickname="First")
        workers.wait_until(lambda: nicknames(users) == {"First"})
        workers.kill(worker)
        # What is written while no worker runs is carried by the next one.
        other = Person.objects.owned_by(users[1]).get()
        edit(users[1], other, nickname="Second")
        workers.start()
        workers.wait_until(lambda: nicknames(users) == {"Second"})
    assert SharedPerson.unscoped.rows().get().holders == 3
