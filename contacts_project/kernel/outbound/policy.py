"""The outbound policy: which URLs, ports and addresses a request may go to. Pure: no socket, no settings.

A URL is parsed once, into a `CheckedUrl` whose parts the session uses from then on, so that no second parser can
interpret it differently. `check_addresses` checks the addresses of its host when the connection is made.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

import idna

from contacts_project.kernel.text_forms import ascii_domain
from contacts_project.kernel.texts import Text, define_text

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

# Address ranges that requests may not reach unless the operator allows them. An explicit list, because
# `ipaddress.is_global` differs between Python versions and is true for several of these (NAT64's local prefix, 6to4
# relays, site-local, the new documentation prefix). Sources: the IANA special-purpose registries (RFC 6890 and its
# updates), RFC 1112, RFC 3056, RFC 4291.
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


_FORBIDDEN_CHARACTER = define_text(
    "url_forbidden_character", "The URL holds white space, a control character or a backslash."
)
_UNREADABLE = define_text("url_unreadable", "The URL cannot be read.")
_INCOMPLETE = define_text("url_incomplete", "The URL has no scheme or no host.")
_NOT_HTTP = define_text("url_not_http", "Only http and https URLs can be reached.")
_USERINFO = define_text("url_with_credentials", "The URL embeds credentials.")
_PORT = define_text("url_port", "Port %(port)d is not allowed.")
_NOT_PUBLIC = define_text("url_not_public", "The host leads to an address that is not public (%(purpose)s).")
_NOT_HTTPS = define_text("url_not_https", "The URL must be https.")
_NO_HOST = define_text("url_without_host", "The URL has no host.")
_NO_NAME = define_text("host_not_a_name", "The host is not a valid name.")
_NO_ADDRESS = define_text("host_not_an_address", "The host is not a valid address.")
_ZONE = define_text("host_with_zone", "An address with a zone cannot be reached.")
_SPELLING = define_text("host_spelling", "The host is an unusual spelling of an address.")
_NO_IDNA = define_text("host_not_idna", "The host is not a valid international name.")

DEFAULT_PORTS = {"http": 80, "https": 443}
FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
BRACKETED = re.compile(r"\[[^\[\]]*\](?::[0-9]*)?")
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")


class Reason(StrEnum):
    """Why a URL or an address is blocked."""

    MALFORMED = "malformed"
    SCHEME = "scheme"
    USERINFO = "userinfo"
    HOST = "host"
    PORT = "port"
    ADDRESS = "address"


class Schemes(StrEnum):
    """Which schemes a caller accepts. HTTPS_ONLY also accepts plain http to the operator's allowed networks."""

    HTTPS_ONLY = "https_only"
    HTTP_OR_HTTPS = "http_or_https"


class BlockedError(ValueError):
    """The policy does not allow the URL or address."""

    def __init__(self, reason: Reason, text: Text) -> None:
        super().__init__(text)
        self.text = text
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator allows in addition to public addresses on ports 80 and 443. `ports` None means any port."""

    networks: tuple[IPNetwork, ...] = ()
    ports: frozenset[int] | None = frozenset()

    @classmethod
    def parse(cls, networks: str | Iterable[str] = (), ports: str | Iterable[str | int] = ()) -> "Policy":
        """Parse the values of the settings: lists or comma-separated text; `*` among the ports allows any port."""
        port_texts = {str(part).strip() for part in _split(ports)}
        return cls(
            networks=tuple(ipaddress.ip_network(str(part).strip(), strict=False) for part in _split(networks)),
            ports=None if "*" in port_texts else frozenset(map(int, port_texts)),
        )

    def allows_network(self, address: IPAddress) -> bool:
        """Whether the address is in a network that the operator allows."""
        return any(address in network for network in self.networks)

    def allows_port(self, port: int) -> bool:
        return port in DEFAULT_PORTS.values() or (port > 0 and (self.ports is None or port in self.ports))


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """The checked parts of a URL. `host` is ASCII without a trailing dot; `literal` is the address of an IP literal."""

    scheme: str
    host: str
    port: int
    path: str
    literal: IPAddress | None

    @property
    def url(self) -> str:
        """The URL built from the parts, without user, fragment or default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def check_url(url: str, policy: Policy, schemes: Schemes) -> CheckedUrl:
    """Parse a URL and check all that needs no resolver. Raises BlockedError."""
    if FORBIDDEN_CHARACTERS.search(url):
        raise BlockedError(Reason.MALFORMED, _FORBIDDEN_CHARACTER)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BlockedError(Reason.MALFORMED, _UNREADABLE) from error
    if not parts.scheme or (parts.scheme in DEFAULT_PORTS and not parts.netloc):
        raise BlockedError(Reason.MALFORMED, _INCOMPLETE)
    if parts.scheme not in DEFAULT_PORTS:
        raise BlockedError(Reason.SCHEME, _NOT_HTTP)
    if "@" in parts.netloc:
        raise BlockedError(Reason.USERINFO, _USERINFO)
    # Not `hostname`, which str.lower has changed: a capital sigma at the end of a word would become another letter.
    host = parts.hostname if not parts.hostname or parts.hostname.isascii() else parts.netloc.partition(":")[0]
    host, literal = _check_host(parts.netloc, host or "")
    port = DEFAULT_PORTS[parts.scheme] if port is None else port
    if not policy.allows_port(port):
        raise BlockedError(Reason.PORT, _PORT.format(port=port))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = CheckedUrl(parts.scheme, host, port, path, literal)
    if literal is not None:
        check_addresses(target, [literal], policy, schemes)
    elif not policy.networks:
        # With allowed networks the answer depends on the address, and check_addresses decides.
        check_scheme(target, schemes)
    return target


def check_addresses(
    target: CheckedUrl, addresses: Iterable[IPAddress], policy: Policy, schemes: Schemes
) -> list[IPAddress]:
    """Return the addresses of a host if all are allowed. Raises BlockedError if any is not."""
    found = list(addresses)
    for address in found:
        if policy.allows_network(address):
            continue
        purpose = special_purpose(address)
        if purpose:
            raise BlockedError(Reason.ADDRESS, _NOT_PUBLIC.format(purpose=purpose))
        check_scheme(target, schemes)
    return found


def check_scheme(target: CheckedUrl, schemes: Schemes) -> None:
    """Check the scheme for a host that is not in an allowed network. Raises BlockedError."""
    if schemes is Schemes.HTTPS_ONLY and target.scheme != "https":
        raise BlockedError(Reason.SCHEME, _NOT_HTTPS)


def _check_host(netloc: str, host: str) -> tuple[str, IPAddress | None]:
    if not host:
        raise BlockedError(Reason.MALFORMED, _NO_HOST)
    if BRACKETED.fullmatch(netloc):
        return _check_ipv6_literal(host)
    name = _to_ascii(host)
    if NUMERIC_LABEL.fullmatch(name.rpartition(".")[2]):
        return _check_ipv4_literal(name)
    if not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise BlockedError(Reason.HOST, _NO_NAME)
    return name, None


def _check_ipv6_literal(host: str) -> tuple[str, IPAddress]:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError as error:
        raise BlockedError(Reason.HOST, _NO_ADDRESS) from error
    if address.scope_id is not None:
        raise BlockedError(Reason.HOST, _ZONE)
    return str(address), address


def _check_ipv4_literal(name: str) -> tuple[str, IPAddress]:
    """Accept dotted decimal only: libraries disagree on octal, hexadecimal, single-number and short forms."""
    try:
        address = ipaddress.IPv4Address(name)
    except ValueError as error:
        raise BlockedError(Reason.HOST, _SPELLING) from error
    return str(address), address


def _to_ascii(host: str) -> str:
    """Return the host name for the resolver (IDNA 2008 after UTS 46 mapping), without one trailing dot."""
    try:
        name = ascii_domain(host).removesuffix(".")
    except idna.IDNAError as error:
        raise BlockedError(Reason.HOST, _NO_IDNA) from error
    if not name or len(name) > 253:
        raise BlockedError(Reason.HOST, _NO_NAME)
    return name


def _split(value: str | Iterable[str | int]) -> Iterable[str | int]:
    if isinstance(value, str):
        return [part for part in value.split(",") if part.strip()]
    return value
