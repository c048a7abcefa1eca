"""An HTTP proxy in front of a CardDAV server that records requests and injects faults.

    with fault_proxy(server.port) as proxy:
        proxy.add(fail(503, when=method("REPORT"), times=2))
        ...
        assert proxy.count("REPORT") == 3

A fault may answer a request in place of the server, or change the server's response: see `Fault` and
tests/carddav/faults.py.
"""

import http.server
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

# Not forwarded: headers of one connection, and Accept-Encoding, because faults rewrite bodies.
_NOT_FORWARDED = {
    "accept-encoding",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "host",
    "date",
    "server",
}


@dataclass
class Request:
    """A request as the client sent it; header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    """A response; `drop` breaks the connection instead of sending it."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    drop: bool = False


Condition = Callable[[Request], bool]
Before = Callable[[Request], Reply | None]
After = Callable[[Request, Reply], Reply]


@dataclass
class Fault:
    """What happens to the requests that match `when`.

    The first `skip` of them pass, then `times` are affected (None: all). `before` may answer in place of the server,
    `after` may change the server's response; `seconds` is a delay before both.
    """

    when: Condition = lambda request: True
    before: Before | None = None
    after: After | None = None
    times: int | None = None
    skip: int = 0
    seconds: float = 0.0
    matched: int = 0

    def applies_to(self, request: Request) -> bool:
        """Count the request if it matches, and return whether it is affected."""
        if not self.when(request):
            return False
        self.matched += 1
        return self.matched > self.skip and (self.times is None or self.matched <= self.skip + self.times)


@dataclass
class Proxy:
    """A running proxy. `requests` are all that it has received, in order."""

    upstream: int
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def add(self, fault: Fault) -> Fault:
        """Inject the fault from now on. Faults apply in the order in which they were added."""
        self.faults.append(fault)
        return fault

    def clear_faults(self) -> None:
        self.faults.clear()

    def clear_requests(self) -> None:
        self.requests.clear()

    def count(self, *methods: str) -> int:
        """The number of requests, of these methods if any are named."""
        return sum(not methods or request.method in methods for request in self.requests)

    def log(self) -> list[str]:
        """Method and path of each request."""
        return [f"{request.method} {request.path}" for request in self.requests]

    def answer(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            faults = [fault for fault in self.faults if fault.applies_to(request)]
        for fault in faults:
            if fault.seconds:
                self.stopped.wait(fault.seconds)
            if fault.before and (reply := fault.before(request)):
                return reply
        reply = self._forward(request)
        for fault in faults:
            if fault.after:
                reply = fault.after(request, reply)
        return reply

    def _forward(self, request: Request) -> Reply:
        # A new connection per request: servers written in Python are most reliable on the first request of one.
        for attempt in (1, 2, 3):
            connection = HTTPConnection("127.0.0.1", self.upstream, timeout=300)
            try:
                headers = {name: value for name, value in request.headers.items() if name not in _NOT_FORWARDED}
                headers["host"] = f"127.0.0.1:{self.port}"
                if login := headers.pop("x-upstream-authorization", None):
                    headers["authorization"] = login
                connection.request(request.method, request.path, request.body, headers)
                response = connection.getresponse()
                kept = {name: value for name, value in response.getheaders() if name.lower() not in _NOT_FORWARDED}
                return Reply(response.status, kept, response.read())
            except (OSError, HTTPException):
                if attempt == 3:
                    raise
                time.sleep(0.1)
            finally:
                connection.close()
        raise AssertionError


@contextmanager
def fault_proxy(upstream: int = 0) -> Iterator[Proxy]:
    """A proxy to the port `upstream`; if it is 0, faults must answer every request."""
    proxy = Proxy(upstream)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = proxy.answer(Request(self.command, self.path, headers, body))
            if reply.drop:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            body = reply.body
            if reply.headers.get("Transfer-Encoding") == "chunked":
                pieces = [body[start : start + 100] for start in range(0, len(body), 100)]
                body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
            elif reply.status not in {204, 304}:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        do_GET = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_POST = answer  # noqa: N815 - http.server's names
        do_PROPFIND = do_REPORT = do_MKCOL = do_MKCALENDAR = do_PROPPATCH = do_MOVE = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 50

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print no traceback: some tests make the client disconnect early."""

    server = Server(("127.0.0.1", 0), Handler)
    proxy.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
