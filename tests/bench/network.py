"""The network of 10,000 people with 30,000 relationships: the graphs and the list."""

import random
from collections.abc import Iterator

from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Membership, Person, RelationshipType
from relationships.models import Relationship
from relationships.services.relationships import build_pair
from tests.bench.figures import Figure, SharedData, figure, floor
from tests.bench.people import drain
from tests.builders import make_user
from tests.client import Client, client_of

PEOPLE, RELATIONSHIP_COUNT, RELATIONSHIPS_OF_FIRST = 10_000, 30_000, 300


class LargeNetwork:
    """An account in which a third of the people are related to the user, and the first person to 300 others."""

    def __init__(self) -> None:
        self.owner: User = make_user("network@example.org")
        kinds = {kind.name: kind for kind in RelationshipType.objects.owned_by(self.owner)}
        self.friend = kinds["FRIEND"]
        self.people = [
            Person(
                owner=self.owner,
                name=f"Person {number}",
                sort_key=f"person {number}".encode(),
                relationship_to_user=self.friend if number % 3 == 0 else None,
            )
            for number in range(PEOPLE)
        ]
        with account_write(self.owner):
            Person.objects.bulk_create(self.people, batch_size=2000)
            Relationship.objects.bulk_create(self.make_relationships(), batch_size=2000)
            self.groups = [
                Group.objects.create(owner=self.owner, name=f"Group {n}", name_key=f"group {n}", color="#336699")
                for n in range(10)
            ]
            memberships = (
                Membership(owner=self.owner, person=person, group=self.groups[number % 9])
                for number, person in enumerate(self.people)
            )
            Membership.objects.bulk_create(memberships, batch_size=2000)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        self.client: Client = client_of(self.owner)
        self.ids = [str(person.pk) for person in self.people]

    def make_relationships(self) -> Iterator[Relationship]:
        rng, now = random.Random(1), timezone.now()
        pairs = {(0, other) for other in range(1, RELATIONSHIPS_OF_FIRST + 1)}
        while len(pairs) < RELATIONSHIP_COUNT:
            one, other = sorted(rng.sample(range(1, PEOPLE), 2))
            pairs.add((one, other))
        for one, other in pairs:
            for row in build_pair(self.owner.pk, self.people[one].pk, self.people[other].pk, now=now):
                row.relationship_type = self.friend
                yield row


def large_network(shared: SharedData) -> LargeNetwork:
    made: LargeNetwork = shared.once("network", LargeNetwork)
    return made


def graphs(shared: SharedData) -> list[Figure]:
    network = large_network(shared)
    people = Person.objects.owned_by(network.owner).values_list("pk", "name", "relationship_to_user__name")
    relationships = Relationship.objects.owned_by(network.owner).one_of_each_pair()
    relationship_rows = relationships.values_list("pk", "person_id", "related_person_id", "relationship_type__name")
    memberships = Membership.objects.owned_by(network.owner).values_list("person_id", "group_id")
    return [
        figure(
            f"network: graph of a person with {RELATIONSHIPS_OF_FIRST} relationships",
            lambda: network.client.call("GET", f"/api/people/{network.ids[0]}/graph"),
            times=20,
        ),
        figure(
            "network: whole graph, 10,000 people, 30,000 relationships",
            lambda: network.client.call("GET", "/api/dashboard/graph"),
            floor=floor(people, relationship_rows, memberships),
        ),
        figure("network: whole graph, limit 500", lambda: network.client.call("GET", "/api/dashboard/graph?limit=500")),
    ]


def lists(shared: SharedData) -> Figure:
    network = large_network(shared)
    rows = Relationship.objects.owned_by(network.owner).active().order_by("-created_at", "-id")
    names = Person.objects.owned_by(network.owner).values_list("pk", "name", "surname")
    return figure(
        "network: list of 60,000 rows",
        lambda: drain(network.client, "/api/relationships"),  # the response is streamed
        floor=floor(rows.values_list(), names),
        times=3,
    )


BENCHES = [
    ("network graph", graphs),
    ("network list", lists),
]
