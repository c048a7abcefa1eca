"""The TLS context of every outbound connection."""

import ssl
from functools import lru_cache
from pathlib import Path

import certifi

from contacts_project.kernel.outbound.sockets import DeadlineSSLSocket


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Trusts the system's authorities, and beside them those of `ca_file` (a PEM bundle)."""
    changed = Path(ca_file).stat().st_mtime_ns if ca_file else 0
    return _build(ca_file, changed)


@lru_cache(maxsize=4)
def _build(ca_file: str | None, changed: int) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        # Slim images have no system store, or one in a folder that is only read on demand.
        context.load_verify_locations(certifi.where())
    if ca_file:
        context.load_verify_locations(ca_file)
    context.sslsocket_class = DeadlineSSLSocket
    return context
