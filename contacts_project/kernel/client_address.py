"""The address that a request comes from, behind the proxies that the operator trusts."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The caller's IP address, or an empty text if it is unknown (a Unix socket)."""
    return address_behind_proxies(request.META.get("HTTP_X_FORWARDED_FOR", ""), request.META.get("REMOTE_ADDR", ""))


def address_behind_proxies(forwarded: str, peer: str) -> str:
    """The address of the caller, or an empty text: from X-Forwarded-For and the address of the peer.

    Each trusted proxy appends to X-Forwarded-For the address that called it. The caller can write the beginning of that
    header, so addresses are counted from its end, by TRUSTED_PROXY_COUNT.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    hops.append(peer)
    # With fewer hops than trusted proxies, a proxy was bypassed or adds nothing: the first address is the best known.
    chosen = hops[-min(settings.TRUSTED_PROXY_COUNT + 1, len(hops))]
    try:
        return str(_parse_address(chosen))
    except ValueError:
        return ""


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an address, without the port that some proxies add and without its zone. Raises ValueError.

    An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes IPv4.
    """
    has_port = text.count(":") == 1 or "]:" in text
    host = (text.rpartition(":")[0] if has_port else text).strip("[]")
    address = ipaddress.ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def address_block(address: str) -> str:
    """What rate limits count as one caller: an IPv4 address, or a /64 of IPv6.

    A provider assigns a whole /64 to one customer, who could otherwise use a new address for each request.
    """
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address, 64), strict=False))
