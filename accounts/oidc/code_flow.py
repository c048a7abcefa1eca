"""The authorization code flow of OpenID Connect (Core 1.0, section 3.1), from its start to the provider's claims.

Authlib builds the requests and checks the claims; an outbound session (contacts_project.kernel.outbound) carries them.
Loading Authlib takes each start of a process a twentieth, so views load this module when somebody signs in.
"""

import time
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from django.conf import settings
from django.utils.crypto import get_random_string
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from requests import RequestException

from accounts.oidc.app_redirects import proves_its_app
from accounts.oidc.app_requests import AppRequest
from accounts.oidc.documents import ProviderUnreachableError
from accounts.oidc.flow import Flow, ProviderRefusedError
from accounts.oidc.provider import Provider, load_keys, load_provider
from contacts_project.kernel.outbound import OutboundError, check_status, configured_rules, guard

CALLBACK_PATH = "/api/auth/oidc/callback"
_SCOPE = "openid email profile"
# Only signatures that the provider alone can make: none of the HMAC kinds, and not `none`.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
_LEEWAY_SECONDS = 60


def begin(next_path: str, app: AppRequest | None = None) -> tuple[str, Flow]:
    """Where to send the browser, and what to remember. Raises ProviderUnreachableError.

    Where the way back does not prove which app it is, the provider is to ask the user even if it knows them already:
    else any program on the device signs in unseen (RFC 8252, section 8.6).
    """
    provider = load_provider()
    state, nonce, verifier = (get_random_string(48) for _ in range(3))
    flow = Flow(time.time(), state, nonce, verifier, next_path, app)
    asking = {} if app is None or proves_its_app(app["redirect_uri"]) else {"prompt": "select_account"}
    with _session(provider) as session:
        url, _ = session.create_authorization_url(
            provider.authorization_endpoint,
            state=flow.state,
            nonce=flow.nonce,
            code_verifier=flow.verifier,
            **asking,
        )
    return url, flow


def finish(flow: Flow, code: str) -> dict[str, Any]:
    """Redeem the code and return the claims about the user, checked. Raises ProviderRefusedError or as begin."""
    provider = load_provider()
    with _session(provider) as session:
        try:
            token = session.fetch_token(provider.token_endpoint, code=code, code_verifier=flow.verifier)
        except (OutboundError, RequestException, ValueError, TypeError, AttributeError) as error:
            raise ProviderUnreachableError from error  # the latter: JSON that is no object
        except AuthlibBaseError as error:
            raise ProviderRefusedError from error
        claims = _checked_claims(provider, token, flow.nonce)
        if "email" not in claims and provider.userinfo_endpoint:
            # Only an ID token says how the user was authenticated.
            claims = {**_userinfo(session, provider.userinfo_endpoint, claims["sub"]), "amr": None, **claims}
    return claims


def _session(provider: Provider) -> OAuth2Session:
    session = OAuth2Session(
        settings.OIDC_CLIENT_ID,
        settings.OIDC_CLIENT_SECRET or None,
        scope=_SCOPE,
        redirect_uri=f"{settings.BASE_URL}{CALLBACK_PATH}",
        token_endpoint_auth_method=provider.client_auth,
        code_challenge_method="S256",
    )
    return guard(session, configured_rules(), raise_redirects=True)


def _checked_claims(provider: Provider, token: dict[str, Any], nonce: str) -> dict[str, Any]:
    """The ID token's claims (OpenID Connect Core, section 3.1.3.7)."""
    id_token = token.get("id_token") if isinstance(token, dict) else None
    if not isinstance(id_token, str):
        raise ProviderRefusedError
    try:
        decoded = _decode(provider, id_token)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": provider.issuer},
                "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
                "sub": {"essential": True},
            },
            {"nonce": nonce, "client_id": settings.OIDC_CLIENT_ID, "access_token": token.get("access_token")},
        )
        claims.validate(leeway=_LEEWAY_SECONDS)
    except (JoseError, AuthlibBaseError, ValueError, TypeError, KeyError) as error:
        raise ProviderRefusedError from error
    return dict(claims)


def _decode(provider: Provider, id_token: str) -> jwt.Token:
    try:
        return jwt.decode(id_token, KeySet.import_key_set(load_keys(provider)), _ALGORITHMS)  # type: ignore[arg-type]
    except (JoseError, ValueError):
        # The provider may have changed its keys since they were read, whatever it calls them.
        return jwt.decode(id_token, KeySet.import_key_set(load_keys(provider, anew=True)), _ALGORITHMS)  # type: ignore[arg-type]


def _userinfo(session: OAuth2Session, url: str, subject: str) -> dict[str, Any]:
    """More claims about the same subject (section 5.3.4: another subject's must not be used)."""
    try:
        response = session.get(url)
        check_status(response)
        found = response.json()
    except (OutboundError, RequestException, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(found, dict) or found.get("sub") != subject:
        raise ProviderRefusedError
    return found
