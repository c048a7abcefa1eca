"""What this instance knows of its provider: where its endpoints are, and which keys it signs with.

Both are read from the issuer (OpenID Connect Discovery 1.0, section 4) through the outbound door, and kept an hour.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from rest_framework import status

from contacts_project.kernel.api.errors import ApiError
from contacts_project.kernel.outbound import OutboundError, check_status, open_door

PROVIDER_ID = "oidc"
_KEPT_SECONDS = 3600
_MAX_BYTES = 512 * 1024


class ProviderUnreachableError(ApiError):
    """The provider does not answer, or not as a provider does."""

    status_code = status.HTTP_502_BAD_GATEWAY
    code = "oidc_unreachable"
    message = "The sign-in provider does not answer as it should. Try again later, or tell the operator."


@dataclass(frozen=True)
class Provider:
    """The provider's metadata, as far as the flow needs it."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    client_auth: str


def is_configured() -> bool:
    """Whether the operator has set a provider up."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID)


def provider_name() -> str:
    """What the button says."""
    return settings.OIDC_NAME or urlsplit(settings.OIDC_ISSUER).hostname or PROVIDER_ID


def load_provider() -> Provider:
    """The configured provider. Raises ProviderUnreachableError."""
    issuer = settings.OIDC_ISSUER.rstrip("/")
    key = f"oidc-metadata:{issuer}"
    metadata = cache.get(key)
    if metadata is None:
        metadata = _fetch(f"{issuer}/.well-known/openid-configuration")
        cache.set(key, metadata, _KEPT_SECONDS)
    try:
        if metadata["issuer"].rstrip("/") != issuer:  # section 4.3: else anybody's endpoints could be named
            raise ProviderUnreachableError("The provider's metadata name another issuer than OIDC_ISSUER.")
        return Provider(
            issuer=metadata["issuer"],
            authorization_endpoint=metadata["authorization_endpoint"],
            token_endpoint=metadata["token_endpoint"],
            jwks_uri=metadata["jwks_uri"],
            userinfo_endpoint=metadata.get("userinfo_endpoint"),
            client_auth=_client_auth(metadata),
        )
    except (KeyError, AttributeError, TypeError):
        raise ProviderUnreachableError from None


def load_keys(provider: Provider, *, anew: bool = False) -> dict[str, Any]:
    """The provider's JSON Web Key Set; `anew` past the cache, when a key is not in it. Raises as load_provider."""
    key = f"oidc-keys:{provider.jwks_uri}"
    keys: dict[str, Any] | None = None if anew else cache.get(key)
    if keys is None:
        keys = _fetch(provider.jwks_uri)
        cache.set(key, keys, _KEPT_SECONDS)
    return keys


def _client_auth(metadata: dict[str, Any]) -> str:
    if not settings.OIDC_CLIENT_SECRET:
        return "none"
    offered = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"


def _fetch(url: str) -> dict[str, Any]:
    try:
        with open_door(max_bytes=_MAX_BYTES) as door:
            response = door.request("GET", url, headers={"Accept": "application/json"})
            check_status(response)
            document = response.json()
    except (OutboundError, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(document, dict):
        raise ProviderUnreachableError
    return document
