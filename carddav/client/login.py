"""The login, as Basic at once or as Digest where a server asks for it (RFC 7617, RFC 7616)."""

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
    """Whose address book it is. `url` is what the user typed: its host may get the password."""

    url: str
    username: str
    password: str

    def __repr__(self) -> str:
        return f"Login({self.url!r})"


class Authenticator:
    """Makes the Authorization headers of one login; for any number of threads."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self._digest: _Digest | None = None
        pair = f"{login.username}:{login.password}".encode()
        self._basic = "Basic " + base64.b64encode(pair).decode()

    def header(self, method: str, url: str) -> str:
        """What to send with the request."""
        digest = self._digest
        return digest.header(method, url) if digest else self._basic

    def take_challenge(self, sent: str, challenge: str) -> bool:
        """Whether it is worth asking again after a 401 to a request that carried `sent`.

        A server that asks for Digest is asked twice before the login counts as refused; a nonce may grow stale.
        """
        parts = _digest_parts(challenge)
        if parts is None or (sent.startswith("Digest ") and parts.get("stale", "").lower() != "true"):
            return False
        self._digest = _Digest(self.login, parts)
        return True


class _Digest:
    """Answers one challenge, counting up; requests' own arithmetic, whose state is one a thread."""

    def __init__(self, login: Login, challenge: dict[str, str]) -> None:
        self._auth: Any = HTTPDigestAuth(login.username, login.password)
        self._challenge = challenge
        self._lock = threading.Lock()
        self._count = 0

    def header(self, method: str, url: str) -> str:
        with self._lock:
            self._count += 1
            self._auth.init_per_thread_state()
            state = self._auth._thread_local  # the class is made for a session of requests
            state.chal = self._challenge
            state.last_nonce, state.nonce_count = self._challenge["nonce"], self._count - 1
            # As urllib3 sends it: with the hexadecimal digits in capitals.
            sent = _ESCAPED.sub(lambda match: match[0].upper(), url)
            return str(self._auth.build_digest_header(method, sent))


def _digest_parts(challenge: str) -> dict[str, str] | None:
    start = challenge.lower().find("digest ")
    if start < 0:
        return None
    parse: Any = parse_dict_header
    parts: dict[str, str] = parse(challenge[start + len("digest ") :])
    return parts if "nonce" in parts and "realm" in parts else None
