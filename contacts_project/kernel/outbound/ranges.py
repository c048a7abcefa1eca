"""Address ranges that requests may not reach unless the operator allows them.

An explicit list, because `ipaddress.is_global` differs between Python versions and is true for several of these
(NAT64's local prefix, 6to4 relays, site-local, the new documentation prefix).
Sources: the IANA special-purpose registries (RFC 6890 and its updates), RFC 1112, RFC 3056, RFC 4291.
"""

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_PURPOSE_BY_RANGE = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "IETF protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "AMT",
    "192.88.99.0/24": "6to4 relay anycast",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved and broadcast",
    "::/96": "unspecified, loopback and IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b::/96": "NAT64",
    "64:ff9b:1::/48": "NAT64, local use",
    "100::/64": "discard only",
    "100:0:0:1::/64": "dummy prefix",
    "2001::/23": "IETF protocol assignments, Teredo, benchmarking, ORCHID",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "AS112",
    "3ffe::/16": "6bone, returned",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing identifiers",
    "fc00::/7": "unique local",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
SPECIAL_PURPOSE: tuple[tuple[IPNetwork, str], ...] = tuple(
    (ipaddress.ip_network(text), purpose) for text, purpose in _PURPOSE_BY_RANGE.items()
)
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")


def special_purpose(address: IPAddress) -> str | None:
    """Return what the address is reserved for; None for an ordinary public address."""
    for network, purpose in SPECIAL_PURPOSE:
        if address in network:
            return purpose
    if address.version == 6 and address not in GLOBAL_UNICAST:
        return "outside global unicast"
    return None
