"""What this instance knows of its provider: where its endpoints are, and which keys it signs with.

Both are documents that the issuer publishes (OpenID Connect Discovery 1.0, section 4).
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from accounts.oidc.documents import ProviderUnreachableError, document

PROVIDER_ID = "oidc"


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
    metadata = document(f"{issuer}/.well-known/openid-configuration").load()
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
    """The provider's JSON Web Key Set; `anew` when a key is not in what is kept. Raises as load_provider."""
    return document(provider.jwks_uri).load(anew=anew)


def _client_auth(metadata: dict[str, Any]) -> str:
    if not settings.OIDC_CLIENT_SECRET:
        return "none"
    offered = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"
