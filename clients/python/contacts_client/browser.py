"""Sign-in through the OpenID provider in the user's browser, which returns to this program on loopback (RFC 8252).

`prepare` and `Prepared.token` are its two steps, for a program that uses a custom URI scheme instead of loopback.
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

from contacts_client.connection import TIMEOUT_SECONDS, Connection, require_success

CALLBACK_PATH = "/callback"
_SIGNED_IN_PAGE = b"<!doctype html><title>Signed in</title><p>You can close this page, and go back to the program.</p>"


class SignInError(Exception):
    """The browser returned without a code, or did not return in time."""


@dataclass(frozen=True)
class Prepared:
    """A sign-in that was started: open `url` in a browser, then call `token` with the URL to which it returns."""

    base_url: str
    url: str
    state: str
    verifier: str

    def token(self, address: str, *, name: str, scope: str = "READ_WRITE") -> str:
        """Return a token for this device, which the account lists under `name`. Store it: it is not shown again.

        `address` is the URL to which the browser returned. Raises SignInError (the user did not sign in), RefusedError.
        """
        parameters = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        # Otherwise another site could complete the sign-in with a code for an account of its own.
        if parameters.get("state") != self.state:
            raise SignInError("This answer belongs to another sign-in.")
        if "code" not in parameters:
            raise SignInError(parameters.get("error_description") or parameters.get("error", ""))
        body = {"code": parameters["code"], "codeVerifier": self.verifier, "name": name, "scope": scope}
        response = httpx.post(f"{self.base_url}/api/auth/oidc/token", json=body, timeout=TIMEOUT_SECONDS)
        return str(require_success(response)["apiToken"]["token"])


def prepare(base_url: str, redirect_uri: str) -> Prepared:
    """Start a sign-in. `redirect_uri` must be one that the operator of the service has allowed."""
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    # PKCE (RFC 7636): another program that intercepts the code cannot use it without the verifier.
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
    """Sign this device in. Waits at most `seconds` for the user; `http://127.0.0.1/callback` must be allowed.

    Raises SignInError, RefusedError.
    """
    returned: Queue[str] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_callback = urlsplit(self.path).path == CALLBACK_PATH
            self.send_response(200 if is_callback else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if is_callback:
                self.wfile.write(_SIGNED_IN_PAGE)
                returned.put(self.path)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the URL contains the code."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listener = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        listener.start()
        try:
            started = prepare(base_url, f"http://127.0.0.1:{server.server_port}{CALLBACK_PATH}")
            show(started.url)
            address = returned.get(timeout=seconds)
        except Empty:
            raise SignInError("Nobody has signed in.") from None
        finally:
            server.shutdown()
            listener.join()
    return Connection(base_url, started.token(address, name=name, scope=scope))
