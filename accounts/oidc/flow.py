"""The state of one sign-in through the provider between two requests, in an encrypted cookie of the browser.

Strangers who start sign-ins fill no table.
"""

import time
from dataclasses import asdict, dataclass
from typing import Self

import orjson
from django.utils.crypto import constant_time_compare

from accounts.oidc.app_requests import AppRequest
from contacts_project.kernel.crypto import fields
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

STATE_SECONDS = 600
# Kinds of factors, by the values of the claim `amr` (RFC 8176).
_KNOWLEDGE = {"pwd", "pin", "kba"}
_POSSESSION = {"otp", "sms", "tel", "hwk", "swk", "sc"}
_INHERENCE = {"face", "fpt", "iris", "retina", "vbm"}


class FlowError(DomainError):
    """The request does not belong to a sign-in that this browser has started."""

    message = define_text("invalid_state", "This sign-in has expired, or was begun elsewhere. Start it again.")


class ProviderRefusedError(DomainError):
    """The provider refused the sign-in, or its response is not valid."""

    message = define_text("oidc_refused", "The sign-in provider did not confirm who you are.")


@dataclass(frozen=True)
class CookieState:
    """Base class of the state; valid for ten minutes."""

    started_at: float

    def to_cookie(self) -> str:
        return fields.encrypt(orjson.dumps(asdict(self)).decode())

    @classmethod
    def from_cookie(cls, cookie: str) -> Self:
        """Decrypt the cookie. Raises FlowError if it is invalid or too old."""
        try:
            # TypeError: a cookie of another subclass, with other fields.
            state = cls(**orjson.loads(fields.decrypt(cookie)))
        except (fields.UndecryptableError, orjson.JSONDecodeError, TypeError):
            raise FlowError from None
        # The browser's max-age is no protection: a client can keep a cookie for longer.
        if time.time() - state.started_at > STATE_SECONDS:
            raise FlowError
        return state


@dataclass(frozen=True)
class Flow(CookieState):
    """The values that the callback is checked against: `state` (RFC 6749, section 10.12), the PKCE verifier (RFC 7636)
    and the `nonce` (OpenID Connect Core, section 3.1.2.1). Encrypted, since the verifier allows to redeem the code."""

    state: str
    nonce: str
    verifier: str
    next_path: str
    app: AppRequest | None = None


def resume_flow(cookie: str, state: str) -> Flow:
    """The flow that this browser has started. Raises FlowError, also if the callback's `state` is of another one."""
    flow = Flow.from_cookie(cookie)
    if not constant_time_compare(flow.state, state):
        raise FlowError
    return flow


def used_second_factor(claims: JsonObject) -> bool:
    """Whether the provider has asked for a second factor: `amr` lists `mfa`, or methods of two kinds of factors.

    Two methods of one kind are a single factor.
    """
    amr = claims.get("amr")
    methods = {method for method in amr if isinstance(method, str)} if isinstance(amr, list) else set()
    kinds = [kind for kind in (_KNOWLEDGE, _POSSESSION, _INHERENCE) if kind & methods]
    return "mfa" in methods or len(kinds) > 1
