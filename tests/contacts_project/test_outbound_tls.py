"""TLS of outbound sessions: the certificate must match the requested host name, not the address."""

import ipaddress
from typing import Any

import pytest

from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.session import OutboundSession
from tests.contacts_project.outbound_sessions import open_session
from tests.loopback import PrivateCA, drip, hang, raw_server, recording_server


@pytest.fixture(scope="module")
def ca(tmp_path_factory: Any) -> Any:
    return PrivateCA(tmp_path_factory.mktemp("ca"))


def open_tls_session(ca_file: Any, **rules: Any) -> OutboundSession:
    """An outbound session that trusts the CA, and takes every host name for loopback."""
    return open_session(ca_file=ca_file, resolve=lambda host, port: [ipaddress.ip_address("127.0.0.1")], **rules)


def failure(ca_file: Any, url: str) -> Any:
    with open_tls_session(ca_file) as session, pytest.raises(OutboundError) as caught:
        session.get(url)
    return caught.value.code


def test_private_authority_is_trusted_when_configured(ca: PrivateCA) -> None:
    with recording_server(ca.server_context("inside.example", "127.0.0.1")) as server:
        with open_tls_session(ca.file) as session:
            assert session.get(f"https://inside.example:{server.port}/").status_code == 200
            assert session.get(f"https://inside.example.:{server.port}/").status_code == 200
            assert session.get(f"https://127.0.0.1:{server.port}/").status_code == 200
        assert server.received[1].headers["host"] == f"inside.example:{server.port}"


def test_server_name_indication_is_the_host_name(ca: PrivateCA) -> None:
    asked = []
    context = ca.server_context("inside.example")
    context.sni_callback = lambda sock, name, ctx: asked.append(name)
    with recording_server(context) as server, open_tls_session(ca.file) as session:
        session.get(f"https://inside.example:{server.port}/")
    assert asked == ["inside.example"]


def test_name_mismatch_is_a_tls_error(ca: PrivateCA) -> None:
    with recording_server(ca.server_context("other.example", "127.0.0.1")) as server:
        assert failure(ca.file, f"https://inside.example:{server.port}/") is Code.TLS
        assert server.received == []


def test_unknown_authority_and_self_signed_certificate_are_tls_errors(ca: PrivateCA) -> None:
    with recording_server(ca.server_context("inside.example")) as server:
        assert failure(None, f"https://inside.example:{server.port}/") is Code.TLS
    with recording_server(ca.server_context("inside.example", self_signed=True)) as server:
        assert failure(ca.file, f"https://inside.example:{server.port}/") is Code.TLS


def test_caller_cannot_disable_verification(ca: PrivateCA) -> None:
    with (
        recording_server(ca.server_context("inside.example", self_signed=True)) as server,
        open_tls_session(ca.file) as session,
        pytest.raises(OutboundError) as caught,
    ):
        session.get(f"https://inside.example:{server.port}/", verify=False)
    assert caught.value.code is Code.TLS


def test_https_to_a_plain_http_server_is_a_tls_error(ca: PrivateCA) -> None:
    with recording_server() as server:
        assert failure(ca.file, f"https://127.0.0.1:{server.port}/") is Code.TLS


def test_dripping_tls_server_times_out_at_the_deadline(ca: PrivateCA) -> None:
    def handle(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        drip(connection)

    with (
        raw_server(handle, ca.server_context("inside.example")) as port,
        open_tls_session(ca.file, seconds=0.5) as session,
        pytest.raises(OutboundError) as caught,
    ):
        session.get(f"https://inside.example:{port}/")
    assert caught.value.code is Code.TIMEOUT


def test_endless_handshake_times_out_at_the_deadline(ca: PrivateCA) -> None:
    with (
        raw_server(hang) as port,
        open_tls_session(ca.file, seconds=0.5) as session,
        pytest.raises(OutboundError) as caught,
    ):
        session.get(f"https://inside.example:{port}/")
    assert caught.value.code is Code.TIMEOUT
