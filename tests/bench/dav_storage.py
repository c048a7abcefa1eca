"""What a book costs in the database while five devices have all of it: rows and bytes, indexes included.

`python -m tests.bench "DAV storage"`; BENCH_DAV_CARDS=2000 for another number of cards.
"""

import os
import time

from django.db import connection, models

from accounts.models import User
from dav.models import BookCard, FormerText, GivenCard
from people.models import Person
from tests.bench.figures import Figure, SharedData
from tests.bench.people import fill_account
from tests.builders import make_user
from tests.client import client_of
from tests.dav.devices import Device

SIZE, DEVICES = int(os.environ.get("BENCH_DAV_CARDS", "10000")), 5
_SIZES = {
    # Tables and their indexes, whole pages.
    "sqlite": "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = %s)",
    "postgresql": "SELECT pg_total_relation_size(%s)",
}


def five_current_devices(shared: SharedData) -> list[Figure]:
    """All are current; then one card in a hundred changes and four of them read it; then the fifth does."""
    owner = make_user("book@example.org")
    fill_account(owner, SIZE)
    devices = [Device(owner) for _ in range(DEVICES)]
    tokens = dict.fromkeys((device.token for device in devices), "")
    figures = [measure(f"{SIZE:,} cards on {DEVICES} devices", devices, tokens)]
    change_a_hundredth(owner)
    figures.append(measure("1 % changed, four have read it", devices[:-1], tokens))
    return [*figures, measure("1 % changed, all have read it", devices[-1:], tokens)]


def measure(what: str, devices: list[Device], tokens: dict[str, str]) -> Figure:
    """Let the devices read what changed; the time is the CPU time of one of them."""
    start = time.process_time()
    for device in devices:
        tokens[device.token] = read_everything(device, tokens[device.token])
    seconds = (time.process_time() - start) / len(devices)
    costs = "; ".join(describe(model) for model in (BookCard, GivenCard, FormerText))
    return Figure(f"DAV storage, {what}", seconds, note=costs)


def read_everything(device: Device, token: str) -> str:
    """Fetch what changed since the token with its texts, as Thunderbird does; returns the new token."""
    return device.sync(token, "d:getetag", "card:address-data").token


def change_a_hundredth(owner: User) -> None:
    """Change one person in a hundred in a way that the card shows."""
    api = client_of(owner)
    for person in Person.objects.owned_by(owner).active().order_by("pk")[: SIZE // 100]:
        api.ok("PUT", f"/api/people/{person.pk}", {"jobTitle": "changed"})


def describe(model: type[models.Model]) -> str:
    """Its rows and the bytes of each."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT COUNT(*) FROM "{table}"')
        rows = cursor.fetchone()[0]
        cursor.execute(_SIZES[connection.vendor], [table])
        size = int(cursor.fetchone()[0] or 0)
    each = f" ({size / rows:.0f} bytes each)" if rows else ""
    return f"{model.__name__} {rows:,} rows, {size / 1e6:.1f} MB{each}"


BENCHES = [("DAV storage", five_current_devices)]
