"""Queries, parts and versions of cards, principals' reports, and PROPPATCH."""

import pytest

from accounts.models import User
from tests.client import client_of
from tests.dav.devices import DECLARED, Device, read_multistatus
from tests.dav.test_reading import make_card

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]
IN_OTHER_SPELLINGS = ("01 234567", "0033 (0)1 234567", "+331234567", "01/23-45-67", "4567", "٠١ ٢٣٤٥٦٧")
WORK_NUMBER = {"type": "work", "number": "+33 1 99"}


@pytest.fixture
def device(alice: User) -> Device:
    for fields in (
        {"name": "Ada", "surname": "Lovelace", "emails": [{"type": "work", "email": "ada@example.org"}]},
        {
            "name": "Émile",
            "surname": "Borel",
            "phoneNumbers": [{"type": "home", "number": "+33 1 234567"}, WORK_NUMBER],
        },
        {"name": "Grace", "surname": "Hopper", "emails": [{"type": "home", "email": "GRACE@example.com"}]},
    ):
        make_card(alice, **fields)
    return Device(alice)


def query(device: Device, filters: str, test: str = "anyof", limit: str = "") -> list[str]:
    """The given names of the cards that match, in their order, and "507" where the answer was cut."""
    body = (
        f"<card:addressbook-query {DECLARED}><d:prop><d:getetag/><card:address-data/></d:prop>"
        f'<card:filter test="{test}">{filters}</card:filter>{limit}</card:addressbook-query>'
    )
    entries = device.ask("REPORT", device.book, body, HTTP_DEPTH="1").entries
    names = []
    for entry in entries.values():
        text = "" if entry.status != 200 else entry.text("card:address-data")
        line = next((line for line in text.splitlines() if line.startswith("N:")), ";")
        names.append(line.split(";")[1] if entry.status == 200 else str(entry.status))
    return sorted(names)


def prop(name: str, inner: str = "", test: str = "anyof") -> str:
    return f'<card:prop-filter name="{name}" test="{test}">{inner}</card:prop-filter>'


def match(text: str, kind: str = "contains", collation: str = "i;unicode-casemap", negate: str = "no") -> str:
    return (
        f'<card:text-match collation="{collation}" match-type="{kind}" negate-condition="{negate}">{text}'
        "</card:text-match>"
    )


def of_type(value: str) -> str:
    return f'<card:param-filter name="TYPE">{match(value)}</card:param-filter>'


@pytest.mark.parametrize(
    ("filters", "test", "names"),
    [
        ("", "anyof", ["Ada", "Grace", "Émile"]),
        (prop("EMAIL"), "anyof", ["Ada", "Grace"]),
        (prop("EMAIL", "<card:is-not-defined/>"), "anyof", ["Émile"]),
        (prop("FN", match("lovelace")), "anyof", ["Ada"]),
        (prop("FN", match("ada lovelace", "equals")), "anyof", ["Ada"]),
        (prop("FN", match("gra", "starts-with")), "anyof", ["Grace"]),
        (prop("FN", match("OREL", "ends-with")), "anyof", ["Émile"]),
        (prop("FN", match("ÉMILE")), "anyof", ["Émile"]),
        (prop("FN", match("ÉMILE", collation="i;ascii-casemap")), "anyof", ["Émile"]),
        (prop("FN", match("émile", collation="i;ascii-casemap")), "anyof", []),
        (prop("FN", match("a", negate="yes")), "anyof", ["Émile"]),
        (prop("EMAIL", match("example")) + prop("FN", match("ada")), "allof", ["Ada"]),
        (prop("EMAIL", match("example")) + prop("TEL"), "anyof", ["Ada", "Grace", "Émile"]),
        (prop("EMAIL", match("grace") + match(".org"), "allof"), "anyof", []),
        (prop("EMAIL", match("grace") + match(".org"), "anyof"), "anyof", ["Ada", "Grace"]),
        (prop("EMAIL", of_type("home")), "anyof", ["Grace"]),
        (prop("TEL", of_type("home") + match("234567"), "allof"), "anyof", ["Émile"]),
        (prop("TEL", of_type("home") + match("99"), "allof"), "anyof", []),  # that of work
        *((prop("TEL", match(number)), "anyof", ["Émile"]) for number in IN_OTHER_SPELLINGS),
        *((prop("TEL", match(number, negate="yes")), "anyof", ["Émile"]) for number in IN_OTHER_SPELLINGS),  # 99
        *((prop("TEL", match(number)), "anyof", []) for number in ("02 234567", "0033 1 234568", "+1 234567 8")),
        (prop("TEL", match("01 234567", "equals")), "anyof", []),
        (prop("TEL", of_type("home") + match("99"), "anyof"), "anyof", ["Émile"]),
        (prop("TEL", '<card:param-filter name="X-A"><card:is-not-defined/></card:param-filter>'), "anyof", ["Émile"]),
    ],
)
def test_queries_find_what_matches(device: Device, filters: str, test: str, names: list[str]) -> None:
    assert query(device, filters, test) == names


def test_a_query_is_cut_at_its_limit_with_507(device: Device) -> None:
    limit = "<card:limit><card:nresults>2</card:nresults></card:limit>"
    assert query(device, "", limit=limit)[0] == "507"
    assert len(query(device, "", limit=limit)) == 3
    assert "507" not in query(device, "", limit=limit.replace("2", "3"))


@pytest.mark.parametrize(
    ("filters", "element"),
    [
        (prop("FN", match("a", collation="i;klingon")), b"supported-collation"),
        (prop("FN", match("a", "sounds-like")), b"supported-filter"),
        (prop("FN", match("a", negate="maybe")), b"supported-filter"),
        (prop("FN", match("a"), "xor"), b"supported-filter"),
        (prop("FN", match("a"), "ALLOF"), b"supported-filter"),
        (prop(""), b"supported-filter"),
    ],
)
def test_filters_that_are_not_known_are_refused(device: Device, filters: str, element: bytes) -> None:
    body = f"<card:addressbook-query {DECLARED}><card:filter>{filters}</card:filter></card:addressbook-query>"
    refused = device.call("REPORT", device.book, body)
    assert refused.status_code == 403
    assert element in refused.content


def test_a_filter_is_all_or_any_of_its_tests_and_nothing_else(device: Device) -> None:
    body = f'<card:addressbook-query {DECLARED}><card:filter test="xor"/></card:addressbook-query>'
    refused = device.call("REPORT", device.book, body)
    assert (refused.status_code, b"supported-filter" in refused.content) == (403, True)
    search = f'<d:principal-property-search {DECLARED} test="xor"/>'
    assert device.call("REPORT", "/dav/principals/", search).status_code == 403


def test_cards_come_in_parts_and_in_version_4(device: Device) -> None:
    parts = '<card:address-data><card:prop name="FN"/><card:prop name="UID" novalue="yes"/></card:address-data>'
    body = f"<d:sync-collection {DECLARED}><d:sync-token/><d:sync-level>1</d:sync-level><d:prop>{{}}</d:prop>"
    body += "</d:sync-collection>"
    texts = [
        entry.text("card:address-data")
        for entry in device.ask("REPORT", device.book, body.format(parts), HTTP_DEPTH="1").entries.values()
    ]
    assert "BEGIN:VCARD VERSION:3.0 UID: FN:Ada Lovelace END:VCARD" in {" ".join(text.splitlines()) for text in texts}
    fourth = '<card:address-data content-type="text/vcard" version="4.0"/>'
    answer = device.ask("REPORT", device.book, body.format(fourth), HTTP_DEPTH="1")
    assert all("VERSION:4.0" in entry.text("card:address-data") for entry in answer.entries.values())
    unknown = fourth.replace("4.0", "2.1")
    for report in (body, body.replace("d:sync-collection", "card:addressbook-multiget")):
        refused = device.call("REPORT", device.book, report.format(unknown))
        assert (refused.status_code, b"supported-address-data" in refused.getvalue()) == (403, True)


def test_an_account_finds_itself_alone(device: Device, mallory: User) -> None:
    me = f"/dav/principals/{device.user.pk}/"
    body = (
        f"<d:principal-property-search {DECLARED}><d:property-search><d:prop><d:displayname/></d:prop>"
        "<d:match>{}</d:match></d:property-search><d:prop><d:displayname/></d:prop></d:principal-property-search>"
    )
    assert set(device.ask("REPORT", "/dav/principals/", body.format(device.user.name)).entries) == {me}
    assert not device.ask("REPORT", "/dav/principals/", body.format("mallo")).entries
    named = device.call("REPORT", "/dav/principals/", f"<d:principal-search-property-set {DECLARED}/>")
    assert (named.status_code, b"displayname" in named.content) == (200, True)


def test_expand_property_gives_what_hrefs_name(device: Device) -> None:
    body = (
        f'<d:expand-property {DECLARED}><d:property name="current-user-principal"><d:property name="displayname"/>'
        '</d:property><d:property name="calendar-proxy-read-for" namespace="http://calendarserver.org/ns/"/>'
        "</d:expand-property>"
    )
    answer = device.ask("REPORT", "/dav/", body)
    entry = answer.entries["/dav/"]
    inner = entry.found["d:current-user-principal"]
    assert inner.findtext(".//{DAV:}displayname") == device.user.name
    assert entry.missing == ["cs:calendar-proxy-read-for"]


def test_proppatch_keeps_names_and_refuses_the_rest_inside_of_207(device: Device, mallory: User) -> None:
    body = f"<d:propertyupdate {DECLARED}><d:set><d:prop>{{}}</d:prop></d:set></d:propertyupdate>"
    named = device.ask("PROPPATCH", device.book, body.format("<d:displayname>My people</d:displayname>"))
    assert list(named.entries[device.book].found) == ["d:displayname"]
    assert device.propfind(device.book, "d:displayname").entries[device.book].text("d:displayname") == "My people"
    other = Device(mallory)
    assert other.propfind(other.book, "d:displayname").entries[other.book].text("d:displayname") == "Contacts"
    both = body.format("<d:displayname>Other</d:displayname><cs:me-card>x</cs:me-card>")
    refused = device.ask("PROPPATCH", device.book, both)
    assert sorted(refused.entries[device.book].missing) == ["cs:me-card", "d:displayname"]
    assert device.propfind(device.book, "d:displayname").entries[device.book].text("d:displayname") == "My people"


def test_proppatch_of_a_reader_changes_nothing_and_is_refused_inside_of_207(alice: User) -> None:
    device, reader = Device(alice), Device(alice, "READ")
    named = f"<d:propertyupdate {DECLARED}><d:set><d:prop><d:displayname>Mine</d:displayname></d:prop></d:set>"
    for path in (reader.book, f"/dav/calendars/{alice.pk}/dates/", f"/dav/calendars/{alice.pk}/keep-in-touch/"):
        before = device.propfind(path, "d:displayname").entries[path].text("d:displayname")
        response = reader.call("PROPPATCH", path, f"{named}</d:propertyupdate>")
        body = b"".join(response)
        assert (response.status_code, b"403 Forbidden" in body, b"need-privileges" in body) == (207, True, True)
        assert read_multistatus(body).entries[path].missing == ["d:displayname"]
        assert device.propfind(path, "d:displayname").entries[path].text("d:displayname") == before


def test_an_unknown_report_is_refused(device: Device) -> None:
    refused = device.call("REPORT", device.book, f"<cal:free-busy-query {DECLARED}/>")
    assert (refused.status_code, b"supported-report" in refused.content) == (403, True)
    assert client_of(device.user).ok("GET", "/api/people")["pagination"]["total"] == 3
