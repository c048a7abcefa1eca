"""One web process: its listener, its limits, and uvicorn with our connection class and application."""

import asyncio
import gc
import resource
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import uvicorn
from django.conf import settings
from django.urls import get_resolver

from contacts_project.processes.supervisor import CannotListenError, bind
from contacts_project.processes.watchdog import stop_watching, watch_event_loop
from contacts_project.server.application import Application
from contacts_project.server.connection import HttpConnection
from contacts_project.server.request_head import MAX_HEADER_BYTES
from contacts_project.tracing import stop_tracing
from contacts_project.wsgi import application as wsgi

# Each connection takes a file descriptor: with the usual limit of 1,024 a thousand slow clients would take all.
MAX_OPEN_FILES = 65_536
# For the database, spools and photos.
RESERVED_FILES = 256


class Server(uvicorn.Server):
    """uvicorn's server, which sets up its event loop and stops the application's event streams at shutdown."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self.application = application
        self.is_watched = False
        """Whether the process ends if its event loop is held; only where the process is the server's own."""
        self.watchdog: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # For asyncio.to_thread: the queries of event streams must not wait behind requests.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2, "stream"))
        await super().startup(sockets)
        if self.is_watched:
            self.watchdog = asyncio.create_task(watch_event_loop())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.watchdog is not None:
            self.watchdog.cancel()
            stop_watching()
        # First: uvicorn waits for open responses, and an event stream does not end by itself.
        self.application.stop()
        await super().shutdown(sockets)
        stop_tracing()


def raise_open_files_limit() -> int:
    """Raise the soft limit of open files towards MAX_OPEN_FILES, as far as the hard limit allows, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(soft, limit)


def make_config(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=HttpConnection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # client_address reads X-Forwarded-For, and trusts exactly TRUSTED_PROXY_COUNT proxies
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        timeout_keep_alive=75,  # longer than proxies keep idle connections, so that none sends into a closed one
        timeout_graceful_shutdown=10,
        backlog=2048,
    )


def exit_successfully(number: int, frame: FrameType | None) -> None:
    """Signal handler: a requested stop is no failure."""
    sys.exit(0)


def run(fd: int | None) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in progress and exit with 0."""
    # uvicorn has its own handlers while it serves, and raises the signal again after it has stopped.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, exit_successfully)
    HttpConnection.max_connections = raise_open_files_limit() - RESERVED_FILES
    application = Application(wsgi)
    server = Server(make_config(application), application)
    server.is_watched = True
    get_resolver().check()  # loads the views now, not in the first request
    gc.collect()
    gc.freeze()  # what is loaded now is never freed: later collections need not look at it
    try:
        listener = bind(settings.HOST, settings.PORT, shared=True) if fd is None else socket.socket(fileno=fd)
    except CannotListenError as error:
        sys.exit(str(error))
    try:
        server.run(sockets=[listener])
    finally:
        # uvicorn does not wait for requests that take longer than timeout_graceful_shutdown, but their writes count.
        application.close()
