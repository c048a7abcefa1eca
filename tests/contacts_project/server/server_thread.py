"""Runs the web server on loopback in a thread of the test process, with views of the tests or the whole service."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from django.core.handlers.wsgi import WSGIRequest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http.response import HttpResponseBase

from contacts_project.processes.supervisor import bind
from contacts_project.server.application import Application
from contacts_project.server.process import Server, make_config
from contacts_project.server.request_head import Caller, find_account

View = Callable[[WSGIRequest], HttpResponseBase]


@dataclass
class RunningServer:
    """A server that accepts connections."""

    server: Server
    port: int
    application: Application
    sockets: list[socket.socket] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, data: bytes = b"", *, receive_buffer: int = 0) -> socket.socket:
        """Open a connection and send `data`; it is closed with the server."""
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(data)
        self.sockets.append(connection)
        return connection

    def stop(self) -> None:
        self.server.should_exit = True


@contextmanager
def serve_views(views: Mapping[str, View], threads: int = 2) -> Iterator[RunningServer]:
    """Serve `views`, by path, until the block ends. Each token and session is known, as an account of its own."""

    def application(environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        request = WSGIRequest(environ)
        response = views[request.path](request)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return response

    with serve_application(application, threads, find_account=know_everybody) as running_server:
        yield running_server


def know_everybody(caller: Caller) -> object:
    return caller.value


@contextmanager
def serve_application(
    application: Any, threads: int = 2, find_account: Callable[[Caller], object | None] = find_account
) -> Iterator[RunningServer]:
    """Serve a WSGI application until the block ends."""
    listener = bind("127.0.0.1", 0)
    asgi = Application(application, threads, find_account)
    server = Server(make_config(asgi), asgi)
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listener]),))
    running_server = RunningServer(server, listener.getsockname()[1], asgi)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield running_server
    finally:
        for connection in running_server.sockets:
            connection.close()
        running_server.stop()
        thread.join()
        asgi.close()


@contextmanager
def serve_whole_service(threads: int = 4, wrap: Callable[[Any], Any] = lambda app: app) -> Iterator[RunningServer]:
    """Serve the whole service, on the test's database. For transactional tests. `wrap` goes around the application."""
    from contacts_project.wsgi import application

    opened: list[BaseDatabaseWrapper] = []

    def record_connection(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
        if threading.current_thread() is not here:
            opened.append(connection)

    here = threading.current_thread()
    connection_created.connect(record_connection)
    try:
        with serve_application(wrap(application), threads) as running_server:
            yield running_server
    finally:
        connection_created.disconnect(record_connection)
        for connection in opened:  # an open connection of an ended thread would prevent dropping the database
            connection.inc_thread_sharing()
            connection.close()


def read_response(file: IO[bytes]) -> tuple[int, dict[str, str], bytes]:
    """Read the next response, which must have a Content-Length; returns its status, headers and body."""
    status = int(file.readline().split()[1])
    headers: dict[str, str] = {}
    while line := file.readline().strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return status, headers, file.read(int(headers["content-length"]))
