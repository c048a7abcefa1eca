"""Where a request comes from, past the proxies that the operator trusts (open points, section 2)."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The caller's IP address, `""` when it is not known (a Unix socket).

    Each trusted proxy appends the address it was called from to X-Forwarded-For. Counted from the right by
    TRUSTED_PROXY_COUNT, nothing that the caller itself writes there is ever believed.
    """
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
    hops.append(request.META.get("REMOTE_ADDR", ""))
    chosen = hops[-min(settings.TRUSTED_PROXY_COUNT + 1, len(hops))]
    try:
        return str(_read_address(chosen))
    except ValueError:
        return ""


def _read_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address, without the port that some proxies write and without its zone; IPv4 also where IPv6 carries it."""
    has_port = text.count(":") == 1 or "]:" in text
    host = (text.rpartition(":")[0] if has_port else text).strip("[]")
    address = ipaddress.ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def address_block(address: str) -> str:
    """What one caller can be held to: an IPv4 address, or the /64 that an IPv6 customer gets whole."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address, 64), strict=False))
