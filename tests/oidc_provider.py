"""A small OpenID Connect provider on loopback that validates requests strictly."""

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

CLIENT_ID, CLIENT_SECRET = "contacts", "s3cret/with:signs"


@cache
def first_key() -> RSAKey:
    """That of every provider until it takes a new one: making one takes longer than a sign-in."""
    return RSAKey.generate_key(2048, parameters={"kid": "one"})


@dataclass
class Provider:
    """The provider's only user, and settings that make it send wrong answers."""

    port: int = 0
    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "u-1", "email": "ada@example.org", "email_verified": True, "given_name": "Ada"}
    )
    userinfo: dict[str, Any] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)  # wrong claims for the ID token
    auth_methods: list[str] = field(default_factory=lambda: ["client_secret_basic"])
    key: RSAKey = field(default_factory=first_key)
    signing_key: RSAKey | None = None
    token_answer: Any = None  # sent instead of tokens
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    redeemed: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # the paths of all requests
    answers: threading.Event = field(default_factory=threading.Event)  # cleared: it hangs

    def __post_init__(self) -> None:
        self.answers.set()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rotate(self, kid: str) -> None:
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
        """The user has agreed: where the browser is sent back to."""
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(form.get("code", ""), None)
        if not self._client_is_right(form, authorization):
            return 401, {"error": "invalid_client"}
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or asked["redirect_uri"] != form["redirect_uri"]
            or base64.urlsafe_b64encode(challenge).decode().rstrip("=") != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        self.redeemed.append(form)
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self._id_token(asked["nonce"])}

    def _id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, "nonce": nonce, **self.claims}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, {**claims, **self.lies}, self.signing_key or self.key)

    def _client_is_right(self, form: dict[str, str], authorization: str) -> bool:
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
            return 200, {"keys": [self.key.as_dict(private=False)]}
        if path == "/userinfo":
            return (200, self.userinfo) if authorization == "Bearer opaque" else (401, {})
        if path == "/token" and self.token_answer is not None:
            return 200, self.token_answer
        if path == "/token" and method == "POST":
            return self.token(form, authorization)
        return 404, {}


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    """Yield a running provider."""
    provider = Provider()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            authorization = self.headers.get("Authorization", "")
            provider.asked.append(self.path)
            provider.answers.wait(30)
            parts = urlsplit(self.path)
            if parts.path == "/authorize":  # a browser; its user agrees at once
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
        provider.answers.set()
        server.shutdown()
        server.server_close()
        thread.join()


def use(provider: Provider, settings: Any) -> None:
    """Configure the service to sign in through this provider."""
    settings.OIDC_ISSUER = provider.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OIDC_NAME = "Example"
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    settings.OUTBOUND_ALLOWED_PORTS = ["*"]


def agree(provider: Provider, location: str) -> str:
    """What a browser does at the provider; returns the path that it is sent back to."""
    assert location.startswith(f"{provider.issuer}/authorize?")
    back = urlsplit(provider.authorize(dict(parse_qsl(urlsplit(location).query))))
    return f"{back.path}?{back.query}"
