"""Interactions of one person who has 5,000, among 10,000 people: CPU through the whole WSGI application."""

import datetime as dt

from django.utils import timezone

from contacts_project.kernel.ownership.account_lock import account_write
from people.lookup import index_interactions
from people.models import Interaction, Participation, Person
from people.vocabularies import InteractionKind
from tests.bench.figures import Figure, SharedData
from tests.bench.people import large_account
from tests.bench.requests import Caller, measured

INTERACTION_COUNT = 5_000


def interactions(shared: SharedData) -> list[Figure]:
    owner = large_account(shared)
    person = Person.objects.owned_by(owner).active().order_by("created_at", "id")[0]
    now = timezone.now()
    rows = [
        Interaction(
            owner=owner,
            kind=InteractionKind.CALL,
            at=now - dt.timedelta(hours=n),
            title=f"Call number {n}",
            notes=f"Spoke of the harvest of {1500 + n % 500}.",
        )
        for n in range(1, INTERACTION_COUNT + 1)
    ]
    with account_write(owner):
        Interaction.objects.bulk_create(rows, batch_size=500)
        Participation.objects.bulk_create(
            (Participation(owner=owner, interaction=row, person=person, position=0, at=row.at) for row in rows),
            batch_size=500,
        )
        index_interactions(owner.pk, rows)
    caller, key = Caller(owner), str(person.pk)
    body = {"personIds": [key], "kind": "CALL", "at": now.isoformat()}
    found = [
        measured(f"interactions: {name}", work)
        for name, work in (
            ("page of 100 of one person", lambda: caller.ok("GET", f"/api/people/{key}/interactions")),
            ("page of 100 of the account", lambda: caller.ok("GET", "/api/interactions")),
            ("one day of them", lambda: caller.ok("GET", f"/api/interactions?from={now:%Y-%m-%d}&to={now:%Y-%m-%d}")),
            ("one more", lambda: caller.ok("POST", "/api/interactions", body)),
            ("the person", lambda: caller.ok("GET", f"/api/people/{key}")),
            ("insights", lambda: caller.ok("GET", "/api/insights")),
        )
    ]
    with account_write(owner):
        Interaction.objects.owned_by(owner).delete()
    return found


BENCHES = [("interactions of one", interactions)]
