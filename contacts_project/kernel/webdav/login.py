"""The login: Basic with the first request, Digest if the server requires it (RFC 7617, RFC 7616)."""

import base64
import re
import threading
from dataclasses import dataclass
from typing import Any

from requests.auth import HTTPDigestAuth
from requests.utils import parse_dict_header

_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials. `url` is what the user has entered: its host may receive the password."""

    url: str
    username: str
    password: str

    def __repr__(self) -> str:
        return f"Login({self.url!r})"


class Authenticator:
    """Builds the Authorization headers of one login. Thread-safe."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self._digest: _Digest | None = None
        pair = f"{login.username}:{login.password}".encode()
        self._basic = "Basic " + base64.b64encode(pair).decode()

    def header(self, method: str, url: str) -> str:
        """The Authorization header of a request."""
        digest = self._digest
        return digest.header(method, url) if digest else self._basic

    def accept_challenge(self, sent: str, challenge: str) -> bool:
        """Whether to repeat a request after a 401; `sent` is the header it carried.

        A Digest challenge is answered once; after that the login counts as refused, unless the nonce is stale.
        """
        parts = _parse_digest_challenge(challenge)
        if parts is None or (sent.startswith("Digest ") and parts.get("stale", "").lower() != "true"):
            return False
        self._digest = _Digest(self.login, parts)
        return True


class _Digest:
    """Answers one challenge with the code of `requests`, whose state belongs to one thread, under a lock."""

    def __init__(self, login: Login, challenge: dict[str, str]) -> None:
        self._auth: Any = HTTPDigestAuth(login.username, login.password)
        self._challenge = challenge
        self._lock = threading.Lock()
        self._count = 0

    def header(self, method: str, url: str) -> str:
        with self._lock:
            self._count += 1
            # The state is per thread in `requests`; here one challenge is shared by all threads.
            self._auth.init_per_thread_state()
            state = self._auth._thread_local  # HTTPDigestAuth offers no other access outside of a requests session
            state.chal = self._challenge
            state.last_nonce, state.nonce_count = self._challenge["nonce"], self._count - 1
            # The digest covers the URL as urllib3 sends it: with upper-case percent-encoding.
            sent = _ESCAPED.sub(lambda match: match[0].upper(), url)
            return str(self._auth.build_digest_header(method, sent))


def _parse_digest_challenge(challenge: str) -> dict[str, str] | None:
    start = challenge.lower().find("digest ")
    if start < 0:
        return None
    parse: Any = parse_dict_header
    parts: dict[str, str] = parse(challenge[start + len("digest ") :])
    return parts if "nonce" in parts and "realm" in parts else None
