"""The outbound policy as a table. Nothing here opens a socket: only pure functions are called."""

import ipaddress
from typing import Any

import pytest

from contacts_project.kernel.outbound.policy import BlockedError, Policy, Reason, Schemes, check_addresses, check_url

PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

HOSTILE_LITERALS = {
    # Loopback and this network
    "http://127.0.0.1/": Reason.ADDRESS,
    "http://127.0.0.1:443/": Reason.ADDRESS,
    "http://127.1.2.3/": Reason.ADDRESS,
    "http://127.255.255.254/": Reason.ADDRESS,
    "http://0.0.0.0/": Reason.ADDRESS,
    "http://0.1.2.3/": Reason.ADDRESS,
    "http://[::1]/": Reason.ADDRESS,
    "http://[0:0:0:0:0:0:0:1]/": Reason.ADDRESS,
    "http://[::]/": Reason.ADDRESS,
    # Private, shared, link-local: cloud metadata services live here
    "http://10.0.0.1/": Reason.ADDRESS,
    "http://10.255.255.255/": Reason.ADDRESS,
    "http://172.16.0.1/": Reason.ADDRESS,
    "http://172.31.255.255/": Reason.ADDRESS,
    "http://192.168.0.1/": Reason.ADDRESS,
    "http://192.168.255.255/": Reason.ADDRESS,
    "http://100.64.0.1/": Reason.ADDRESS,
    "http://100.100.100.200/": Reason.ADDRESS,
    "http://100.127.255.255/": Reason.ADDRESS,
    "http://169.254.169.254/latest/meta-data/": Reason.ADDRESS,
    "http://169.254.170.2/": Reason.ADDRESS,
    "http://[fe80::1]/": Reason.ADDRESS,
    "http://[febf::1]/": Reason.ADDRESS,
    "http://[fc00::1]/": Reason.ADDRESS,
    "http://[fd00:ec2::254]/": Reason.ADDRESS,
    "http://[fec0::1]/": Reason.ADDRESS,
    # Set aside by IANA
    "http://192.0.0.8/": Reason.ADDRESS,
    "http://192.0.0.170/": Reason.ADDRESS,
    "http://192.0.2.1/": Reason.ADDRESS,
    "http://198.51.100.7/": Reason.ADDRESS,
    "http://203.0.113.9/": Reason.ADDRESS,
    "http://198.18.0.1/": Reason.ADDRESS,
    "http://198.19.255.255/": Reason.ADDRESS,
    "http://192.88.99.1/": Reason.ADDRESS,
    "http://192.31.196.1/": Reason.ADDRESS,
    "http://192.52.193.1/": Reason.ADDRESS,
    "http://192.175.48.1/": Reason.ADDRESS,
    "http://224.0.0.1/": Reason.ADDRESS,
    "http://239.255.255.250/": Reason.ADDRESS,
    "http://240.0.0.1/": Reason.ADDRESS,
    "http://255.255.255.255/": Reason.ADDRESS,
    "http://[2001:db8::1]/": Reason.ADDRESS,
    "http://[3fff::1]/": Reason.ADDRESS,
    "http://[5f00::1]/": Reason.ADDRESS,
    "http://[100::1]/": Reason.ADDRESS,
    "http://[2001::1]/": Reason.ADDRESS,
    "http://[2001:2::1]/": Reason.ADDRESS,
    "http://[2001:10::1]/": Reason.ADDRESS,
    "http://[2001:20::1]/": Reason.ADDRESS,
    "http://[2620:4f:8000::1]/": Reason.ADDRESS,
    "http://[3ffe::1]/": Reason.ADDRESS,
    "http://[ff02::1]/": Reason.ADDRESS,
    "http://[4000::1]/": Reason.ADDRESS,
    # An address inside an address
    "http://[::ffff:127.0.0.1]/": Reason.ADDRESS,
    "http://[::ffff:7f00:1]/": Reason.ADDRESS,
    "http://[::ffff:8.8.8.8]/": Reason.ADDRESS,
    "http://[::ffff:0:127.0.0.1]/": Reason.ADDRESS,
    "http://[::127.0.0.1]/": Reason.ADDRESS,
    "http://[64:ff9b::127.0.0.1]/": Reason.ADDRESS,
    "http://[64:ff9b::a9fe:a9fe]/": Reason.ADDRESS,
    "http://[64:ff9b:1::1]/": Reason.ADDRESS,
    "http://[2002:7f00:1::]/": Reason.ADDRESS,
    "http://[2002:a9fe:a9fe::1]/": Reason.ADDRESS,
    # Other spellings of an address
    "http://2130706433/": Reason.HOST,
    "http://0x7f000001/": Reason.HOST,
    "http://0X7F.0.0.1/": Reason.HOST,
    "http://0x7f.0x0.0x0.0x1/": Reason.HOST,
    "http://017700000001/": Reason.HOST,
    "http://0177.0.0.1/": Reason.HOST,
    "http://127.0.0.01/": Reason.HOST,
    "http://127.1/": Reason.HOST,
    "http://127.0.1/": Reason.HOST,
    "http://127.0.0.1.1/": Reason.HOST,
    "http://127.0.0.256/": Reason.HOST,
    "http://127.0.0.0x1/": Reason.HOST,
    "http://evil.example.1/": Reason.HOST,
    "http://127.0.0.1./": Reason.ADDRESS,
    "http://127.0.0.1../": Reason.HOST,
    "http://１２７.０.０.１/": Reason.ADDRESS,
    "http://①②⑦.⓪.⓪.①/": Reason.ADDRESS,
    "http://127。0。0。1/": Reason.ADDRESS,
    "http://[fe80::1%25eth0]/": Reason.HOST,
    "http://127.0.0.1%00.example/": Reason.HOST,
    "http://127.0.0.1%2eexample/": Reason.HOST,
    # Users, ports, schemes
    "http://user@public.example/": Reason.USERINFO,
    "https://user:secret@public.example/": Reason.USERINFO,
    "http://public.example@127.0.0.1/": Reason.USERINFO,
    "http://@public.example/": Reason.USERINFO,
    "http://a:b@c@public.example/": Reason.USERINFO,
    "http://public.example:22/": Reason.PORT,
    "http://public.example:8080/": Reason.PORT,
    "https://public.example:6379/": Reason.PORT,
    "http://public.example:0/": Reason.PORT,
    "http://public.example:65536/": Reason.MALFORMED,
    "http://public.example:80a/": Reason.MALFORMED,
    "http://public.example:-80/": Reason.MALFORMED,
    "ftp://public.example/": Reason.SCHEME,
    "file:///etc/passwd": Reason.SCHEME,
    "gopher://127.0.0.1:6379/_INFO": Reason.SCHEME,
    "javascript:alert(1)": Reason.SCHEME,
    "data:text/plain,x": Reason.SCHEME,
    "ws://public.example/": Reason.SCHEME,
    # Written to be read in two ways
    "http://public.example\\@127.0.0.1/": Reason.MALFORMED,
    "http:\\\\127.0.0.1/": Reason.MALFORMED,
    "http://127.0.0.1\t.example/": Reason.MALFORMED,
    "http://public.example\r\nHost: 127.0.0.1/": Reason.MALFORMED,
    " http://public.example/": Reason.MALFORMED,
    "http://public.example /": Reason.MALFORMED,
    "http://public.example\x00/": Reason.MALFORMED,
    "http://public.example／@127.0.0.1/": Reason.MALFORMED,
    "http://": Reason.MALFORMED,
    "http:///path": Reason.MALFORMED,
    "http://:80/": Reason.MALFORMED,
    "http:127.0.0.1": Reason.MALFORMED,
    "//127.0.0.1/": Reason.MALFORMED,
    "127.0.0.1": Reason.MALFORMED,
    "": Reason.MALFORMED,
    "http://[::1/": Reason.MALFORMED,
    "http://a..example/": Reason.HOST,
    "http://./": Reason.HOST,
    "http://-bad-.example/": Reason.HOST,
    "http://" + "a" * 64 + ".example/": Reason.HOST,
    "http://" + "a." * 130 + "example/": Reason.HOST,
    "http://xn--\u0378.example/": Reason.HOST,
}

HOSTILE_ANSWERS = [
    ["127.0.0.1"],
    ["::1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["::ffff:169.254.169.254"],
    ["64:ff9b::a00:1"],
    ["2002:c0a8:1::1"],
    ["fe80::1%2"],
    [PUBLIC, "127.0.0.1"],
    ["127.0.0.1", PUBLIC],
    [PUBLIC, PUBLIC_6, "fd00::1"],
]


def check(url: str, answers: Any = (PUBLIC,), policy: Any = None, schemes: Any = Schemes.HTTP_OR_HTTPS) -> Any:
    """Run the checks that an outbound session makes before it connects, with the resolver's `answers`."""
    policy = policy or Policy()
    target = check_url(url, policy, schemes)
    if target.literal is None:
        check_addresses(target, map(ipaddress.ip_address, answers), policy, schemes)
    return target


def refusal(*args: Any, **kwargs: Any) -> Any:
    with pytest.raises(BlockedError) as caught:
        check(*args, **kwargs)
    return caught.value.reason


def test_table_has_at_least_a_hundred_cases() -> None:
    assert len(HOSTILE_LITERALS) >= 100


@pytest.mark.parametrize(("url", "reason"), HOSTILE_LITERALS.items(), ids=ascii)
def test_hostile_url_is_refused(url: str, reason: Any) -> None:
    assert refusal(url) is reason


@pytest.mark.parametrize("url", ["http://[v1.fe80::a]/", "http://[::1]evil.example/", "http://a[::1]/"])
def test_malformed_brackets_are_refused(url: str) -> None:
    """Newer releases of Python refuse these in urlsplit; the result must not depend on the release."""
    assert refusal(url) in {Reason.HOST, Reason.MALFORMED}


@pytest.mark.parametrize("answers", HOSTILE_ANSWERS, ids=str)
def test_host_with_one_internal_address_is_refused(answers: Any) -> None:
    assert refusal("https://public.example/", answers) is Reason.ADDRESS


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://public.example", "https://public.example/"),
        ("HTTPS://Public.Example:443/a?b=c#d", "https://public.example/a?b=c"),
        ("http://public.example.:80/", "http://public.example/"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/ü"),
        ("https://ΣΑΣ.example:443/", "https://xn--mxa9ab.example/"),
        ("https://FAẞ.example/", "https://xn--fa-hia.example/"),
        (f"https://{PUBLIC}/x", f"https://{PUBLIC}/x"),
        (f"https://[{PUBLIC_6}]:80/", f"https://[{PUBLIC_6}]:80/"),
        ("https://under_score.example/", "https://under_score.example/"),
        ("http://1.example/", "http://1.example/"),
    ],
)
def test_ordinary_url_is_accepted(url: str, written: Any) -> None:
    assert check(url, [PUBLIC, PUBLIC_6]).url == written


def test_plain_http_is_refused_where_https_is_required() -> None:
    assert refusal("http://public.example/", schemes=Schemes.HTTPS_ONLY) is Reason.SCHEME
    assert refusal(f"http://{PUBLIC}/", schemes=Schemes.HTTPS_ONLY) is Reason.SCHEME
    assert check("https://public.example/", schemes=Schemes.HTTPS_ONLY).scheme == "https"


def test_allowed_networks_may_be_reached_with_plain_http() -> None:
    policy = Policy.parse("127.0.0.0/8, fd00::/8")
    for address in ("127.0.0.1", "fd00::7"):
        check("http://inside.example/", [address], policy, Schemes.HTTPS_ONLY)
    assert check("http://127.0.0.1/", policy=policy, schemes=Schemes.HTTPS_ONLY).literal
    assert refusal("http://10.0.0.1/", policy=policy) is Reason.ADDRESS
    assert refusal("http://[::ffff:127.0.0.1]/", policy=policy) is Reason.ADDRESS
    assert refusal("http://inside.example/", ["127.0.0.1", "10.0.0.1"], policy) is Reason.ADDRESS
    assert refusal("http://public.example/", [PUBLIC], policy, Schemes.HTTPS_ONLY) is Reason.SCHEME


def test_allowed_ports_are_added_to_80_and_443() -> None:
    policy = Policy.parse(ports="8443,9000")
    assert check("https://public.example:8443/", policy=policy).port == 8443
    assert check("https://public.example/", policy=policy).port == 443
    assert refusal("https://public.example:8444/", policy=policy) is Reason.PORT
    every = Policy.parse(ports=["*"])
    assert check("https://public.example:1/", policy=every).port == 1
    assert refusal("https://public.example:0/", policy=every) is Reason.PORT


def test_refusal_is_not_an_os_error() -> None:
    """Not an OSError, which urllib3 would turn into a connection error, so that the reason would be lost."""
    assert not issubclass(BlockedError, OSError)
