"""State of a sign-in between two requests, in an encrypted cookie: strangers who start sign-ins fill no table."""

import time
from dataclasses import asdict, dataclass
from typing import Self

import orjson

from contacts_project.kernel.crypto import keyring
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.texts import define_text

STATE_SECONDS = 600


class FlowError(DomainError):
    """The request does not belong to a sign-in that this browser has started."""

    message = define_text("invalid_state", "This sign-in has expired, or was begun elsewhere. Start it again.")


@dataclass(frozen=True)
class CookieState:
    """Base class of the state; valid for ten minutes."""

    started_at: float

    def to_cookie(self) -> str:
        return keyring.encrypt(orjson.dumps(asdict(self)).decode())

    @classmethod
    def from_cookie(cls, cookie: str) -> Self:
        """Decrypt the cookie. Raises FlowError if it is invalid or too old."""
        try:
            # TypeError: a cookie of another subclass, with other fields.
            state = cls(**orjson.loads(keyring.decrypt(cookie)))
        except (keyring.UndecryptableError, orjson.JSONDecodeError, TypeError):
            raise FlowError from None
        # The browser's max-age is no protection: a client can keep a cookie for longer.
        if time.time() - state.started_at > STATE_SECONDS:
            raise FlowError
        return state
