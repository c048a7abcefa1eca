"""A server of the tests' own views, on loopback, in a thread of the test process."""

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

from contacts_project.server.application import Application
from contacts_project.server.listener import bind
from contacts_project.server.process import Server, make_config

View = Callable[[WSGIRequest], HttpResponseBase]


@dataclass
class Running:
    """A server that takes connections, with two threads for requests."""

    server: Server
    port: int
    sockets: list[socket.socket] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, data: bytes = b"", *, receive_buffer: int = 0) -> socket.socket:
        """A connection on which `data` was sent; closed with the server."""
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
def running(views: Mapping[str, View], threads: int = 2) -> Iterator[Running]:
    """Serve `views`, by path, until the block ends."""

    def application(environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        request = WSGIRequest(environ)
        response = views[request.path](request)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return response

    with serving(application, threads) as running:
        yield running


@contextmanager
def serving(application: Any, threads: int = 2) -> Iterator[Running]:
    """Serve a WSGI application until the block ends."""
    listener = bind("127.0.0.1", 0)
    asgi = Application(application, threads)
    server = Server(make_config(asgi), asgi)
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listener]),))
    running = Running(server, listener.getsockname()[1])
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield running
    finally:
        for connection in running.sockets:
            connection.close()
        running.stop()
        thread.join()
        asgi.close()


@contextmanager
def serving_everything(threads: int = 4) -> Iterator[Running]:
    """Serve the whole service, on the test's database. For transactional tests."""
    from contacts_project.wsgi import application

    opened: list[BaseDatabaseWrapper] = []

    def note(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
        if threading.current_thread() is not here:
            opened.append(connection)

    here = threading.current_thread()
    connection_created.connect(note)
    try:
        with serving(application, threads) as running:
            yield running
    finally:
        connection_created.disconnect(note)
        for connection in opened:  # its thread kept it, and would keep the database from being dropped
            connection.inc_thread_sharing()
            connection.close()


def read_answer(file: IO[bytes]) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of the next answer that has a Content-Length."""
    status = int(file.readline().split()[1])
    headers: dict[str, str] = {}
    while line := file.readline().strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return status, headers, file.read(int(headers["content-length"]))
