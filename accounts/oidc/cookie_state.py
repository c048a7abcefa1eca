"""What a sign-in remembers between two requests, as an encrypted cookie: starting one fills no table."""

import time
from dataclasses import asdict, dataclass
from typing import Self

import orjson

from contacts_project.kernel.crypto import keyring
from contacts_project.kernel.errors import DomainError

STATE_SECONDS = 600


class FlowError(DomainError):
    """The request does not belong to a sign-in that this browser began."""

    message = "This sign-in has expired, or was begun elsewhere. Start it again."


@dataclass(frozen=True)
class CookieState:
    """Base of what is remembered; good for ten minutes."""

    started_at: float

    def to_cookie(self) -> str:
        """The cookie's value."""
        return keyring.encrypt(orjson.dumps(asdict(self)).decode())

    @classmethod
    def from_cookie(cls, cookie: str) -> Self:
        """What this cookie holds. Raises FlowError."""
        try:
            found = cls(**orjson.loads(keyring.decrypt(cookie)))
        except (keyring.UndecryptableError, orjson.JSONDecodeError, TypeError):
            raise FlowError from None
        if time.time() - found.started_at > STATE_SECONDS:
            raise FlowError
        return found
