"""What devices may ask and store is bounded, and what is refused is refused with its element."""

from typing import Any

import pytest
from PIL import Image

from accounts.models import ApiToken, User
from accounts.models.tokens import TOKEN_HASH
from dav.models import CollectionProperty, GivenCard, ReplacedValue
from dav.resources.own_calendars import MAX_TASK_BYTES
from dav.services import history
from dav.xml import MAX_XML_BYTES
from people.photos.files import read_photo
from tests.client import client_of
from tests.dav.devices import DECLARED, Device, card
from tests.dav.test_calendars import make_friend, path, query
from tests.dav.test_photos import encoded, photo_line
from tests.dav.test_reading import make_card

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def token_of(device: Device) -> ApiToken:
    return ApiToken.objects.owned_by(device.user).get(digest=TOKEN_HASH(device.token.encode()).hexdigest())


def photo(*color: int) -> list[str]:
    return [photo_line(encoded(Image.new("RGB", (60, 40), color))).removesuffix("\r\n")]


def addressbook_query(limit: str) -> str:
    return (
        f"<card:addressbook-query {DECLARED}><d:prop><d:getetag/></d:prop><card:filter/>"
        f"<card:limit><card:nresults>{limit}</card:nresults></card:limit></card:addressbook-query>"
    )


@pytest.mark.parametrize("limit", ["9" * 30, "9" * 5000])
def test_a_limit_of_any_length_is_a_number(alice: User, limit: str) -> None:
    make_card(alice, name="Ada")
    device = Device(alice)
    assert len(device.sync("", limit=limit).entries) == 1  # type: ignore[arg-type]
    assert len(device.ask("REPORT", device.book, addressbook_query(limit)).entries) == 1
    device.book = path(device, "keep-in-touch")
    assert device.sync("", limit=limit).entries == {}  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", ["0", "-1", "x", "²"])
def test_a_limit_that_is_none_is_refused_in_every_report(alice: User, limit: str) -> None:
    device = Device(alice)
    bodies = {
        device.book: addressbook_query(limit),
        path(device, "dates"): (
            f"<cal:calendar-query {DECLARED}><d:prop><d:getetag/></d:prop>"
            f"<d:limit><d:nresults>{limit}</d:nresults></d:limit></cal:calendar-query>"
        ),
    }
    for where, body in bodies.items():
        assert device.call("REPORT", where, body).status_code == 400


def test_a_calendar_query_is_cut_at_its_limit_with_507(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    for name in ("Ann", "Bob", "Cleo"):
        make_friend(api, name)
    where = path(device, "keep-in-touch")
    for limit, shown in ((2, 2), (3, 3), (5, 3)):
        body = (
            f"<cal:calendar-query {DECLARED}><d:prop><d:getetag/></d:prop>"
            f"<d:limit><d:nresults>{limit}</d:nresults></d:limit></cal:calendar-query>"
        )
        entries = device.ask("REPORT", where, body).entries
        assert (entries.pop(where).status if limit == 2 else 507) == 507
        assert len(entries) == shown


@pytest.mark.parametrize(("tests", "status"), [(50, 207), (51, 403), (20_000, 403)])
def test_a_filter_has_fifty_tests_at_most(alice: User, tests: int, status: int) -> None:
    """Each is made for each line of each card, or for each event."""
    make_card(alice, name="Ada")
    device = Device(alice)
    prop_filter = '<card:prop-filter name="FN"/>'
    # A prop-filter with its tests inside counts as all of them.
    inner = "<card:text-match>a</card:text-match>" * (tests - 1)
    for inside in (prop_filter * tests, f'<card:prop-filter name="FN">{inner}</card:prop-filter>'):
        body = (
            f"<card:addressbook-query {DECLARED}><d:prop><d:getetag/></d:prop>"
            f"<card:filter>{inside}</card:filter></card:addressbook-query>"
        )
        answer = device.call("REPORT", device.book, body)
        assert answer.status_code == status
        assert status == 207 or b"<card:supported-filter/>" in answer.content
    inner = '<cal:prop-filter name="SUMMARY"/>' * (tests - 2)
    body = (
        f"<cal:calendar-query {DECLARED}><d:prop><d:getetag/></d:prop><cal:filter><cal:comp-filter "
        f'name="VCALENDAR"><cal:comp-filter name="VEVENT">{inner}</cal:comp-filter></cal:comp-filter></cal:filter>'
        "</cal:calendar-query>"
    )
    assert device.call("REPORT", path(device, "dates"), body).status_code == status


@pytest.mark.parametrize(("names", "status"), [(100, 207), (101, 400), (50_000, 400)])
def test_a_request_names_a_hundred_properties_at_most(alice: User, names: int, status: int) -> None:
    """Each is answered for each member."""
    device = Device(alice)
    asked = "<d:prop>" + "".join(f'<x{number} xmlns="urn:x"/>' for number in range(names)) + "</d:prop>"
    for method, where, body in (
        ("PROPFIND", device.book, f"<d:propfind {DECLARED}>{asked}</d:propfind>"),
        ("REPORT", device.book, f"<card:addressbook-query {DECLARED}>{asked}<card:filter/></card:addressbook-query>"),
        ("REPORT", path(device, "dates"), f"<cal:calendar-multiget {DECLARED}>{asked}</cal:calendar-multiget>"),
        ("REPORT", device.book, f"<d:sync-collection {DECLARED}><d:sync-token/>{asked}</d:sync-collection>"),
    ):
        assert device.call(method, where, body, HTTP_DEPTH="1").status_code == status, body[:30]


def test_the_names_of_properties_have_a_length_together(alice: User) -> None:
    """Those that are unknown are in the answer of each member."""
    device = Device(alice)
    for length, status in ((8_000, 207), (9_000, 400)):
        asked = f'<d:prop><{"x" * length} xmlns="urn:x"/></d:prop>'
        body = f"<d:propfind {DECLARED}>{asked}</d:propfind>"
        assert device.call("PROPFIND", device.book, body, HTTP_DEPTH="1").status_code == status
        named = f'<d:property name="{"x" * length}" namespace="urn:x"/>'
        body = f"<d:expand-property {DECLARED}>{named}</d:expand-property>"
        assert device.call("REPORT", device.book, body).status_code == status


def test_a_property_is_expanded_once_however_often_it_is_named(alice: User) -> None:
    device = Device(alice)
    inner = '<d:property name="supported-report-set"/>' * 20
    for times, status in ((4, 207), (5, 400)):
        named = f'<d:property name="owner">{inner}</d:property>' * times
        response = device.call("REPORT", device.book, f"<d:expand-property {DECLARED}>{named}</d:expand-property>")
        assert response.status_code == status
        assert status == 400 or b"".join(response).count(b"<d:supported-report-set>") == 1


def spellings(href: str, number: int) -> list[str]:
    """So many spellings of one href: each letter of its end is written as it is or percent-encoded."""
    start, end = href[:-12], href[-12:]
    return [
        start + "".join(f"%{ord(letter):02X}" if variant >> place & 1 else letter for place, letter in enumerate(end))
        for variant in range(number)
    ]


@pytest.mark.parametrize("report", ["addressbook", "calendar"])
def test_what_a_multiget_names_by_many_spellings_is_answered_once(alice: User, report: str) -> None:
    device = Device(alice)
    if report == "addressbook":
        where, data = device.book, "card:address-data"
        device.put("ada-lovelace.vcf", card("ada", "N:Lovelace;Ada;;;", "FN:Ada Lovelace", f"NOTE:{'n' * 50_000}"))
        hrefs = [f"{where}ada-lovelace.vcf"]
    else:
        where, data = path(device, "keep-in-touch"), "cal:calendar-data"
        make_friend(client_of(alice), "Ada")
        hrefs = [href for href in device.propfind(where, "d:getetag", depth="1").entries if href != where]
    once, many = ask_multiget(device, where, report, data, hrefs), spellings(hrefs[0], 717)
    assert len(set(many)) == 717
    assert ask_multiget(device, where, report, data, many) == once
    # With others between them, the order of the first ones stays.
    mixed = ask_multiget(device, where, report, data, [f"{where}gone", many[1], f"{where}gone", many[2]])
    assert mixed.count(b"<d:response>") == 2
    assert mixed.index(b"gone<") < mixed.index(hrefs[0].encode())
    # Two thousand elements that choose parts of the text are one, too.
    prefix = data.partition(":")[0]
    part = f"<{data}><{prefix}:prop name='FN'/><{prefix}:prop name='fn'/></{data}>"
    asked = ask_multiget(device, where, report, f"{data}/>{part * 2000}<{data}", hrefs)
    assert asked.count(f"<{data}>".encode()) == 1
    assert len(asked) <= len(once)


def ask_multiget(device: Device, where: str, report: str, data: str, hrefs: list[str], **headers: str) -> bytes:
    prefix = "card" if report == "addressbook" else "cal"
    listed = "".join(f"<d:href>{href}</d:href>" for href in hrefs)
    name = f"{prefix}:{report}-multiget"
    body = f"<{name} {DECLARED}><d:prop><{data}/></d:prop>{listed}</{name}>"
    response = device.call("REPORT", where, body, **headers)
    assert response.status_code == 207
    return b"".join(response)


def test_an_href_of_another_host_names_nothing_here(alice: User, settings: Any) -> None:
    """Behind a proxy with TLS, scheme and port are not those of the request; so they are not compared."""
    settings.BASE_URL, settings.ALLOWED_HOSTS = "https://contacts.example.org", ["lan.example"]
    device = Device(alice)
    device.put("ada.vcf", card("ada", "N:Lovelace;Ada;;;", "FN:Ada Lovelace"), HTTP_HOST="lan.example:8000")
    ada = f"{device.book}ada.vcf"
    for start, is_here in (
        ("", True),
        ("http://lan.example:8000", True),
        ("https://LAN.example", True),
        ("https://contacts.example.org:8443", True),
        ("//contacts.example.org", True),
        ("http://1", False),
        ("http://lan.example.evil.example", False),
        ("http://lan.example@evil.example", False),
        ("http://:80", False),
        ("http://[", False),
    ):
        answer = ask_multiget(
            device, device.book, "addressbook", "d:getetag", [f"{start}{ada}"], HTTP_HOST="lan.example:8000"
        )
        assert (b"<d:getetag>" in answer, b"404" in answer) == (is_here, not is_here), start
    strangers = [f"http://{number}{ada}" for number in range(717)]
    answer = ask_multiget(
        device, device.book, "addressbook", "card:address-data", strangers, HTTP_HOST="lan.example:8000"
    )
    assert answer.count(b"404 Not Found") == 717
    assert b"Lovelace" not in answer


def test_a_body_of_xml_has_four_mebibytes_at_most(alice: User) -> None:
    device = Device(alice)
    body = f"<d:propfind {DECLARED}><d:prop><d:getetag/></d:prop></d:propfind>"
    for size, status in ((MAX_XML_BYTES, 207), (MAX_XML_BYTES + 1, 413)):
        assert device.call("PROPFIND", device.book, body.ljust(size), HTTP_DEPTH="0").status_code == status


@pytest.mark.parametrize("levels", [200, 50_000])
def test_nested_elements_are_no_500(alice: User, levels: int) -> None:
    device = Device(alice)
    comp, test = '<cal:comp name="VEVENT">', '<cal:comp-filter name="VCALENDAR">'
    nested = f"<cal:calendar-data>{comp * levels}{'</cal:comp>' * levels}</cal:calendar-data>"
    filters = f"{test * levels}{'</cal:comp-filter>' * levels}"
    for data, chosen in ((nested, ""), ("<d:getetag/>", f"<cal:filter>{filters}</cal:filter>")):
        body = f"<cal:calendar-query {DECLARED}><d:prop>{data}</d:prop>{chosen}</cal:calendar-query>"
        assert device.call("REPORT", path(device, "dates"), body).status_code in {207, 400, 403}


def test_ascii_casemap_folds_ascii_alone_in_both_queries(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    task = make_friend(api, "Émile")

    def by_summary(text: str, collation: str) -> bool:
        match = f'<cal:text-match collation="{collation}">{text}</cal:text-match>'
        answer = query(device, "keep-in-touch", f'<cal:prop-filter name="SUMMARY">{match}</cal:prop-filter>')
        return any(task in href for href in answer.entries)

    def by_name(text: str, collation: str) -> bool:
        body = (
            f"<card:addressbook-query {DECLARED}><d:prop><d:getetag/></d:prop><card:filter>"
            f'<card:prop-filter name="FN"><card:text-match collation="{collation}">{text}</card:text-match>'
            "</card:prop-filter></card:filter></card:addressbook-query>"
        )
        return bool(device.ask("REPORT", device.book, body).entries)

    for found in (by_summary, by_name):
        assert found("ÉMIL", "i;ascii-casemap")
        assert not found("émil", "i;ascii-casemap")
        assert found("émil", "i;unicode-casemap")
        assert not found("ÉMIL", "i;octet")
        assert found("Émil", "i;octet")


@pytest.mark.both_databases
def test_a_head_gives_the_device_nothing(alice: User) -> None:
    person = make_card(alice, name="Ada")
    device = Device(alice)
    href = f"{device.book}{person}.vcf"
    head, got = device.call("HEAD", href), device.call("GET", href)
    assert (head.status_code, head["ETag"], head.content) == (200, got["ETag"], b"")
    GivenCard.objects.owned_by(alice).delete()
    device.call("HEAD", href)
    assert not GivenCard.objects.owned_by(alice).exists()
    assert device.put(f"{person}.vcf", card()).status_code == 412


def test_an_unknown_method_is_405_with_allow(alice: User) -> None:
    device = Device(alice)
    for where in (device.book, "/dav/", f"{device.book}a.vcf"):
        refused = device.call("BIND", where)
        assert refused.status_code == 405
        assert refused["Allow"] == device.call("OPTIONS", where)["Allow"]


def expand(levels: int) -> str:
    inner = '<d:property name="displayname"/>'
    for _ in range(levels - 1):
        inner = f'<d:property name="current-user-principal">{inner}</d:property>'
    return f"<d:expand-property {DECLARED}>{inner}</d:expand-property>"


def test_properties_are_expanded_five_levels_deep_at_most(alice: User) -> None:
    device = Device(alice)
    where = f"/dav/principals/{alice.pk}/"
    for levels in (1, 5):
        answer = b"".join(device.call("REPORT", where, expand(levels)))
        assert answer.count(b"<d:displayname>") == 1
    for levels in (6, 3000):
        assert device.call("REPORT", where, expand(levels)).status_code == 400


def test_a_task_is_bounded_and_names_the_precondition(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    task = make_friend(api, "Ann")
    where = path(device, "keep-in-touch")
    body = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:x\r\nDESCRIPTION:%s\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
    size = MAX_TASK_BYTES - len(body % "")
    put = {"content_type": "text/calendar; charset=utf-8"}
    assert device.call("PUT", f"{where}{task}.ics", body % ("x" * size), **put).status_code == 204
    refused = device.call("PUT", f"{where}{task}.ics", body % ("x" * (size + 1)), **put)
    assert refused.status_code == 403
    assert b"<cal:max-resource-size/>" in refused.content
    shown = device.propfind(where, "cal:max-resource-size").entries[where]
    assert shown.text("cal:max-resource-size") == str(MAX_TASK_BYTES)


@pytest.mark.both_databases
def test_programs_store_only_the_properties_that_are_known(alice: User) -> None:
    device = Device(alice)
    for where in (device.book, path(device, "dates"), path(device, "keep-in-touch")):
        others = "".join(f"<x{n} xmlns='urn:x'>value</x{n}>" for n in range(600))
        body = f"<d:propertyupdate {DECLARED}><d:set><d:prop>%s</d:prop></d:set></d:propertyupdate>"
        assert device.call("PROPPATCH", where, body % others).status_code == 207
        long = f"<d:displayname>{'x' * 201}</d:displayname>"
        assert b"403 Forbidden" in b"".join(device.call("PROPPATCH", where, body % long))
        device.call("PROPPATCH", where, body % "<d:displayname>Mine</d:displayname>")
    assert CollectionProperty.objects.owned_by(alice).count() == 3


@pytest.mark.both_databases
def test_the_oldest_replaced_values_give_way(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_VALUES", 3)
    device, other = Device(alice), Device(alice)
    device.put("a.vcf", card("NICKNAME:n0"))
    other.put("b.vcf", card("NICKNAME:m0").replace("u-1", "u-2").replace("Ada", "Bob"))
    other.put("b.vcf", card("NICKNAME:m1").replace("u-1", "u-2").replace("Ada", "Bob"))
    for number in range(1, 6):
        assert device.put("a.vcf", card(f"NICKNAME:n{number}")).status_code == 204

    def values(of: Device) -> list[Any]:
        rows = ReplacedValue.objects.owned_by(alice).filter(token=token_of(of)).order_by("created_at", "id")
        return list(rows.values_list("value", flat=True))

    assert values(device) == ["n2", "n3", "n4"]
    assert values(other) == ["m0"]


@pytest.mark.django_db(transaction=True)
def test_photos_of_replaced_values_that_give_way_are_deleted(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_VALUES", 1)
    device = Device(alice)
    device.put("a.vcf", card(*photo(200, 10, 10)))
    device.put("a.vcf", card(*photo(10, 200, 10)))
    (value,) = ReplacedValue.objects.owned_by(alice)
    assert read_photo(value.value)
    device.put("a.vcf", card(*photo(10, 10, 200), "NICKNAME:x"))
    device.put("a.vcf", card(*photo(10, 10, 200), "NICKNAME:y"))
    assert [row.property for row in ReplacedValue.objects.owned_by(alice)] == ["nickname"]
    assert read_photo(value.value) is None
