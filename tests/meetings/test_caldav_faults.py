"""CalDAV servers that misbehave: expired tokens, cut reports, missing reports, redirects, resources that are broken."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from django.utils import timezone

from accounts.models import User
from tests.client import Client
from tests.loopback import PrivateCA, Received, Recorder, Reply, recording_server
from tests.meetings.calendars import attendee, event, ics, utc
from tests.meetings.conftest import known_person, make_source, proposals, read

_XMLNS = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/"'
_CALENDAR = "<resourcetype><collection/><C:calendar/></resourcetype>"
_HREF = re.compile(rb"<href>([^<]*)</href>")


def multistatus(*responses: tuple[str, str], extra: str = "", token: str = "") -> Reply:
    inner = "".join(
        f"<response><href>{href}</href><propstat><prop>{props}</prop><status>HTTP/1.1 200 OK</status></propstat>"
        "</response>"
        for href, props in responses
    )
    given = f"<sync-token>{token}</sync-token>" if token else ""
    body = f"<multistatus {_XMLNS}>{inner}{extra}{given}</multistatus>"
    return Reply(207, {"Content-Type": "application/xml"}, body.encode())


def lunch(uid: str = "a", hours: float = 3) -> bytes:
    start = timezone.now() - dt.timedelta(hours=hours)
    return ics(event(uid, utc(start), attendee("ada@example.org"), summary=uid, end=utc(start + dt.timedelta(hours=1))))


@dataclass
class ScriptedServer:
    """A CalDAV server with one calendar at /cal/work/. `faults` answer a request before the server does, if they do."""

    recorder: Recorder
    resources: dict[str, bytes] = field(default_factory=dict)
    token: str = "t1"
    home: str = "/cal/"
    faults: list[Callable[[Received], Reply | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.recorder.reply = self.answer

    @property
    def url(self) -> str:
        return f"{self.recorder.url}/"

    def asked(self) -> list[str]:
        """What was asked since the last call: methods, or the names of reports."""
        found = [re.findall(rb"<(?:C:)?([a-z-]+) xmlns", one.body) or [one.method] for one in self.recorder.received]
        self.recorder.received.clear()
        return [name[0].decode() if isinstance(name[0], bytes) else name[0] for name in found]

    def answer(self, request: Received) -> Reply:
        for fault in self.faults:
            if (reply := fault(request)) is not None:
                return reply
        if request.method == "PROPFIND":
            return self._propfind(request)
        if request.method == "GET":
            data = self.resources.get(request.path)
            return Reply(404) if data is None else Reply(200, {"Content-Type": "text/calendar"}, data)
        if b"sync-collection" in request.body:
            changed = () if f">{self.token}<".encode() in request.body else self.resources
            return multistatus(*((href, "") for href in changed), token=self.token)
        hrefs = [href.decode() for href in _HREF.findall(request.body)] or list(self.resources)
        return multistatus(
            *((href, f"<C:calendar-data>{escape(self.resources[href].decode())}</C:calendar-data>") for href in hrefs)
        )

    def _propfind(self, request: Received) -> Reply:
        calendar = ("/cal/work/", f"{_CALENDAR}<displayname>Work</displayname><sync-token>{self.token}</sync-token>")
        if request.path == "/":
            return multistatus(("/", f"<C:calendar-home-set><href>{self.home}</href></C:calendar-home-set>"))
        if request.path == "/cal/":
            return multistatus(("/cal/", "<resourcetype><collection/></resourcetype>"), calendar)
        if request.path == "/cal/work/":
            members = ((href, '<getetag>"1"</getetag>') for href in self.resources)
            return multistatus(calendar, *(members if request.headers["depth"] == "1" else ()))
        return Reply(404)


def reports(name: str) -> Callable[[Received], bool]:
    return lambda request: f"{name} ".encode() in request.body


def fault(when: Callable[[Received], bool], reply: Reply) -> Callable[[Received], Reply | None]:
    return lambda request: reply if when(request) else None


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with recording_server() as recorder:
        yield ScriptedServer(recorder, {"/cal/work/a.ics": lunch()})


@pytest.fixture
def source(api: Client, alice: User, server: ScriptedServer) -> dict[str, Any]:
    """Read once, with one meeting."""
    known_person(alice, "Ada", email="ada@example.org")
    made = make_source(api, server.url, kind="caldav", username="u", password="p")
    assert read(made).state == "ok"
    server.asked()
    return made


def titles(api: Client) -> list[str]:
    return sorted(row["title"] for row in proposals(api))


@pytest.mark.django_db
def test_an_unchanged_calendar_costs_its_discovery_and_one_report(
    server: ScriptedServer, source: dict[str, Any]
) -> None:
    assert read(source).state == "ok"
    assert server.asked() == ["propfind", "propfind", "sync-collection"]


@pytest.mark.django_db
def test_an_expired_token_reads_the_calendar_whole(api: Client, server: ScriptedServer, source: dict[str, Any]) -> None:
    refusal = Reply(403, {"Content-Type": "application/xml"}, b'<error xmlns="DAV:"><valid-sync-token/></error>')
    server.faults.append(fault(reports("sync-collection"), refusal))
    server.resources["/cal/work/b.ics"] = lunch("b", 5)
    server.token = "t2"
    assert read(source).state == "ok"
    assert titles(api) == ["a", "b"]


@pytest.mark.django_db
def test_a_cut_report_is_followed_to_its_end(api: Client, server: ScriptedServer, source: dict[str, Any]) -> None:
    cut = "<response><href>/cal/work/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>"
    pages = {b">t1<": multistatus(extra=cut, token="t2"), b">t2<": multistatus(("/cal/work/b.ics", ""), token="t3")}

    def page(request: Received) -> Reply | None:
        found = (reply for key, reply in pages.items() if key in request.body)
        return next(found, None) if b"sync-collection" in request.body else None

    server.faults.append(page)
    server.resources["/cal/work/b.ics"] = lunch("b", 5)
    row = read(source)
    assert (row.state, row.validators) == ("ok", {"/cal/work/": "sync:t3"})
    assert server.asked() == ["propfind", "propfind", "sync-collection", "sync-collection", "calendar-query"]
    assert titles(api) == ["a", "b"]


@pytest.mark.django_db
def test_a_token_that_stays_the_same_hides_no_change(
    api: Client, server: ScriptedServer, source: dict[str, Any]
) -> None:
    server.faults.append(fault(reports("sync-collection"), multistatus(("/cal/work/b.ics", ""), token="t1")))
    server.resources["/cal/work/b.ics"] = lunch("b", 5)
    read(source)
    assert titles(api) == ["a", "b"]


@pytest.mark.django_db
@pytest.mark.parametrize("status", [405, 415, 501])
def test_a_server_without_queries_is_listed(
    api: Client, server: ScriptedServer, source: dict[str, Any], status: int
) -> None:
    server.faults += [fault(reports("sync-collection"), Reply(status)), fault(reports("calendar-query"), Reply(status))]
    server.resources["/cal/work/b.ics"] = lunch("b", 5)
    server.token = "t2"
    assert read(source).state == "ok"
    assert "calendar-multiget" in server.asked()
    assert titles(api) == ["a", "b"]


@pytest.mark.django_db
def test_resources_without_their_text_are_fetched(api: Client, server: ScriptedServer, source: dict[str, Any]) -> None:
    listed = multistatus(*((f"/cal/work/{name}.ics", '<getetag>"1"</getetag>') for name in "ab"))
    server.faults += [fault(reports("calendar-query"), listed), fault(reports("calendar-multiget"), Reply(404))]
    server.resources["/cal/work/b.ics"] = lunch("b", 5)
    server.token = "t2"
    assert read(source).state == "ok"
    assert titles(api) == ["a", "b"]
    server.faults.append(fault(lambda request: request.path == "/cal/work/b.ics", Reply(500)))
    server.faults.reverse()
    server.token = "t3"
    row = read(source)
    assert (row.last_error_code, titles(api)) == ("http_5xx", ["a", "b"])


@pytest.mark.django_db
@pytest.mark.parametrize("broken", [b"nonsense", b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:b\r\n"])
def test_one_broken_resource_is_left_out_and_counted(
    api: Client, server: ScriptedServer, source: dict[str, Any], broken: bytes
) -> None:
    server.resources["/cal/work/b.ics"] = broken
    server.token = "t2"
    row = read(source)
    assert (row.state, row.broken, titles(api)) == ("ok", 1, ["a"])


@pytest.mark.django_db
def test_more_than_ten_mebibytes_of_resources(api: Client, server: ScriptedServer, source: dict[str, Any]) -> None:
    big = ics(event("big", "20200101", "DESCRIPTION:" + "x" * 4_000_000))
    server.resources |= {f"/cal/work/{number}.ics": big for number in range(3)}
    server.token = "t2"
    assert read(source).last_error_code == "too_large"
    assert titles(api) == ["a"]


@pytest.mark.django_db
def test_calendars_of_tasks_are_none(api: Client, server: ScriptedServer, source: dict[str, Any]) -> None:
    tasks = '<C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set>'
    server.faults.append(
        fault(lambda request: request.path == "/cal/", multistatus(("/cal/tasks/", f"{_CALENDAR}{tasks}")))
    )
    assert read(source).last_error_code == "not_calendar"


@pytest.mark.django_db
def test_redirects_in_circles(server: ScriptedServer, source: dict[str, Any]) -> None:
    server.faults.append(lambda request: Reply(302, {"Location": f"/{len(request.path)}"}))
    assert read(source).last_error_code == "redirect"


@dataclass
class Hosts:
    """The server whose address the user has entered, and another one, both over https."""

    first: ScriptedServer
    other: ScriptedServer

    @property
    def other_url(self) -> str:
        return f"https://localhost:{self.other.recorder.port}"

    def logins_at_other(self) -> int:
        return sum("authorization" in request.headers for request in self.other.recorder.received)


@pytest.fixture
def hosts(tmp_path: Path, settings: Any) -> Iterator[Hosts]:
    authority = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = authority.file
    with (
        recording_server(authority.server_context("127.0.0.1")) as first,
        recording_server(authority.server_context("localhost")) as other,
    ):
        yield Hosts(ScriptedServer(first), ScriptedServer(other, {"/cal/work/a.ics": lunch()}))


@pytest.mark.django_db
def test_a_redirect_takes_the_login_to_no_other_origin(api: Client, alice: User, hosts: Hosts) -> None:
    """Neither does what the other origin names: it may be anybody's."""
    known_person(alice, "Ada", email="ada@example.org")
    hosts.first.faults.append(lambda request: Reply(301, {"Location": f"{hosts.other_url}{request.path}"}))
    hosts.other.home = f"{hosts.other_url}/cal/"
    made = make_source(api, hosts.first.url, kind="caldav", username="u", password="p")
    assert read(made).state == "ok"  # it asks for no login
    assert titles(api) == ["a"]
    assert hosts.other.recorder.received
    assert hosts.logins_at_other() == 0
    hosts.other.faults.append(lambda request: Reply(401, {"WWW-Authenticate": 'Basic realm="x"'}))
    assert read(made).last_error_code == "redirect"
    assert hosts.logins_at_other() == 0


@pytest.mark.django_db
def test_nobody_whom_a_redirect_leads_to_leads_on_to_the_login(api: Client, hosts: Hosts) -> None:
    hosts.first.faults.append(lambda request: Reply(301, {"Location": f"{hosts.other_url}/moved"}))
    hosts.other.faults.append(fault(lambda request: request.path == "/moved", Reply(301, {"Location": "/"})))
    made = make_source(api, hosts.first.url, kind="caldav", username="u", password="p")
    assert read(made).state == "ok"
    assert "/" in {request.path for request in hosts.other.recorder.received}
    assert hosts.logins_at_other() == 0


@pytest.mark.django_db
def test_a_login_stays_with_its_origin_whatever_the_server_names(api: Client, alice: User, hosts: Hosts) -> None:
    """iCloud names another host for its calendars, and has them at the one that was entered, too."""
    known_person(alice, "Ada", email="ada@example.org")
    hosts.first.home = f"{hosts.other_url}/cal/"
    hosts.first.resources["/cal/work/a.ics"] = lunch()
    made = make_source(api, hosts.first.url, kind="caldav", username="u", password="p")
    row = read(made)
    assert (row.state, [entry["href"] for entry in row.calendars]) == ("ok", ["/cal/work/"])
    assert not hosts.other.recorder.received
    assert titles(api) == ["a"]
