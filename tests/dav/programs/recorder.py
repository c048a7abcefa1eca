"""What a program asks of the service, as it is seen around the application."""

import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass
class Recorder:
    """The requests since `clear`, as `PROPFIND contacts/ 207`: the method, the last part of the path, the status."""

    requests: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def wrap(self, application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
        def recorded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            name = "/".join(environ["PATH_INFO"].split("/")[4:]) or environ["PATH_INFO"]
            line = f"{environ['REQUEST_METHOD']} {_ID.sub('ID', name)}"

            def start(status: str, *rest: Any) -> Any:
                with self.lock:
                    self.requests.append(f"{line} {status[:3]}")
                return start_response(status, *rest)

            return application(environ, start)

        return recorded

    def clear(self) -> None:
        with self.lock:
            self.requests.clear()

    def wait_for(self, line: str) -> None:
        """Wait until a request that begins with this text was answered."""
        wait_until(lambda: any(request.startswith(line) for request in self.requests))

    def quiet(self, seconds: float = 1) -> list[str]:
        """The requests, once there were none for a moment."""
        count, since = -1, time.monotonic()
        while time.monotonic() - since < seconds:
            if count != len(self.requests):
                count, since = len(self.requests), time.monotonic()
            time.sleep(0.02)
        return list(self.requests)

    def when_idle(self, refresh: Callable[[], object]) -> list[str]:
        """The requests of a refresh when nothing is left to fetch.

        On a busy machine a program may still ask for what went before: then it is tried again, four times at the most.
        """
        for _ in range(5):
            self.clear()
            refresh()
            if len(requests := self.quiet()) == 1:
                break
        return requests


def wait_until(is_so: Callable[[], object], seconds: float = 40) -> None:
    """Wait for what a program does by and by."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
