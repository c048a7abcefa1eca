"""Conditions, names, methods and bodies as programs and proxies spell them."""

from typing import Any
from urllib.parse import quote, unquote

import pytest

from accounts.models import User
from people.models import Person
from tests.client import Client
from tests.dav.devices import DECLARED, Device, card, person_of

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


@pytest.mark.parametrize(
    "spelling", ['"{}"', "{}", 'W/"{}"', '\\"{}\\"', '"{}-gzip"', 'W/"{}-gzip"', '"other", "{}"', "*", ' "{}" ']
)
def test_if_match_is_read_as_it_is_respelled(alice: User, spelling: str) -> None:
    device = Device(alice)
    etag = device.put("a.vcf", card())["ETag"].strip('"')
    assert device.put("a.vcf", card("NOTE:1"), HTTP_IF_MATCH='"other"').status_code == 412
    assert device.put("a.vcf", card("NOTE:1"), HTTP_IF_MATCH=spelling.format(etag)).status_code == 204
    assert person_of(alice)["notes"] == "1"
    etag = device.get("a.vcf")["ETag"].strip('"')
    assert device.call("DELETE", f"{device.book}a.vcf", HTTP_IF_MATCH='"other"').status_code == 412
    assert device.call("DELETE", f"{device.book}a.vcf", HTTP_IF_MATCH=spelling.format(etag)).status_code == 204


def test_conditions_on_names_that_are_free(alice: User) -> None:
    device = Device(alice)
    for condition in ("*", '"x"'):
        assert device.put("a.vcf", card(), HTTP_IF_MATCH=condition).status_code == 412
        assert device.call("DELETE", f"{device.book}a.vcf", HTTP_IF_MATCH=condition).status_code == 404
    assert device.put("a.vcf", card(), HTTP_IF_NONE_MATCH="*").status_code == 201
    assert device.put("a.vcf", card(), HTTP_IF_NONE_MATCH="*").status_code == 412
    etag = device.get("a.vcf")["ETag"]
    assert device.put("a.vcf", card("NOTE:1"), HTTP_IF_NONE_MATCH=etag).status_code == 412
    assert device.put("a.vcf", card("NOTE:1"), HTTP_IF_NONE_MATCH='"other"').status_code == 204


def test_get_and_head(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:1"))
    got, head = device.get("a.vcf"), device.call("HEAD", f"{device.book}a.vcf")
    assert (head.status_code, head["ETag"], head.content) == (200, got["ETag"], b"")
    assert int(head["Content-Length"]) == len(got.content)
    assert head["Content-Type"] == got["Content-Type"] == "text/vcard; charset=utf-8"
    assert device.get("a.vcf", HTTP_IF_NONE_MATCH=got["ETag"]).status_code == 304
    any_of_it = device.get("a.vcf", HTTP_IF_NONE_MATCH="*")
    assert (any_of_it.status_code, any_of_it["ETag"], any_of_it.content) == (304, got["ETag"], b"")
    assert device.get("b.vcf", HTTP_IF_NONE_MATCH="*").status_code == 404
    assert device.get("b.vcf").status_code == 404
    assert device.call("GET", device.book.rstrip("/")).status_code == 301
    assert device.call("HEAD", device.book).status_code == 200


@pytest.mark.parametrize(
    "name",
    ["a b.vcf", "ä.vcf", "a@b;c:d&e=f+g$h,i.vcf", "100%.vcf", "syuid1.2.3.vcf", "名前.vcf", "ABPlugin", "a#b?c.vcf"],
)
def test_odd_names_are_one_name_everywhere(alice: User, name: str) -> None:
    device = Device(alice)
    spelled = quote(name, safe="")
    assert device.put(spelled, card()).status_code == 201
    (listed,) = device.sync().entries
    assert unquote(listed.rpartition("/")[2]) == name
    assert device.call("GET", listed).content.decode() == card()
    other = f"{device.book}{spelled}"
    (entry,) = device.multiget(other).entries.values()
    assert entry.text("card:address-data") == card()
    assert set(device.propfind(device.book, "d:getetag", depth="1").entries) == {device.book, listed}
    assert device.call("DELETE", other).status_code == 204


def test_a_name_too_long_is_refused(alice: User) -> None:
    device = Device(alice)
    for name in ("x" * 300 + ".vcf", "a%00b.vcf", "a%0Ab.vcf"):
        assert device.put(name, card()).status_code == 403
        assert device.get(name).status_code == 404
        (entry,) = device.multiget(f"{device.book}{name}").entries.values()
        assert entry.status == 404
    assert not Person.objects.owned_by(alice).exists()


def test_copying_moving_out_and_locking_are_dead_ends(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:1"))
    device.put("b.vcf", card().replace("u-1", "u-2").replace("Ada", "Bob"))
    path, home = f"{device.book}a.vcf", device.book.removesuffix("contacts/")
    assert device.call("COPY", path, HTTP_DESTINATION=f"{device.book}c.vcf").status_code == 403
    for destination in (f"{home}other/a.vcf", "/elsewhere", f"{device.book}", "http://other.example/dav/x.vcf", ""):
        moved = device.call("MOVE", path, HTTP_DESTINATION=destination)
        assert moved.status_code in {400, 403, 404, 409, 502}, destination
    for host in ("other.example", "user@other.example:8000", "[::1]"):
        moved = device.call("MOVE", path, HTTP_DESTINATION=f"http://{host}{device.book}c.vcf")
        assert moved.status_code == 502, host
    assert device.get("a.vcf").status_code == 200
    assert device.call("MOVE", path, HTTP_DESTINATION=f"{device.book}b.vcf", HTTP_OVERWRITE="F").status_code == 412
    assert device.call("MOVE", path, HTTP_DESTINATION=path).status_code in {403, 412}
    for method in ("LOCK", "UNLOCK", "MKCOL", "POST", "PATCH"):
        assert device.call(method, f"{device.book}new/").status_code in {403, 405}
    for method in ("DELETE", "MOVE"):
        for collection in (device.book, home, "/dav/", f"/dav/principals/{alice.pk}/"):
            assert device.call(method, collection, HTTP_DESTINATION=f"{device.book}c.vcf").status_code == 403
    assert Person.objects.owned_by(alice).active().count() == 2
    assert device.text("a.vcf") == card("NOTE:1")


@pytest.mark.parametrize("path", ["/", "/principals/", "/principals", "/dav", "/dav/"])
def test_the_paths_that_clients_guess_name_the_principal(alice: User, path: str) -> None:
    device = Device(alice)
    for depth in ("0", "1"):
        answer = device.propfind(path, "d:current-user-principal", depth=depth)
        (entry,) = (entry for href, entry in answer.entries.items() if href in {path, "/dav/"})
        assert entry.found["d:current-user-principal"][0].text == f"/dav/principals/{alice.pk}/"
    anonymous = Client().generic("PROPFIND", path, HTTP_DEPTH="0")
    assert (anonymous.status_code, "Basic" in anonymous["WWW-Authenticate"]) == (401, True)
    options = Client().generic("OPTIONS", path)
    assert (options.status_code, "addressbook" in options["DAV"], "PROPFIND" in options["Allow"]) == (200, True, True)


@pytest.mark.parametrize("kind", ["addressbooks", "calendars"])
def test_what_lies_above_the_homes_is_a_collection(alice: User, mallory: User, kind: str) -> None:
    device, path = Device(alice), f"/dav/{kind}/"
    for spelled in (path, path.rstrip("/")):
        answer = device.propfind(spelled, "d:current-user-principal", "d:resourcetype", depth="1")
        assert list(answer.entries) == [path, f"{path}{alice.pk}/"]  # nobody else's
        assert answer.entries[path].found["d:current-user-principal"][0].text == f"/dav/principals/{alice.pk}/"
    assert device.call("DELETE", path).status_code == 403


@pytest.mark.both_databases
def test_browsers_get_a_page(alice: User) -> None:
    page = Device(alice).call("GET", "/dav/", HTTP_ACCEPT="text/html,application/xhtml+xml")
    assert (page.status_code, page["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert b"<title>" in page.content
    # Its status is that of the health of the instance, which other tests change.
    assert Client().get("/")["Content-Type"].startswith("text/html")


def test_sync_collection_with_depth_1_is_read_as_0(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card())
    body = (
        f"<d:sync-collection {DECLARED}><d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop>"
        "</d:sync-collection>"
    )
    for headers in ({"HTTP_DEPTH": "1"}, {"HTTP_DEPTH": "0"}, {}):
        assert set(device.ask("REPORT", device.book, body, **headers).entries) == {f"{device.book}a.vcf"}
        assert set(device.ask("REPORT", device.book.rstrip("/"), body, **headers).entries) == {f"{device.book}a.vcf"}


def test_parts_and_versions_of_texts(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10", "NOTE:secret", "item1.TEL:+44 20 1"))

    def texts(data: str) -> Any:
        body = (
            f"<card:addressbook-multiget {DECLARED}><d:prop>{data}</d:prop><d:href>{device.book}a.vcf</d:href>"
            "</card:addressbook-multiget>"
        )
        (entry,) = device.ask("REPORT", device.book, body).entries.values()
        return entry.text("card:address-data").replace("\r\n", "\n")

    assert "VERSION:3.0\n" in texts("<card:address-data/>")
    assert "VERSION:3.0\n" in texts("<card:address-data><card:allprop/></card:address-data>")
    new = texts('<card:address-data content-type="text/vcard" version="4.0"/>')
    assert ("VERSION:4.0\n" in new, ":--1210\n" in new) == (True, True)
    part = texts('<card:address-data><card:prop name="FN"/><card:prop name="NOTE" novalue="yes"/></card:address-data>')
    assert part == "BEGIN:VCARD\nVERSION:3.0\nFN:Ada Lovelace\nNOTE:\nEND:VCARD\n"


def test_control_characters_never_reach_the_xml(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:a\x01b\x0bc", "X-ODD:\x02"))
    assert device.multiget(f"{device.book}a.vcf").entries[f"{device.book}a.vcf"].status == 200


def test_a_listing_of_etags_is_what_the_cards_say(alice: User) -> None:
    device, reader = Device(alice), Device(alice, "READ")
    for number, name in enumerate(("a b&c.vcf", "plain.vcf", "sample-of-a-card.vcf")):
        text = card().replace("u-1", f"u-{number}").replace("Ada", f"P{number}")
        assert device.put(quote(name), text).status_code == 201
    reader.text("plain.vcf")
    assert reader.put("plain.vcf", card("NOTE:mine")).status_code == 403  # listed again, with an ETag of its own
    for asked in (("d:resourcetype", "d:getcontenttype", "d:getetag"), ("d:getetag",), ("d:resourcetype",)):
        for one in (device, reader):
            short = one.propfind(one.book, *asked, depth="1")
            long = one.propfind(one.book, *asked, "d:owner", depth="1")
            assert list(short.entries) == list(long.entries)
            for href, entry in short.entries.items():
                found = {name: element.text for name, element in entry.found.items()}
                other = {name: element.text for name, element in long.entries[href].found.items()}
                assert found == {name: value for name, value in other.items() if name in asked}
    etags, told = (one.propfind(one.book, "d:getetag", depth="1").entries for one in (device, reader))
    del etags[device.book], told[device.book]
    differing = {href for href in etags if etags[href].text("d:getetag") != told[href].text("d:getetag")}
    assert differing == {f"{device.book}plain.vcf"}


def test_a_card_moves_under_each_name_of_this_host(alice: User, settings: Any) -> None:
    settings.BASE_URL = "https://contacts.example"
    device = Device(alice)
    device.put("0.vcf", card())
    urls = (
        "",
        "http://testserver",
        "https://testserver:8443",
        "https://contacts.example",
        "http://CONTACTS.example:80",
    )
    for number, url in enumerate(urls):
        destination = f"{url}{device.book}{number + 1}.vcf"
        moved = device.call("MOVE", f"{device.book}{number}.vcf", HTTP_DESTINATION=destination)
        assert moved.status_code == 201, url


def test_a_part_of_a_card_does_not_replace_it(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:1"))
    before = device.text("a.vcf")
    refused = device.put("a.vcf", card("NOTE:2"), HTTP_CONTENT_RANGE="bytes 0-99/200")
    assert refused.status_code == 400
    assert "NOTE:1" in device.text("a.vcf")
    assert device.put("b.vcf", before.replace("u-1", "u-2"), HTTP_CONTENT_RANGE="bytes 0-99/200").status_code == 400
    assert device.get("b.vcf").status_code == 404
