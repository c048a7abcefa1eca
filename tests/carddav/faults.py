"""Faults for tests/carddav/proxy.py: what networks and servers do to requests.

A `Condition` (`method`, `at`, `reports`) is passed to a fault as `when`.
"""

import gzip
import hashlib
import re
from base64 import b64encode
from threading import Event
from typing import Any
from uuid import uuid4

from tests.carddav.proxy import Condition, Fault, Reply, Request

HTML = "<!doctype html><title>Sign in</title><form></form>"


def method(*names: str, path: str = "") -> Condition:
    """Requests of these methods whose path contains `path`."""
    return lambda request: request.method in names and path in request.path


def at(path: str) -> Condition:
    """Requests for exactly this path."""
    return lambda request: request.path == path


def reports(name: str) -> Condition:
    """REPORTs of this name: `sync-collection`, `addressbook-multiget`."""
    return lambda request: request.method == "REPORT" and f"{name} ".encode() in request.body


def fail(status: int, body: str = "", *, headers: dict[str, str] | None = None, **rest: Any) -> Fault:
    """Answer with the status; the request does not reach the server."""
    reply = Reply(status, {"Content-Type": "application/xml; charset=utf-8", **(headers or {})}, body.encode())
    return Fault(before=lambda request: reply, **rest)


def refuse(status: int, condition: str, namespace: str = "DAV:", **rest: Any) -> Fault:
    """Answer with the status and a DAV:error that names the condition."""
    body = f'<?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:x="{namespace}"><x:{condition}/></d:error>'
    return fail(status, body, **rest)


def sign_in_page(**rest: Any) -> Fault:
    """Answer 200 with an HTML page, as a captive portal does for every request."""
    return fail(200, HTML, headers={"Content-Type": "text/html"}, **rest)


def redirect(status: int, location: str, **rest: Any) -> Fault:
    return fail(status, headers={"Location": location}, **rest)


def lose_request(**rest: Any) -> Fault:
    """The connection breaks before the server gets the request."""
    return Fault(before=lambda request: Reply(drop=True), **rest)


def lose_reply(**rest: Any) -> Fault:
    """The server handles the request, but the connection breaks before its response."""
    return Fault(after=lambda request, reply: Reply(drop=True), **rest)


def rewrite(pattern: str, replacement: str, **rest: Any) -> Fault:
    """Replace a regular expression in the body of the server's response."""

    def after(request: Request, reply: Reply) -> Reply:
        text = re.sub(pattern, replacement, reply.body.decode(), flags=re.DOTALL)
        return Reply(reply.status, reply.headers, text.encode())

    return Fault(after=after, **rest)


def hide_half(**rest: Any) -> Fault:
    """Remove every second card from a multistatus response."""

    def after(request: Request, reply: Reply) -> Reply:
        text, kept = reply.body.decode(), 0

        def every_second(match: "re.Match[str]") -> str:
            nonlocal kept
            if ".vcf</" not in match[0]:
                return match[0]
            kept += 1
            return match[0] if kept % 2 else ""

        pattern = r"<(?:\w+:)?response>.*?</(?:\w+:)?response>"
        text = re.sub(pattern, every_second, text, flags=re.DOTALL)
        return Reply(reply.status, reply.headers, text.encode())

    return Fault(after=after, **rest)


def change_header(name: str, value: str | None, **rest: Any) -> Fault:
    """Replace a header of the server's response, or remove it (None)."""

    def after(request: Request, reply: Reply) -> Reply:
        headers = {key: old for key, old in reply.headers.items() if key.lower() != name.lower()}
        return Reply(reply.status, headers | ({name: value} if value is not None else {}), reply.body)

    return Fault(after=after, **rest)


def rename_on_create(*, sends_location: bool = True, **rest: Any) -> Fault:
    """Store a new card under another name, and send that in Location only if `sends_location`."""

    def renamed(path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{folder}/renamed-{name}"

    def before(request: Request) -> Reply | None:
        if request.method == "PUT" and "if-none-match" in request.headers:
            request.path = renamed(request.path)
            request.headers["x-renamed"] = "1"
        return None

    def after(request: Request, reply: Reply) -> Reply:
        if sends_location and "x-renamed" in request.headers and reply.status == 201:
            return Reply(201, {**reply.headers, "Location": request.path}, reply.body)
        return reply

    return Fault(before=before, after=after, **rest)


def compress(**rest: Any) -> Fault:
    """Compress the response with gzip, and send it in chunks without a Content-Length."""

    def after(request: Request, reply: Reply) -> Reply:
        if not reply.body or "gzip" not in request.headers.get("accept-encoding", ""):
            return reply
        headers = {**reply.headers, "Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}
        if "ETag" in headers:  # as Apache does
            headers["ETag"] = headers["ETag"].rstrip('"') + '-gzip"'
        return Reply(reply.status, headers, gzip.compress(reply.body))

    return Fault(after=after, **rest)


def respell_hrefs(**rest: Any) -> Fault:
    """Replace each href by an absolute URL of an internal host, with needless percent-encoding."""

    def respelled(match: "re.Match[str]") -> str:
        return f"{match[1]}http://inside.example:81{match[2].replace('.vcf', '%2Evcf').replace('-', '%2d')}<"

    def after(request: Request, reply: Reply) -> Reply:
        text = re.sub(r"(<(?:\w+:)?href>)(/[^<]*)<", respelled, reply.body.decode())
        return Reply(reply.status, reply.headers, text.encode()) if reply.status == 207 else reply

    return Fault(after=after, **rest)


def digest_only(username: str, password: str, *, algorithm: str = "MD5") -> Fault:
    """Accept Digest authentication only (RFC 7616, section 3.4). A nonce is stale after two requests."""
    hashed = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}[algorithm]
    used: dict[str, int] = {}

    def digest(*parts: str) -> str:
        return hashed(":".join(parts).encode()).hexdigest()

    def challenge(*, stale: bool = False) -> Reply:
        used[nonce := f"nonce-{len(used)}"] = 0
        parts = f'realm="dav", qop="auth", nonce="{nonce}", algorithm={algorithm}' + (", stale=true" if stale else "")
        return Reply(401, {"WWW-Authenticate": f"Digest {parts}"})

    def before(request: Request) -> Reply | None:
        text = request.headers.get("authorization", "").partition("Digest ")[2]
        given = dict(re.findall(r'(\w+)="?([^",]+)"?', text))
        if given.get("nonce") not in used:
            return challenge()
        one, two = digest(username, "dav", password), digest(request.method, given["uri"])
        if given["response"] != digest(one, given["nonce"], given["nc"], given["cnonce"], "auth", two):
            return challenge()
        used[given["nonce"]] += 1
        assert int(given["nc"], 16) == used[given["nonce"]]
        pair = b64encode(f"{username}:{password}".encode()).decode()
        request.headers["x-upstream-authorization"] = (
            f"Basic {pair}"  # the server behind the proxy may not support Digest
        )
        return challenge(stale=True) if used[given["nonce"]] > 2 else None

    return Fault(before=before)


def ignore_conditions(**rest: Any) -> Fault:
    """Remove If-Match and If-None-Match, as if the server ignored them."""

    def before(request: Request) -> Reply | None:
        request.headers.pop("if-match", None)
        request.headers.pop("if-none-match", None)
        return None

    return Fault(before=before, **rest)


def hang(seconds: float = 30.0, **rest: Any) -> Fault:
    """Delay the response by so many seconds."""
    return Fault(seconds=seconds, **rest)


def hold_request(held: Event, until: Event, **rest: Any) -> Fault:
    """Set `held`, wait for `until`, and break the connection; the request does not reach the server."""

    def before(request: Request) -> Reply:
        held.set()
        until.wait()
        return Reply(drop=True)

    return Fault(before=before, **rest)


def hold_reply(held: Event, until: Event, **rest: Any) -> Fault:
    """Let the server handle the request, then set `held`, wait for `until`, and break the connection."""

    def after(request: Request, reply: Reply) -> Reply:
        held.set()
        until.wait()
        return Reply(drop=True)

    return Fault(after=after, **rest)


def alter_cards(*names: str, **rest: Any) -> Fault:
    """Give each new card another UID, and drop the properties `names`, as some servers do."""

    def before(request: Request) -> Reply | None:
        lines = request.body.decode().replace("\r\n ", "").split("\r\n")
        kept = [line for line in lines if not line.startswith(names)]
        is_new = "if-none-match" in request.headers
        body = [f"UID:{uuid4()}" if is_new and line.startswith("UID:") else line for line in kept]
        request.body = "\r\n".join(body).encode()
        return None

    return Fault(before=before, **rest)
