"""A small OpenID Connect provider on loopback that validates requests strictly and can send wrong responses."""

import base64
import hashlib
import http.server
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import orjson
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.loopback import allow_loopback

CLIENT_ID, CLIENT_SECRET = "contacts", "s3cret/with:signs"


@cache
def default_key() -> RSAKey:
    """The key of every provider until `rotate_key`. Cached, because generating one takes longer than a sign-in."""
    return RSAKey.generate_key(2048, parameters={"kid": "one"})


@dataclass
class Provider:
    """The state of the provider: its only user, the requests it received, and what makes it send wrong responses."""

    port: int = 0
    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "u-1", "email": "ada@example.org", "email_verified": True, "given_name": "Ada"}
    )
    userinfo: dict[str, Any] = field(default_factory=dict)
    wrong_claims: dict[str, Any] = field(default_factory=dict)  # override claims of the ID token
    auth_methods: list[str] = field(default_factory=lambda: ["client_secret_basic"])
    key: RSAKey = field(default_factory=default_key)
    signing_key: RSAKey | None = None  # signs instead of `key`, which is the published one
    token_response: Any = None  # sent instead of tokens
    token_members: dict[str, Any] = field(default_factory=dict)  # added to the token response
    other_keys: list[dict[str, Any]] = field(default_factory=list)  # published before `key`
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    redeemed: list[dict[str, str]] = field(default_factory=list)  # the forms whose code was exchanged for tokens
    requested_paths: list[str] = field(default_factory=list)
    responsive: threading.Event = field(default_factory=threading.Event)  # while cleared, requests hang

    def __post_init__(self) -> None:
        self.responsive.set()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rotate_key(self, kid: str) -> None:
        """Sign with a new key from now on."""
        self.key = RSAKey.generate_key(2048, parameters={"kid": kid})

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "token_endpoint_auth_methods_supported": self.auth_methods,
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Answer the authorization request as if the user had agreed; returns the redirect's URL, with a code."""
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        authorized = self.codes.pop(form.get("code", ""), None)
        if not self._is_client_authenticated(form, authorization):
            return 401, {"error": "invalid_client"}
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            authorized is None
            or authorized["redirect_uri"] != form["redirect_uri"]
            or base64.urlsafe_b64encode(challenge).decode().rstrip("=") != authorized["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        self.redeemed.append(form)
        tokens = {"access_token": "opaque", "token_type": "Bearer", "id_token": self._id_token(authorized["nonce"])}
        return 200, tokens | self.token_members

    def _id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, "nonce": nonce, **self.claims}
        return jwt.encode(
            {"alg": "RS256", "kid": self.key.kid}, {**claims, **self.wrong_claims}, self.signing_key or self.key
        )

    def _is_client_authenticated(self, form: dict[str, str], authorization: str) -> bool:
        if authorization.startswith("Basic "):
            user, _, password = base64.b64decode(authorization[6:]).decode().partition(":")
            sent = (unquote(user), unquote(password))
            return "client_secret_basic" in self.auth_methods and sent in {
                (CLIENT_ID, CLIENT_SECRET),
                (CLIENT_ID, unquote(CLIENT_SECRET)),
            }
        sent = (form.get("client_id", ""), form.get("client_secret", ""))
        return "client_secret_post" in self.auth_methods and sent == (CLIENT_ID, CLIENT_SECRET)

    def answer(self, method: str, path: str, body: bytes, authorization: str) -> tuple[int, Any]:
        form = dict(parse_qsl(body.decode()))
        if path == "/.well-known/openid-configuration":
            return 200, self.metadata()
        if path == "/keys":
            return 200, {"keys": [*self.other_keys, self.key.as_dict(private=False)]}
        if path == "/userinfo":
            return (200, self.userinfo) if authorization == "Bearer opaque" else (401, {})
        if path == "/token" and self.token_response is not None:
            return 200, self.token_response
        if path == "/token" and method == "POST":
            return self.token(form, authorization)
        return 404, {}


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    """Run a provider and yield it."""
    provider = Provider()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            authorization = self.headers.get("Authorization", "")
            provider.requested_paths.append(self.path)
            provider.responsive.wait(30)
            parts = urlsplit(self.path)
            if parts.path == "/authorize":  # a browser, whose user agrees at once
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
                return
            status, document = provider.answer(self.command, parts.path, body, authorization)
            content = orjson.dumps(document)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        # Requests that hang would delay the shutdown.
        provider.responsive.set()
        server.shutdown()
        server.server_close()
        thread.join()


def use_provider(provider: Provider, settings: Any) -> None:
    """Configure the service to sign in through this provider."""
    settings.OIDC_ISSUER = provider.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OIDC_NAME = "Example"
    allow_loopback(settings)


def approve_sign_in(provider: Provider, location: str) -> str:
    """Follow the redirect to the provider and agree; returns path and query of the redirect back to the service."""
    assert location.startswith(f"{provider.issuer}/authorize?")
    back = urlsplit(provider.authorize(dict(parse_qsl(urlsplit(location).query))))
    return f"{back.path}?{back.query}"
