"""Sign-in by the service's provider, in the user's own browser, back to this program over loopback (RFC 8252).

`prepare` and `Prepared.token` are the steps, for a program that is reached by a scheme of its own instead.
"""

import base64
import hashlib
import secrets
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from contacts_client.connection import TIMEOUT_SECONDS, Connection, success

PATH = "/callback"
_DONE = b"<!doctype html><title>Signed in</title><p>You can close this page, and go back to the program.</p>"


class SignInError(Exception):
    """The browser came back without a code, or did not come back in time."""


@dataclass(frozen=True)
class Prepared:
    """A sign-in that was begun: open `url` in a browser, and hand in the address that it comes back to."""

    base_url: str
    url: str
    state: str
    verifier: str

    def token(self, address: str, *, name: str, scope: str = "READ_WRITE") -> str:
        """The token of this device, which the account lists under `name`; keep it, it is shown this once.

        Raises SignInError where the user did not sign in, and RefusedError.
        """
        answer = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        if answer.get("state") != self.state:
            raise SignInError("This answer belongs to another sign-in.")
        if "code" not in answer:
            raise SignInError(answer.get("error_description") or answer.get("error", ""))
        body = {"code": answer["code"], "codeVerifier": self.verifier, "name": name, "scope": scope}
        made = httpx.post(f"{self.base_url}/api/auth/oidc/token", json=body, timeout=TIMEOUT_SECONDS)
        return str(success(made)["apiToken"]["token"])


def prepare(base_url: str, redirect_uri: str) -> Prepared:
    """Begin a sign-in that leads back to `redirect_uri`, which the service's operator has registered."""
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    return Prepared(base_url, f"{base_url}/api/auth/oidc/start?{urlencode(query)}", state, verifier)


def sign_in_by_browser(
    base_url: str,
    *,
    name: str,
    scope: str = "READ_WRITE",
    seconds: float = 600,
    show: Callable[[str], object] = webbrowser.open,
) -> Connection:
    """Sign this device in, and wait for it for `seconds`. `http://127.0.0.1/callback` has to be registered.

    Raises SignInError and RefusedError.
    """
    came_back: Queue[str] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_ours = urlsplit(self.path).path == PATH
            self.send_response(200 if is_ours else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if is_ours:
                self.wfile.write(_DONE)
                came_back.put(self.path)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the address holds the code."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listening = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        listening.start()
        try:
            begun = prepare(base_url, f"http://127.0.0.1:{server.server_port}{PATH}")
            show(begun.url)
            address = came_back.get(timeout=seconds)
        except Empty:
            raise SignInError("Nobody has signed in.") from None
        finally:
            server.shutdown()
            listening.join()
    return Connection(base_url, begun.token(address, name=name, scope=scope))
