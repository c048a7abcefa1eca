"""The state of one sign-in through the provider between its start and the callback, in the browser's cookie."""

from dataclasses import dataclass

from django.utils.crypto import constant_time_compare

from accounts.oidc.app_requests import AppRequest
from accounts.oidc.cookie_state import CookieState, FlowError
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.texts import define_text


class ProviderRefusedError(DomainError):
    """The provider refused the sign-in, or its response is not valid."""

    message = define_text("oidc_refused", "The sign-in provider did not confirm who you are.")


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
