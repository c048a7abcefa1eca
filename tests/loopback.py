"""Servers on loopback: raw TCP servers that misbehave, an HTTP server that records requests, and a private CA."""

import atexit
import datetime
import http.server
import ipaddress
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def allow_loopback(settings: Any) -> None:
    """Let the outbound policy accept loopback, on any port."""
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    settings.OUTBOUND_ALLOWED_PORTS = ["*"]


@contextmanager
def raw_server(handle: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """A TCP server that calls `handle` in a thread for each connection. Yields the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = threading.Event()

    def serve_one(connection: socket.socket) -> None:
        try:
            with connection:
                if tls:
                    connection = tls.wrap_socket(connection, server_side=True)
                handle(connection)
        except OSError:
            pass  # many of these tests make the client disconnect early

    def serve() -> None:
        while not stopping.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        stopping.set()
        # close() alone would leave the thread blocked in accept().
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def hang(connection: socket.socket) -> None:
    """Send nothing for half a minute, so that only the client's own timeout ends its call."""
    # Closing the connection instead would be a connection error at the client, not a timeout.
    threading.Event().wait(30)


def drip(connection: socket.socket, byte: bytes = b"x") -> None:
    """Send `byte` every 50 ms for half a minute, then close the connection."""
    for _ in range(600):
        time.sleep(0.05)
        connection.sendall(byte)


def closed_port() -> int:
    """A port on which nothing listens.

    On Linux it stays bound, though without listening: no other process and no connection is given it, while a server
    that sets SO_REUSEADDR, as `socket.create_server` and nearly all servers do, can listen on it.
    """
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = int(probe.getsockname()[1])
    if sys.platform == "linux":
        # After the bind, which may not give a port that another test process keeps in this way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        atexit.register(probe.close)
    else:
        probe.close()
    return port


def is_listening(port: int) -> bool:
    """Whether a server listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Received:
    """A request that was received. Header names are lower-case; times are `time.monotonic`.

    `answered_at` is set after the whole response has been written to the socket.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    received_at: float = field(default_factory=time.monotonic)
    answered_at: float | None = None


@dataclass
class Reply:
    """The response of the recording server."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class Recorder:
    """The requests that the recording server has received. `reply` is a response, or builds one from a request."""

    port: int
    received: list[Received] = field(default_factory=list)
    reply: Reply | Callable[[Received], Reply] = field(default_factory=Reply)
    connections: set[Any] = field(default_factory=set)
    scheme: str = "http"
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        """The server's root, without a slash at the end."""
        return f"{self.scheme}://{self.host}:{self.port}"


@contextmanager
def recording_server(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Recorder]:
    """An HTTP server that records every request and sends the configured reply."""
    recorder = Recorder(port=0, scheme="https" if tls else "http", host=host)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Received(self.command, self.path, headers, body)
            recorder.received.append(request)
            recorder.connections.add(self.client_address)
            reply = recorder.reply(request) if callable(recorder.reply) else recorder.reply
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            request.answered_at = time.monotonic()

        do_GET = do_POST = do_PUT = do_PROPFIND = do_REPORT = answer  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print no traceback: some tests make the client disconnect early."""

    server = Server((host, 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    recorder.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class PrivateCA:
    """A certificate authority that only the test trusts; its files are in `folder`."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Test CA")])
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = self._builder(self.name, self.key).add_extension(x509.BasicConstraints(True, 0), True)
        certificate = builder.add_extension(usage, True).sign(self.key, hashes.SHA256())
        self.file = str(folder / "ca.pem")
        (folder / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server_context(self, *names: str, self_signed: bool = False) -> ssl.SSLContext:
        """A TLS context for a server, with a certificate for these host names or IP addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
        builder = self._builder(subject, key, issuer=subject if self_signed else self.name)
        builder = builder.add_extension(x509.SubjectAlternativeName([_subject_alt_name(name) for name in names]), False)
        certificate = builder.sign(key if self_signed else self.key, hashes.SHA256())
        file = self.folder / f"server-{certificate.serial_number}.pem"
        file.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: Any, key: Any, issuer: Any = None) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False)
        )


def _subject_alt_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
