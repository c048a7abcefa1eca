"""The configurations in deploy/nginx and deploy/caddy work: real proxies in front of a real instance."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests import ROOT
from tests.contacts_project.test_serve import Instance, run_instance
from tests.loopback import PrivateCA, closed_port

HOST_NAME = "contacts.example.org"
CALLER_ADDRESS = "127.0.0.2"


class OtherAddressAdapter(HTTPAdapter):
    """Connects from another address than the proxy's."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, source_address=(CALLER_ADDRESS, 0), **options)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> requests.Session:
    """An HTTP session that resolves the host name of the examples to this machine."""
    real = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **options: Any) -> Any:
        return real("127.0.0.1" if host == HOST_NAME else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    session = requests.Session()
    session.trust_env = False  # environment variables may name other certificate authorities
    session.mount("https://", OtherAddressAdapter())
    return session


@contextmanager
def nginx(folder: Path, text: str, certificate: Path) -> Iterator[None]:
    for name in ("fullchain.pem", "privkey.pem"):
        text = text.replace(f"/etc/ssl/contacts/{name}", str(certificate))
    (folder / "contacts.conf").write_text(text)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {folder}/pid; error_log {folder}/proxy.log; events {{}}\n"
    whole += f"http {{ access_log off; {places} include {folder}/contacts.conf; }}\n"
    (folder / "nginx.conf").write_text(whole)
    command = ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "proxy.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    with run_server(command, folder):
        yield


@contextmanager
def caddy(folder: Path, text: str, certificate: Path) -> Iterator[None]:
    site = f"{HOST_NAME} {{"
    port = text.partition("#https ")[2].split()[0]
    ours = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    ours += f"https://{HOST_NAME}:{port} {{\n\ttls {certificate} {certificate}"
    (folder / "Caddyfile").write_text(text.replace(site, ours))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with run_server(command, folder, XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder)):
        yield


@contextmanager
def run_server(command: list[str], folder: Path, **environment: str) -> Iterator[None]:
    with (folder / "server.log").open("wb") as log:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), **environment}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError("the proxy did not start")


@pytest.fixture(params=["nginx", "caddy"])
def proxied_instance(
    request: pytest.FixtureRequest, tmp_path: Path, session: requests.Session, django_db_setup: None
) -> Iterator[tuple[str, Instance]]:
    """Run a proxy in front of an instance whose second web process is down; yields the proxy's URL and the instance."""
    if not shutil.which(request.param):
        pytest.skip(f"no {request.param} on this machine")
    authority = PrivateCA(tmp_path)
    authority.server_context(HOST_NAME)
    session.verify = authority.file
    certificate = next(tmp_path.glob("server-*.pem"))
    port, plain = closed_port(), closed_port()
    base = f"https://{HOST_NAME}:{port}"
    file = {"nginx": "nginx/contacts.conf", "caddy": "caddy/Caddyfile"}[request.param]
    text = (ROOT / "deploy" / file).read_text()
    if request.param == "caddy":
        text = text.replace(" 127.0.0.1:8001", "")  # Caddy 2.6 loses the body of a request that it retries
    text = text.replace("127.0.0.1:8001", f"127.0.0.1:{closed_port()}").replace("listen 80;", f"listen {plain};")
    text = text.replace("listen 443 ", f"listen 127.0.0.1:{port} ")
    text = "".join(line for line in text.splitlines(keepends=True) if "listen [::]" not in line)
    with run_instance(tmp_path / "data", BASE_URL=base, TRUSTED_PROXY_COUNT="1") as instance:
        text = text.replace("127.0.0.1:8000", instance.base.removeprefix("http://")) + f"#https {port}\n"
        with {"nginx": nginx, "caddy": caddy}[request.param](tmp_path, text, certificate):
            wait_for(port)
            if request.param == "nginx":
                session.headers["X-Plain-Port"] = str(plain)  # passes the port to the test
            yield base, instance


def test_proxy_passes_what_the_service_needs(proxied_instance: tuple[str, Instance], session: requests.Session) -> None:
    base, instance = proxied_instance
    plain = str(session.headers.pop("X-Plain-Port", "") or "")

    def send(method: str, path: str, **more: Any) -> requests.Response:
        return session.request(method, f"{base}{path}", timeout=60, **more)

    account = {"email": "ada@example.org", "password": "Analytical-1843", "name": "Ada"}
    created = send("POST", "/api/auth/register", json=account, headers={"X-Forwarded-For": "203.0.113.9"})
    assert created.status_code == 201, created.text
    assert "Strict-Transport-Security" in created.headers
    session.headers.update({"X-CSRFToken": session.cookies.get("csrftoken") or "", "Referer": base})
    [signed_in] = send("GET", "/api/user/sessions").json()["sessions"]
    assert signed_in["ip"] == CALLER_ADDRESS, "neither the proxy's address nor the one in the caller's header"

    large = send("POST", "/api/user/import", data=b" " * 15_000_000, headers={"Content-Type": "application/json"})
    assert (large.status_code, large.headers["Content-Type"]) == (400, "application/json")

    with send("GET", "/api/changes/stream", stream=True) as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith(b"event")) == b"event: changed"
        assert send("POST", "/api/people", json={"name": "Grace"}).status_code == 201
        assert next(line for line in lines if line.startswith(b"event")) == b"event: changed"

    assert send("GET", "/metrics").status_code == 404
    assert requests.get(f"{instance.base}/metrics", timeout=60).status_code == 401
    if plain:
        moved = requests.get(f"http://{HOST_NAME}:{plain}/api/docs", timeout=60, allow_redirects=False)
        assert (moved.status_code, moved.headers["Location"]) == (301, f"https://{HOST_NAME}/api/docs")
