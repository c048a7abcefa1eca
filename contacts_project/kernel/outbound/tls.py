"""The TLS context of outbound connections."""

import ssl
from functools import lru_cache
from pathlib import Path

import certifi

from contacts_project.kernel.outbound.sockets import DeadlineSSLSocket


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the CAs of the system and those in `ca_file` (a PEM bundle)."""
    # The modification time is part of the cache key, so that a replaced file takes effect without a restart.
    return _build_context(ca_file, Path(ca_file).stat().st_mtime_ns if ca_file else 0)


@lru_cache(maxsize=4)
def _build_context(ca_file: str | None, mtime_ns: int) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        # Slim images have no system store, or one in a directory that OpenSSL reads on demand only.
        context.load_verify_locations(certifi.where())
    if ca_file:
        context.load_verify_locations(ca_file)
    context.sslsocket_class = DeadlineSSLSocket
    return context
