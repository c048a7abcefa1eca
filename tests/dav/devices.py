"""A device: a program that asks with an app password, and reads the XML of the answers."""

import base64
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from accounts.models import User
from accounts.models.tokens import TOKEN_HASH
from accounts.vocabularies import TokenScope
from dav.authentication import Credentials
from tests.builders import make_token
from tests.client import Client, client_of

NAMESPACES = {
    "d": "DAV:",
    "card": "urn:ietf:params:xml:ns:carddav",
    "cal": "urn:ietf:params:xml:ns:caldav",
    "cs": "http://calendarserver.org/ns/",
}
DECLARED = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in NAMESPACES.items())


_HEAD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u-1\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\n"


@dataclass
class Entry:
    """One response element: its status (200 if it has properties), and the properties that were found."""

    status: int
    found: dict[str, Element] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.found[name].text or ""


@dataclass
class Answer:
    """A multistatus answer, by href, with its sync-token if it has one."""

    entries: dict[str, Entry]
    token: str


class Device:
    """A device of an account with a token of its own."""

    def __init__(self, user: User, scope: str = TokenScope.READ_WRITE) -> None:
        self.user, self.token = user, make_token(user, scope)
        self.client = Client()
        self.book = f"/dav/addressbooks/{user.pk}/contacts/"

    def put(self, name: str, text: str | bytes, **headers: str) -> Any:
        return self.call("PUT", f"{self.book}{name}", text, **{"content_type": "text/vcard; charset=utf-8", **headers})

    def get(self, name: str, **headers: str) -> Any:
        return self.call("GET", f"{self.book}{name}", **headers)

    def text(self, name: str, **headers: str) -> str:
        response = self.get(name, **headers)
        assert response.status_code == 200, response.status_code
        return str(response.content.decode())

    def call(self, method: str, path: str, body: str | bytes = b"", **headers: str) -> Any:
        login = base64.b64encode(f"{self.user.email}:{self.token}".encode()).decode()
        headers.setdefault("HTTP_AUTHORIZATION", f"Basic {login}")
        data = body.encode() if isinstance(body, str) else body
        return self.client.generic(method, path, data, **{"content_type": "text/xml; charset=utf-8", **headers})

    def ask(self, method: str, path: str, body: str, **headers: str) -> Answer:
        """A request whose answer must be a multistatus."""
        response = self.call(method, path, body, **headers)
        assert response.status_code == 207, (response.status_code, b"".join(response)[:500])
        return read_multistatus(b"".join(response))

    def propfind(self, path: str, *names: str, depth: str = "0", **headers: str) -> Answer:
        props = "".join(f"<{name}/>" for name in names)
        body = f"<d:propfind {DECLARED}><d:prop>{props}</d:prop></d:propfind>"
        return self.ask("PROPFIND", path, body, HTTP_DEPTH=depth, **headers)

    def sync(self, token: str = "", *names: str, limit: int | None = None, **headers: str) -> Answer:
        limited = f"<d:limit><d:nresults>{limit}</d:nresults></d:limit>" if limit else ""
        props = "".join(f"<{name}/>" for name in names or ("d:getetag",))
        body = (
            f"<d:sync-collection {DECLARED}><d:sync-token>{token}</d:sync-token><d:sync-level>1</d:sync-level>"
            f"{limited}<d:prop>{props}</d:prop></d:sync-collection>"
        )
        return self.ask("REPORT", self.book, body, HTTP_DEPTH="0", **headers)

    def multiget(self, *hrefs: str) -> Answer:
        listed = "".join(f"<d:href>{href}</d:href>" for href in hrefs)
        body = (
            f"<card:addressbook-multiget {DECLARED}><d:prop><d:getetag/><card:address-data/></d:prop>{listed}"
            "</card:addressbook-multiget>"
        )
        return self.ask("REPORT", self.book, body, HTTP_DEPTH="1")


def card(*lines: str, head: str = _HEAD) -> str:
    """The text of a card with these lines."""
    return head + "".join(f"{line}\r\n" for line in lines) + "END:VCARD\r\n"


def person_of(user: User) -> Any:
    """The one person of the account, as the API shows it."""
    (person,) = client_of(user).ok("GET", "/api/people")["people"]
    return client_of(user).ok("GET", f"/api/people/{person['id']}")["person"]


def signed_in(user: User) -> Client:
    """The account's owner in the browser, who alone may change and revoke devices."""
    client = Client()
    client.force_login(user)
    client.reader = user
    return client


def read_multistatus(body: bytes) -> Answer:
    root = fromstring(body)
    entries = {}
    for response in root.findall("d:response", NAMESPACES):
        href = response.findtext("d:href", namespaces=NAMESPACES) or ""
        status = response.findtext("d:status", namespaces=NAMESPACES)
        entry = Entry(int(status.split()[1]) if status else 200)
        for propstat in response.findall("d:propstat", NAMESPACES):
            code = (propstat.findtext("d:status", namespaces=NAMESPACES) or "").split()[1]
            for element in propstat.findall("d:prop/*", NAMESPACES):
                if code == "200":
                    entry.found[_short(element.tag)] = element
                else:
                    entry.missing.append(_short(element.tag))
        assert href not in entries, f"{href} is there twice"
        entries[href] = entry
    return Answer(entries, root.findtext("d:sync-token", "", NAMESPACES))


def _short(name: str) -> str:
    """`d:getetag` for the name in Clark notation."""
    namespace, _, local = name[1:].partition("}")
    prefix = next((short for short, long in NAMESPACES.items() if long == namespace), namespace)
    return f"{prefix}:{local}"


@pytest.fixture
def group_devices(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The tokens of devices that have groups as cards of their own."""
    tokens: set[str] = set()
    monkeypatch.setattr(
        Credentials,
        "has_group_cards",
        property(lambda self: self.token.digest in {TOKEN_HASH(t.encode()).hexdigest() for t in tokens}),
    )
    return tokens
