"""The configured provider: its endpoints and its keys, from the documents that the issuer publishes (OpenID Connect
Discovery 1.0, section 4).

The documents are fetched under the outbound policy and cached in the memory of this process. A provider that hangs must
not block the service: one request at a time fetches a document; meanwhile, and for a while after a failure, all others
get the cached one, or an error with a retry time at once.
"""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.outbound.failures import OutboundError, check_status
from contacts_project.kernel.outbound.session import outbound_session
from contacts_project.kernel.texts import define_text

_OTHER_ISSUER = define_text("provider_other_issuer", "The provider's metadata name another issuer than OIDC_ISSUER.")

log = logging.getLogger(__name__)

PROVIDER_ID = "oidc"
_MAX_AGE_SECONDS = 3600
_MAX_STALE_SECONDS = 24 * 3600
_RETRY_SECONDS = 30
_TIMEOUT_SECONDS = 5.0
_MAX_BYTES = 512 * 1024


class ProviderUnreachableError(UnavailableError):
    """The provider does not respond, or not with what OpenID Connect requires."""

    message = define_text(
        "provider_away", "The sign-in provider does not answer as it should. Try again later, or tell the operator."
    )


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


class CachedDocument:
    """A JSON object at a URL, with the monotonic times of the last fetch and the last failure."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.content: dict[str, Any] | None = None
        self.fetched_at = 0.0
        self.failed_at: float | None = None
        self._lock = threading.Lock()

    def load(self, *, refresh: bool = False) -> JsonObject:
        """The document; with `refresh`, fetched even if the cached one is fresh. Raises ProviderUnreachableError."""
        if refresh or self._age() > _MAX_AGE_SECONDS:
            self._refresh_unless_busy()
        if self.content is None or self._age() > _MAX_STALE_SECONDS:
            raise ProviderUnreachableError(retry_after=self._retry_after() or 2)
        return self.content

    def _age(self) -> float:
        return float("inf") if self.content is None else time.monotonic() - self.fetched_at

    def _retry_after(self) -> int:
        """Seconds until the next fetch is allowed after a failed one; 0 if it is allowed now."""
        if self.failed_at is None:
            return 0
        return max(0, round(self.failed_at + _RETRY_SECONDS - time.monotonic()))

    def _refresh_unless_busy(self) -> None:
        if self._retry_after() or not self._lock.acquire(blocking=False):
            return
        try:
            self.content = _fetch(self.url)
            self.fetched_at, self.failed_at = time.monotonic(), None
        except ProviderUnreachableError as error:
            self.failed_at = time.monotonic()
            log.warning("The sign-in provider could not be read: %s", error.__cause__ or error)
        finally:
            self._lock.release()


_documents: dict[str, CachedDocument] = {}


def cached_document(url: str) -> CachedDocument:
    """The process's shared document for the URL."""
    return _documents.setdefault(url, CachedDocument(url))


def _fetch(url: str) -> JsonObject:
    try:
        with outbound_session(max_bytes=_MAX_BYTES, seconds=_TIMEOUT_SECONDS) as session:
            response = session.request("GET", url, headers={"Accept": "application/json"})
            check_status(response)
            content = response.json()
    except (OutboundError, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(content, dict):
        raise ProviderUnreachableError
    return content
