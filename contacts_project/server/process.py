"""One web process: its listener, its limits, and uvicorn with our connection and application."""

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

from contacts_project.server.application import MOST_HEAD_BYTES, Application
from contacts_project.server.connection import Connection
from contacts_project.server.listener import CannotListenError, bind
from contacts_project.tracing import stop_tracing
from contacts_project.wsgi import application as wsgi

# A connection is a file: with the usual 1,024 a thousand slow clients would be all that there can be.
MOST_FILES = 65_536
# For the database, spools and photos.
SPARE_FILES = 256


class Server(uvicorn.Server):
    """uvicorn's, which also tells the application when it begins and ends."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self.application = application

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # For asyncio.to_thread: what streams ask for must not wait behind requests.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2, "stream"))
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.application.stop()
        await super().shutdown(sockets)
        stop_tracing()


def allow_many_files() -> int:
    """Raise the soft limit of open files as far as the hard one lets us; returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(soft, most)


def make_config(application: Application) -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # client_address trusts as many proxies as TRUSTED_PROXY_COUNT says, and no other
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_keep_alive=75,  # longer than proxies keep their connections, so that none sends into a closed one
        timeout_graceful_shutdown=10,
        backlog=2048,
    )


def end_well(number: int, frame: FrameType | None) -> None:
    """Handler of the signals that ask to stop: to stop when told to is no failure."""
    sys.exit(0)


def run(fd: int | None) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is under way and exit with 0."""
    # uvicorn handles both while it serves, and sends itself the signal again once it has stopped.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end_well)
    Connection.most = allow_many_files() - SPARE_FILES
    application = Application(wsgi)
    server = Server(make_config(application), application)
    get_resolver().check()  # loads the views now, not in the first request
    gc.collect()
    gc.freeze()  # what is loaded now stays: no collection has to look through it again
    try:
        listener = bind(settings.HOST, settings.PORT, shared=True) if fd is None else socket.socket(fileno=fd)
    except CannotListenError as error:
        sys.exit(str(error))
    server.run(sockets=[listener])
