"""Letters of 10,000 people in 2,000 households: CPU time of finding and writing them."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from contacts_project.kernel.ownership.account_lock import account_write
from people.letters.households import find_households
from people.models import Person
from people.names import keys_of_names
from tests.bench.figures import Figure, SharedData, query_count
from tests.builders import make_user

PEOPLE, HOUSEHOLD = 10_000, 5
_ROUNDS = 3


def letters(shared: SharedData) -> list[Figure]:
    owner = make_user("letters@example.org")
    people = []
    for number in range(PEOPLE):
        house = number // HOUSEHOLD
        address = {"id": str(number), "type": "home", "streetLine1": f"Hauptstraße {house}", "postalCode": "1010"}
        address |= {"locality": "Wien", "country": "AT" if house % 10 else "Germany"}
        person = Person(owner=owner, name=f"Name {number}", surname=f"Surname {house}", addresses=[address])
        person.sort_key, person.search_key = keys_of_names(person)
        people.append(person)
    with account_write(owner):
        Person.objects.bulk_create(people, batch_size=500)
    return [_measure("households", lambda: find_households(owner, None))]


def _measure(name: str, work: Callable[[], Any]) -> Figure:
    """The median of a few rounds: one takes as long as hundreds of small requests."""
    queries, spans = query_count(work), []
    for _ in range(_ROUNDS):
        start = time.process_time()
        work()
        spans.append(time.process_time() - start)
    return Figure(f"letters: {name}", statistics.median(spans), queries, None, f"{PEOPLE // HOUSEHOLD} households")


BENCHES = [("letters", letters)]
