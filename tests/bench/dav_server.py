"""The service as a CardDAV server beside Radicale, Xandikos and sabre/dav, with the same vdirsyncer: `"DAV server"`.

Each serves a book with the same 10,000 cards (BENCH_DAV_CARDS=2000 for another number) on loopback. The time is
elapsed time of the program, and the floor that of the fastest of the others; the note has the CPU time of each server's
processes, the peak of their anonymous memory, and the load of the machine. A step that is done several times is done by
the servers in turn, and the medians count. sabre/dav is measured where PHP and Debian's php-sabre-dav are installed.
BENCH_DAV_BESIDE="sabre/dav" leaves out the others.
"""

import http.client
import os
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path

from tests.bench.carddav import make_card
from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Instance, anonymous_kib, cpu_ticks, process_tree, served
from tests.carddav import vdirsyncer
from tests.carddav.conftest import USER
from tests.carddav.servers import PASSWORD, radicale, xandikos
from tests.loopback import closed_port, is_listening

EMAIL = "bench@example.org"  # the account of tests.bench.instance
SIZE = int(os.environ.get("BENCH_DAV_CARDS", "10000"))
BESIDE = os.environ.get("BENCH_DAV_BESIDE", "Radicale, Xandikos, sabre/dav")
CHANGED, PUTS, ROUNDS = max(SIZE // 100, 1), 100, 3
_SABRE_SQL = Path("/usr/share/doc/php-sabre-dav/examples/sql")
_SABRE_SCRIPT = Path(__file__).with_name("sabre_dav.php")


@dataclass
class Server:
    """A server with a book, the process that began it, and the files of the vdirsyncer that syncs with it."""

    name: str
    port: int
    path: str
    process: int
    folder: Path
    user: str = USER
    password: str = PASSWORD
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        (self.folder / "cards").mkdir(parents=True)
        url = f"http://127.0.0.1:{self.port}{self.path}"
        vdirsyncer.configure(self.folder, url=url, user=self.user, password=self.password)

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> tuple[bytes, Message]:
        """Send a request, which must succeed; returns the body and the headers of the answer."""
        login = b64encode(f"{self.user}:{self.password}".encode()).decode()
        typed = "text/vcard; charset=utf-8" if method == "PUT" else "application/xml; charset=utf-8"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(
            method, path, body.encode(), {"Authorization": f"Basic {login}", "Content-Type": typed, **sent}
        )
        response = self.connection.getresponse()
        content = response.read()
        assert response.status < 400, (self.name, method, path, response.status, content[:300])
        return content, response.headers

    def sync(self) -> None:
        vdirsyncer.run(self.folder, "sync")


@dataclass
class Cost:
    """What a step took by the clock, of the server's CPU, and the peak of its memory, in seconds and MB."""

    seconds: float
    cpu: float
    memory: float


def measure(server: Server, work: Callable[[], object]) -> Cost:
    """Do the work while a thread looks at the memory of the server's processes."""
    server.connection.close()  # some servers have closed it meanwhile
    os.sync()  # else it waits for the disk to take what was written before it, by whomever
    peak, done = 0.0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, _memory(server.process))

    thread = threading.Thread(target=look)
    ticks, start = _cpu(server.process), time.perf_counter()
    thread.start()
    try:
        work()
    finally:
        seconds = time.perf_counter() - start
        done.set()
        thread.join()
    cost = Cost(seconds, _cpu(server.process) - ticks, max(peak, _memory(server.process)))
    print(f"    {server.name}: {cost}", file=sys.stderr, flush=True)
    return cost


def _memory(pid: int) -> float:
    try:
        return sum(anonymous_kib(one) for one in process_tree(pid)) / 1024
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0.0  # a process that has ended meanwhile


def _cpu(pid: int) -> float:
    return sum(cpu_ticks(one) for one in process_tree(pid)) / os.sysconf("SC_CLK_TCK")


def beside_other_servers(shared: SharedData) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="bench-dav-") as name, ExitStack() as stack:
        folder = Path(name)
        instance = stack.enter_context(served(shared.database))
        others = {"Radicale": _radicale, "Xandikos": _xandikos}
        if shutil.which("php") and _SABRE_SQL.exists():
            others["sabre/dav"] = _sabre
        beside = (start for name, start in others.items() if name in BESIDE)
        servers = [_ours(instance, folder), *(stack.enter_context(start(folder)) for start in beside)]
        return [
            _figure(what, _in_turns(servers, run, rounds))
            for what, run, rounds in (
                (f"first fetch of {SIZE:,}", _first_fetch, 1),
                ("idle", _idle, ROUNDS),
                ("1 % changed on each side", _changed, ROUNDS),
                (f"{PUTS} PUTs of new cards", _puts, ROUNDS),
            )
        ]


def _in_turns(servers: list[Server], run: Callable[[Server, int], Cost], rounds: int) -> dict[str, Cost]:
    """What a step costs each server: the medians of the rounds, and the highest peak of memory."""
    costs: dict[str, list[Cost]] = {server.name: [] for server in servers}
    for number in range(rounds):
        for server in servers:
            costs[server.name].append(run(server, number))
    return {
        name: Cost(
            statistics.median(cost.seconds for cost in found),
            statistics.median(cost.cpu for cost in found),
            max(cost.memory for cost in found),
        )
        for name, found in costs.items()
    }


def _figure(what: str, costs: dict[str, Cost]) -> Figure:
    ours = costs["ours"]
    others = {name: cost.seconds for name, cost in costs.items() if name != "ours"}
    texts = [f"{n} {c.seconds:.2f} s, CPU {c.cpu:.2f} s, {c.memory:.0f} MB" for n, c in costs.items()]
    texts.append(f"load {os.getloadavg()[0]:.1f}")
    return Figure(f"DAV server, {what}", ours.seconds, None, min(others.values()), "; ".join(texts))


def _first_fetch(server: Server, number: int) -> Cost:
    vdirsyncer.run(server.folder, "discover")
    cost = measure(server, server.sync)
    found = len(list((server.folder / "cards").iterdir()))
    assert found == SIZE, (server.name, found)
    return cost


def _idle(server: Server, number: int) -> Cost:
    return measure(server, server.sync)


def _changed(server: Server, number: int) -> Cost:
    names = _names(server)
    server.connection.close()
    for card in range(number * CHANGED, (number + 1) * CHANGED):
        path = f"{server.path}{names[card]}"
        etag = server.ask("GET", path)[1]["ETag"]
        server.ask("PUT", path, make_card(card, "ORG:There"), If_Match=etag)
        file = server.folder / "cards" / names[card + SIZE // 2]
        file.write_bytes(file.read_bytes().replace(b"END:VCARD", b"TITLE:Here\r\nEND:VCARD"))
    cost = measure(server, server.sync)
    assert "ORG:There" in (server.folder / "cards" / names[number * CHANGED]).read_text()
    return cost


def _names(server: Server) -> list[str]:
    """The name of each card by its number; vdirsyncer names its files as the server does."""
    names = [""] * SIZE
    for file in (server.folder / "cards").iterdir():
        found = re.search(r"^UID:uid-(\d+)", file.read_text(), re.MULTILINE)
        assert found, file
        names[int(found[1])] = file.name
    return names


def _puts(server: Server, number: int) -> Cost:
    def put() -> None:
        for card in range(SIZE + number * PUTS, SIZE + (number + 1) * PUTS):
            start = time.perf_counter()
            server.ask("PUT", f"{server.path}uid-{card}.vcf", make_card(card), If_None_Match="*")
            spans.append(time.perf_counter() - start)

    spans: list[float] = []
    cost = measure(server, put)
    # The median, since a single request may have waited for other work of the machine.
    return Cost(statistics.median(spans) * PUTS, cost.cpu, cost.memory)


def _ours(instance: Instance, folder: Path) -> Server:
    client = instance.client()
    basic = b64encode(f"{EMAIL}:{instance.bearer}".encode()).decode()
    body = '<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>'
    client.connection.request("PROPFIND", "/dav/", body, {"Authorization": f"Basic {basic}", "Depth": "0"})
    found = re.search(r"/dav/principals/([^/]+)/", client.connection.getresponse().read().decode())
    assert found
    path = f"/dav/addressbooks/{found[1]}/contacts/"
    server = Server("ours", instance.port, path, instance.process.pid, folder / "ours", EMAIL, instance.bearer)
    # Those that another program changes later have the name of their UID, as on the other servers.
    changed = ROUNDS * CHANGED
    for number in range(changed):
        server.ask("PUT", f"{path}uid-{number}.vcf", make_card(number), If_None_Match="*")
    for start in range(changed, SIZE, 1000):
        cards = "".join(make_card(number) for number in range(start, min(start + 1000, SIZE)))
        client.connection.request("POST", "/api/vcard/import", cards, {**client.headers, "Content-Type": "text/vcard"})
        response = client.connection.getresponse()
        assert response.status == 200, response.read()[:300]
        response.read()
    # The texts are made at the first request, as others read theirs; what follows an import may keep it waiting.
    server.connection.close()  # the service has closed it meanwhile
    for _ in range(20):
        try:
            server.ask("PROPFIND", path, Depth="1")
        except AssertionError as error:
            print(f"    {error}", file=sys.stderr, flush=True)
            time.sleep(10)
        else:
            return server
    raise AssertionError("the service stays busy")


@contextmanager
def _radicale(folder: Path) -> Iterator[Server]:
    (folder / "radicale-data").mkdir()
    with radicale(folder / "radicale-data") as running:
        path = running.make_book(USER)
        cards = "".join(map(make_card, range(SIZE)))
        running.call("PUT", path, USER, cards, "text/vcard; charset=utf-8", seconds=600)
        running.call("PROPFIND", path, USER, seconds=600)
        yield Server("Radicale", running.port, path, _listener(running.port), folder / "radicale")


@contextmanager
def _xandikos(folder: Path) -> Iterator[Server]:
    (folder / "xandikos-data").mkdir()
    with xandikos(folder / "xandikos-data") as running:
        path = running.make_book(USER)
        running.fill(USER, path, {f"uid-{number}.vcf": make_card(number) for number in range(SIZE)})
        running.call("PROPFIND", path, USER, seconds=600)
        yield Server("Xandikos", running.port, path, _listener(running.port), folder / "xandikos")


@contextmanager
def _sabre(folder: Path) -> Iterator[Server]:
    """PHP's own web server with two workers, and SQLite."""
    port, database = closed_port(), folder / "sabre.sqlite"
    with sqlite3.connect(database) as connection:
        for name in ("addressbooks", "principals"):
            connection.executescript((_SABRE_SQL / f"sqlite.{name}.sql").read_text().replace("admin", USER))
        connection.execute(
            "INSERT INTO addressbooks (principaluri, displayname, uri, description, ctag) VALUES (?, ?, ?, '', 1)",
            (f"principals/{USER}", "People", "people"),
        )
        connection.executemany(
            "INSERT INTO cards (addressbookid, carddata, uri, lastmodified) VALUES (1, ?, ?, 1)",
            ((make_card(number), f"uid-{number}.vcf") for number in range(SIZE)),
        )
    process = subprocess.Popen(
        ["php", "-d", "opcache.enable_cli=1", "-d", "memory_limit=2G", "-S", f"127.0.0.1:{port}", str(_SABRE_SCRIPT)],
        env={**os.environ, "SABRE_DATABASE": str(database), "PHP_CLI_SERVER_WORKERS": "2"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not is_listening(port):
            time.sleep(0.1)
        yield Server("sabre/dav", port, f"/addressbooks/{USER}/people/", process.pid, folder / "sabre")
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # its workers, too
        process.wait(10)


def _listener(port: int) -> int:
    """The process that the tests began with this port on its command line."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(port) in re.split(r"[\0:=]", arguments):
            return int(process.name)
    raise AssertionError(f"no process listens on {port}")


BENCHES = [("DAV server", beside_other_servers)]
