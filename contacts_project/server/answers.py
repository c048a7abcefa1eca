"""Answers as threads make them: whole, so that neither a thread nor a database cursor waits for whoever reads them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http.response import HttpResponseBase

from contacts_project.kernel.api.event_streams import EventStream
from contacts_project.kernel.api.loop_answers import LoopAnswer
from contacts_project.server.refusals import Headers
from contacts_project.server.spool import Spool

Application = Callable[[dict[str, Any], Any], HttpResponseBase]


@dataclass
class Answer:
    """What one request is answered: a body in `spool`, `events` or what goes `on_loop`; `cpu_seconds` of its thread."""

    spool: Spool = field(default_factory=Spool)
    status: int = 500
    headers: Headers = field(default_factory=list)
    events: EventStream | None = None
    on_loop: LoopAnswer | None = None
    cpu_seconds: float = 0.0

    def ask(self, application: Application, environ: dict[str, Any]) -> None:
        """Call the application and make the whole body, also of an answer that Django streams."""
        began = time.thread_time()
        response = application(environ, self._start)
        try:
            if isinstance(response, EventStream):
                self.events = response
                return
            if isinstance(response, LoopAnswer):
                self.on_loop = response
                return
            for piece in response:
                self.spool.write(piece)
        finally:
            response.close()  # for Django the request is over
            self.cpu_seconds = time.thread_time() - began
        if self.status not in {204, 304} and not any(name == b"content-length" for name, _ in self.headers):
            self.headers.append((b"content-length", b"%d" % self.spool.size))

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.status = int(status.partition(" ")[0])
        # Stripped: Django writes cookies with a space in front.
        self.headers = [(name.lower().encode("latin1"), value.strip().encode("latin1")) for name, value in headers]
