"""The configured provider: its endpoints and its keys, from the documents that the issuer publishes (OpenID Connect
Discovery 1.0, section 4)."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from accounts.oidc.documents import ProviderUnreachableError, cached_document
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

_OTHER_ISSUER = define_text("provider_other_issuer", "The provider's metadata name another issuer than OIDC_ISSUER.")

PROVIDER_ID = "oidc"


@dataclass(frozen=True)
class ProviderMetadata:
    """The part of the provider's metadata that the flow needs."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    client_auth: str


def is_configured() -> bool:
    return bool(settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID)


def provider_name() -> str:
    """The label of the sign-in button."""
    return settings.OIDC_NAME or urlsplit(settings.OIDC_ISSUER).hostname or PROVIDER_ID


def load_provider() -> ProviderMetadata:
    """The configured provider. Raises ProviderUnreachableError."""
    issuer = settings.OIDC_ISSUER.rstrip("/")
    metadata = cached_document(f"{issuer}/.well-known/openid-configuration").load()
    try:
        # Section 4.3: without this check, metadata could name the endpoints of another provider.
        if metadata["issuer"].rstrip("/") != issuer:
            raise ProviderUnreachableError(_OTHER_ISSUER)
        return ProviderMetadata(
            issuer=metadata["issuer"],
            authorization_endpoint=metadata["authorization_endpoint"],
            token_endpoint=metadata["token_endpoint"],
            jwks_uri=metadata["jwks_uri"],
            userinfo_endpoint=metadata.get("userinfo_endpoint"),
            client_auth=_client_auth_method(metadata),
        )
    except (KeyError, AttributeError, TypeError):
        raise ProviderUnreachableError from None


def load_keys(provider: ProviderMetadata, *, refresh: bool = False) -> JsonObject:
    """The provider's JSON Web Key Set; with `refresh`, not from the cache. Raises ProviderUnreachableError."""
    return cached_document(provider.jwks_uri).load(refresh=refresh)


def _client_auth_method(metadata: JsonObject) -> str:
    if not settings.OIDC_CLIENT_SECRET:
        return "none"
    # client_secret_basic is the default if the metadata name no methods (Discovery, section 3).
    offered = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"
