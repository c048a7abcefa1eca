"""What one sign-in through the provider remembers between its start and its end: in the browser's cookie."""

from dataclasses import dataclass

from django.utils.crypto import constant_time_compare

from accounts.oidc.app_requests import AppRequest
from accounts.oidc.cookie_state import CookieState, FlowError
from contacts_project.kernel.errors import DomainError


class ProviderRefusedError(DomainError):
    """The provider says no, or says what cannot be believed."""

    message = "The sign-in provider did not confirm who you are."


@dataclass(frozen=True)
class Flow(CookieState):
    """What the callback is checked against (RFC 6749 10.12, RFC 7636, OpenID Connect Core 3.1.2.1).

    Encrypted, since who has the verifier can redeem the code.
    """

    state: str
    nonce: str
    verifier: str
    next_path: str
    app: AppRequest | None = None


def resume(cookie: str, state: str) -> Flow:
    """The sign-in that this browser began and the provider answers. Raises FlowError."""
    flow = Flow.from_cookie(cookie)
    if not constant_time_compare(flow.state, state):
        raise FlowError
    return flow
