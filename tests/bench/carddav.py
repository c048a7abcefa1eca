"""A CardDAV sync with a real Radicale, through the proxy that counts requests, compared with vdirsyncer.

The floor is vdirsyncer's time for the same book in the same run. It copies files and starts Python for each sync.
BENCH_CARDS=10000 measures another size; with more than 2,000 cards only the first import and the idle sync.
"""

import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from django.test import override_settings

from tests.bench.figures import Figure, SharedData
from tests.builders import make_user
from tests.carddav import vdirsyncer
from tests.carddav.conftest import USER
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import DavServer, radicale
from tests.carddav.sync.server_synced_account import ServerSyncedAccount

SIZE = int(os.environ.get("BENCH_CARDS", "2000"))


def sync_radicale(shared: SharedData) -> list[Figure]:
    """First import, idle, one in a hundred changed on each side, export of a quarter."""
    networks = override_settings(OUTBOUND_ALLOWED_NETWORKS=["127.0.0.0/8"], OUTBOUND_ALLOWED_PORTS=["*"])
    with tempfile.TemporaryDirectory() as folder, networks:
        (Path(folder) / "theirs").mkdir()
        (Path(folder) / "server").mkdir()
        with radicale(Path(folder) / "server") as server, fault_proxy(server.port) as proxy:
            return SyncComparison(server, proxy, Path(folder) / "theirs").figures()


class SyncComparison:
    """The service and vdirsyncer, each with its own book with the same cards."""

    def __init__(self, server: DavServer, proxy: Proxy, folder: Path) -> None:
        self.proxy, self.folder = proxy, folder
        self.ours = ServerSyncedAccount(make_user("sync@example.org"), server, proxy)
        self.theirs = ServerSyncedAccount(make_user("vdirsyncer@example.org"), server, proxy)
        for account in (self.ours, self.theirs):
            cards = "".join(map(make_card, range(SIZE)))
            server.call("PUT", account.path, USER, cards, "text/vcard; charset=utf-8", seconds=600)
            server.call("PROPFIND", account.path, USER, seconds=600)  # Radicale reads each card once
        (folder / "cards").mkdir()
        url = proxy.url.rstrip("/") + self.theirs.path
        vdirsyncer.configure(folder, url=url, user=USER)
        vdirsyncer.run(self.folder, "discover")

    def figures(self) -> list[Figure]:
        found = [self.measure_both(f"first import of {SIZE:,}"), self.measure_both("idle sync")]
        if SIZE > 2000:
            return found
        for number in range(SIZE // 100):
            name = self._name(number)
            for account in (self.ours, self.theirs):
                account.put(name, make_card(number, "ORG:There"))
            person = self.ours.person(f"Ada{number + SIZE // 2}")
            self.ours.edit(person, jobTitle="Here")
            file = self._file(number + SIZE // 2)
            file.write_bytes(file.read_bytes().replace(b"END:VCARD", b"TITLE:Here\r\nEND:VCARD"))
        found.append(self.measure_both("sync, 1 % changed on each side"))
        for number in range(SIZE, SIZE + SIZE // 4):
            person = self.ours.create(name=f"Ada{number}", surname="Lovelace")
            assert person
            (self.folder / "cards" / f"{number}.vcf").write_text(make_card(number), newline="")
        found.append(self.measure_both(f"export of {SIZE // 4:,}"))
        return found

    def measure_both(self, what: str) -> Figure:
        before = resource.getrusage(resource.RUSAGE_SELF)
        seconds, requests = self.measure_requests(self.ours.sync)
        after = resource.getrusage(resource.RUSAGE_SELF)
        # The CPU time of this process includes the proxy, which records all requests.
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        used = f"CPU {cpu:.1f} s, peak memory +{(after.ru_maxrss - before.ru_maxrss) // 1024} MB"
        floor, theirs = self.measure_requests(lambda: vdirsyncer.run(self.folder, "sync"))
        return Figure(
            f"CardDAV, {what}", seconds, None, floor, f"once; {requests} requests, vdirsyncer {theirs}; {used}"
        )

    def measure_requests(self, work: Callable[[], object]) -> tuple[float, int]:
        self.proxy.clear_requests()
        start = time.perf_counter()
        work()
        return time.perf_counter() - start, self.proxy.count()

    def _name(self, number: int) -> str:
        """The name that Radicale gives to a card of an uploaded book: its UID."""
        return f"uid-{number}.vcf"

    def _file(self, number: int) -> Path:
        return self.folder / "cards" / f"uid-{number}.vcf"


def make_card(number: int, *lines: str) -> str:
    head = ["BEGIN:VCARD", "VERSION:3.0", f"UID:uid-{number}", f"FN:Ada{number} Lovelace", f"N:Lovelace;Ada{number};;;"]
    contact = [f"TEL;TYPE=home:+49 30 {number}", f"EMAIL:ada{number}@example.org"]
    return "\r\n".join([*head, *contact, *lines, "END:VCARD", ""])


BENCHES = [("CardDAV", sync_radicale)]
