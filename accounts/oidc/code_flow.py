"""The authorization code flow of OpenID Connect (Core 1.0, section 3.1), from its start to the provider's claims.

Authlib builds the requests and validates the claims; an outbound session (contacts_project.kernel.outbound) sends them.
Views import this module only when somebody signs in: importing Authlib takes a twentieth of the start of a process.
"""

import logging
import time

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from django.conf import settings
from django.utils.crypto import get_random_string
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, KeySet
from requests import RequestException

from accounts.oidc.app_redirects import identifies_app
from accounts.oidc.app_requests import AppRequest
from accounts.oidc.flow import Flow, ProviderRefusedError
from accounts.oidc.provider import ProviderMetadata, ProviderUnreachableError, load_keys, load_provider
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.outbound.failures import OutboundError, check_status
from contacts_project.kernel.outbound.session import configured_rules, guard

log = logging.getLogger(__name__)

CALLBACK_PATH = "/api/auth/oidc/callback"
_SCOPE = "openid email profile"
# Only asymmetric signatures, which nobody but the provider can make: no HMAC, and not `none`.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
_LEEWAY_SECONDS = 60
_EMPTY = (None, "")


def start_flow(next_path: str, app: AppRequest | None = None) -> tuple[str, Flow]:
    """Return the URL to redirect the browser to, and the flow to store. Raises ProviderUnreachableError."""
    provider = load_provider()
    state, nonce, verifier = (get_random_string(48) for _ in range(3))
    flow = Flow(time.time(), state, nonce, verifier, next_path, app)
    # If the redirect URI does not identify the app, the provider has to ask the user even if they are signed in there.
    # Otherwise any program on the device could sign in without being noticed (RFC 8252, section 8.6).
    extra_parameters = {} if app is None or identifies_app(app["redirect_uri"]) else {"prompt": "select_account"}
    with _session(provider) as session:
        url, _ = session.create_authorization_url(
            provider.authorization_endpoint,
            state=flow.state,
            nonce=flow.nonce,
            code_verifier=flow.verifier,
            **extra_parameters,
        )
    return url, flow


def exchange_code(flow: Flow, code: str) -> JsonObject:
    """Exchange the code for tokens; returns the validated claims about the user.

    Raises ProviderRefusedError, ProviderUnreachableError.
    """
    provider = load_provider()
    with _session(provider) as session:
        try:
            token = session.fetch_token(provider.token_endpoint, code=code, code_verifier=flow.verifier)
        # TypeError and AttributeError: Authlib expects an object, and the provider sent other JSON. OverflowError: it
        # converts `expires_in`, which JSON may write as 1e999.
        except (OutboundError, RequestException, ValueError, TypeError, AttributeError, OverflowError) as error:
            raise ProviderUnreachableError from error
        except AuthlibBaseError as error:
            raise ProviderRefusedError from error
        claims = _validate_claims(provider, token, flow.nonce)
        if provider.userinfo_endpoint and any(claims.get(name) in _EMPTY for name in ("email", "email_verified")):
            try:
                claims = complete_claims(claims, _load_userinfo(session, provider.userinfo_endpoint, claims, token))
            except (ProviderRefusedError, ProviderUnreachableError) as error:
                # With an address in the ID token, the sign-in goes on without what userinfo could have said: a linked
                # account needs none of it, and any other needs a verified address, which it then has not.
                if claims.get("email") in _EMPTY:
                    raise
                log.warning("userinfo of the sign-in provider cannot be used: %s", type(error).__name__)
    return claims


def complete_claims(id_token: JsonObject, userinfo: JsonObject) -> JsonObject:
    """The claims of the ID token, with those of userinfo where the ID token has none.

    `email_verified` is about the address beside it. So where the two name different addresses, both claims come from
    userinfo, which alone may say something of the address that it names.
    """
    present = {name: value for name, value in id_token.items() if value not in _EMPTY}
    if userinfo.get("email") not in (*_EMPTY, present.get("email")):
        present = {name: value for name, value in present.items() if name not in {"email", "email_verified"}}
    # `amr` counts only in the ID token, which is signed: a value from userinfo must not pass for it.
    return {**userinfo, "amr": None, **present}


def _session(provider: ProviderMetadata) -> OAuth2Session:
    session = OAuth2Session(
        settings.OIDC_CLIENT_ID,
        settings.OIDC_CLIENT_SECRET or None,
        scope=_SCOPE,
        redirect_uri=f"{settings.BASE_URL}{CALLBACK_PATH}",
        token_endpoint_auth_method=provider.client_auth,
        code_challenge_method="S256",
    )
    return guard(session, configured_rules(), raise_redirects=True)


def _validate_claims(provider: ProviderMetadata, token: JsonObject, nonce: str) -> JsonObject:
    """The claims of the ID token, validated (OpenID Connect Core, section 3.1.3.7)."""
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


def _decode(provider: ProviderMetadata, id_token: str) -> jwt.Token:
    try:
        return jwt.decode(id_token, _read_keys(load_keys(provider)), _ALGORITHMS)
    except (JoseError, ValueError):
        # The provider may have rotated its keys since they were loaded, even without changing the key id.
        return jwt.decode(id_token, _read_keys(load_keys(provider, refresh=True)), _ALGORITHMS)


def _read_keys(document: JsonObject) -> KeySet:
    """The keys of the document that this service can read. Others are skipped (RFC 7517, section 5): a provider may
    publish one of a new type or curve, or one for another purpose, beside those that it signs with."""
    published = document.get("keys")
    keys = []
    for key in published if isinstance(published, list) else ():
        try:
            keys.append(JWKRegistry.import_key(key))
        except (JoseError, ValueError, TypeError, KeyError) as error:
            log.warning("A key of the sign-in provider cannot be read: %s", type(error).__name__)
    return KeySet(keys)


def _load_userinfo(session: OAuth2Session, url: str, claims: JsonObject, token: JsonObject) -> JsonObject:
    """More claims about the subject. Raises ProviderRefusedError for those of another subject (section 5.3.4)."""
    access_token = token.get("access_token")
    if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
        raise ProviderRefusedError
    try:
        # Without Authlib's own header (RFC 6750, section 2.1): it treats a token as expired in its last minute.
        headers = {"Authorization": f"Bearer {access_token}"}
        response = session.get(url, withhold_token=True, headers=headers)
        check_status(response)
        userinfo = response.json()
    except (OutboundError, RequestException, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(userinfo, dict) or userinfo.get("sub") != claims["sub"]:
        raise ProviderRefusedError
    return userinfo
