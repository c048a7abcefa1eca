"""Responses of the WSGI application, made in a thread and sent as they are made.

A slow reader holds neither a thread nor a database cursor, up to the space that its caller may hold (server.spool).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http.response import HttpResponseBase

from contacts_project.kernel.api.asgi_responses import AsgiResponse
from contacts_project.kernel.api.event_streams import EventStream
from contacts_project.kernel.api.request_log import ACCOUNT
from contacts_project.server.environ import Environ
from contacts_project.server.refusals import Headers
from contacts_project.server.spool import Holder, ReaderGoneError, ResponseSpool

WsgiApplication = Callable[[dict[str, Any], Any], HttpResponseBase]


@dataclass
class WsgiResponse:
    """The response to one request: a body in `spool`, an `event_stream`, or an `asgi_response` that ASGI code sends.

    `cpu_seconds` is the CPU time that the thread spent on it.
    """

    spool: ResponseSpool
    status: int = 500
    headers: Headers = field(default_factory=list)
    event_stream: EventStream | None = None
    asgi_response: AsgiResponse | None = None
    cpu_seconds: float = 0.0

    def produce(self, application: WsgiApplication, environ: Environ) -> None:
        """Call the application and write its whole body to the spool, also where Django streams it."""
        try:
            self._produce(application, environ)
        except ReaderGoneError:
            self.spool.end()
        except BaseException as error:
            self.spool.end(error)
            raise
        else:
            self.spool.end()

    def _produce(self, application: WsgiApplication, environ: Environ) -> None:
        started = time.thread_time()
        response = application(environ, self._start_response)
        # Now the account is known: what its credentials hold together is counted.
        if account := environ.pop(ACCOUNT, None):
            self.spool.holder = Holder(account, self.spool.holder.address)
        try:
            if isinstance(response, EventStream):
                self.event_stream = response
                return
            if isinstance(response, AsgiResponse):
                self.asgi_response = response
                return
            for chunk in response:
                self.spool.write(chunk)
        finally:
            # Sends request_finished, on which Django closes old database connections.
            response.close()
            self.cpu_seconds = time.thread_time() - started
        # RFC 9110 8.6: a 204 must not have a Content-Length; the one of a 304 would have to be that of the 200.
        if self.status not in {204, 304} and not any(name == b"content-length" for name, _ in self.headers):
            self.headers.append((b"content-length", b"%d" % self.spool.size))

    def _start_response(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        self.status = int(status.partition(" ")[0])
        # strip(): Django puts a space in front of the values of Set-Cookie.
        self.headers = [(name.lower().encode("latin1"), value.strip().encode("latin1")) for name, value in headers]
