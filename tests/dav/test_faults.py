"""Faults that other servers had with these programs (dav-clients, section 6), where no other file has them."""

from importlib import import_module
from uuid import UUID

import pytest

from accounts.models import User
from dav.models import BookCard
from tests.client import Client, client_of
from tests.dav.devices import DECLARED, Device, card
from tests.dav.test_reading import make_card

pytestmark = pytest.mark.django_db


def collections_of(device: Device) -> list[str]:
    home = device.book.removesuffix("contacts/")
    return ["/dav/", "/dav/principals/", f"/dav/principals/{device.user.pk}/", home, device.book]


def test_every_resource_names_the_principal_its_privileges_and_itself(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card())
    for path in [*collections_of(device), f"{device.book}a.vcf"]:
        for spelled in {path, path.rstrip("/")}:
            entry = device.propfind(spelled, "d:current-user-principal", "d:current-user-privilege-set").entries[path]
            assert entry.found["d:current-user-principal"][0].text == f"/dav/principals/{alice.pk}/"
            assert entry.found["d:current-user-privilege-set"].findall(".//{DAV:}read")
    for path in collections_of(device):
        assert device.propfind(path, "d:displayname").entries[path].text("d:displayname")


def test_options_say_the_same_with_and_without_login_on_every_path(alice: User) -> None:
    device = Device(alice)
    for path in [*collections_of(device), "/dav", f"{device.book}a.vcf"]:
        anonymous, signed_in = Client().generic("OPTIONS", path), device.call("OPTIONS", path)
        assert (anonymous.status_code, anonymous["Allow"]) == (200, signed_in["Allow"])
        assert {"1", "3", "addressbook", "calendar-access"} <= set(anonymous["DAV"].replace(",", "").split())
        assert {"PROPFIND", "REPORT", "PUT"} <= set(anonymous["Allow"].replace(",", "").split())


def test_the_home_holds_the_book_once_and_the_book_has_its_tags(alice: User) -> None:
    device = Device(alice)
    home = device.book.removesuffix("contacts/")
    listed = device.propfind(home, "d:resourcetype", "cs:getctag", "d:sync-token", depth="1").entries
    books = [href for href, entry in listed.items() if entry.found["d:resourcetype"].findall(".//*")]
    assert sorted(books) == [home, device.book]
    assert listed[device.book].text("cs:getctag").startswith("http")
    assert listed[home].missing == ["cs:getctag", "d:sync-token"]


def test_every_listed_card_has_an_etag_and_a_type(alice: User) -> None:
    device = Device(alice)
    for number in range(3):
        make_card(alice, name=f"P{number}")
    for entries in (
        device.sync("", "d:getetag", "d:getcontenttype", "d:resourcetype").entries,
        device.propfind(device.book, "d:getetag", "d:getcontenttype", "d:resourcetype", depth="1").entries,
    ):
        entries.pop(device.book, None)
        assert len(entries) == 3
        for entry in entries.values():
            assert entry.text("d:getetag").startswith('"')
            assert "vcard" in entry.text("d:getcontenttype")
            assert len(entry.found["d:resourcetype"]) == 0


def test_one_card_that_cannot_be_read_hides_no_other(alice: User) -> None:
    ids = [make_card(alice, name=f"P{number}") for number in range(3)]
    device = Device(alice)
    token = device.sync().token
    BookCard.objects.owned_by(alice).filter(person=UUID(ids[1])).update(text=b"broken")
    hrefs = [f"{device.book}{key}.vcf" for key in ids]
    query = f"<card:addressbook-query {DECLARED}><d:prop><card:address-data/></d:prop></card:addressbook-query>"
    for entries in (
        device.sync("", "d:getetag", "card:address-data").entries,
        device.multiget(*hrefs).entries,
    ):
        assert [entries[href].status for href in hrefs] == [200, 500, 200]
    assert device.ask("REPORT", device.book, query).entries.keys() >= {hrefs[0], hrefs[2]}
    # The next change of the person writes it anew.
    client_of(alice).ok("PUT", f"/api/people/{ids[1]}", {"nickname": "whole"})
    changed = device.sync(token, "d:getetag", "card:address-data").entries
    assert "NICKNAME:whole" in changed[hrefs[1]].text("card:address-data")


def test_brief_and_prefer_leave_out_what_is_missing(alice: User) -> None:
    device = Device(alice)
    for headers in ({"HTTP_BRIEF": "t"}, {"HTTP_PREFER": "return=minimal"}, {"HTTP_PREFER": "return-minimal"}):
        entry = device.propfind(device.book, "d:no-such-property", **headers).entries[device.book]
        assert (entry.status, entry.missing) == (200, [])
    body = f"<d:propfind {DECLARED}><d:prop><d:no-such-property/></d:prop></d:propfind>"
    minimal = device.call("PROPFIND", device.book, body, HTTP_DEPTH="0", HTTP_PREFER="return=minimal")
    assert minimal["Preference-Applied"] == "return=minimal"  # RFC 7240, 3
    assert "Preference-Applied" not in device.call("PROPFIND", device.book, body, HTTP_DEPTH="0")


def test_an_origin_is_no_cross_site_request(alice: User) -> None:
    device = Device(alice)
    made = device.put("a.vcf", card(), HTTP_ORIGIN="http://testserver", HTTP_SEC_FETCH_SITE="same-origin")
    assert made.status_code == 201


@pytest.mark.sqlite_suffices
def test_many_cards_in_a_row_meet_no_limit(alice: User) -> None:
    """Other servers took 50 cards of an upload, or 57 requests a minute."""
    device = Device(alice)
    statuses = {
        device.put(f"{n}.vcf", card().replace("u-1", f"u-{n}").replace("Ada", f"P{n}")).status_code for n in range(75)
    }
    assert statuses == {201}
    assert len(device.sync().entries) == 75


def test_well_known_leads_to_a_path_and_to_no_host_or_scheme(alice: User) -> None:
    for name in ("carddav", "caldav"):
        for method in ("GET", "PROPFIND", "REPORT", "OPTIONS", "PUT"):
            answer = Client().generic(method, f"/.well-known/{name}", HTTP_X_FORWARDED_PROTO="https")
            assert (answer.status_code, answer["Location"]) == (301, "/dav/")


def test_a_path_without_its_slash_is_answered_as_with_it(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card())
    body = f"<d:sync-collection {DECLARED}><d:sync-token/><d:prop><d:getetag/></d:prop></d:sync-collection>"
    bare = device.ask("REPORT", device.book.rstrip("/"), body)
    assert set(bare.entries) == {f"{device.book}a.vcf"}
    for path in collections_of(device):
        assert set(device.propfind(path.rstrip("/") or "/dav", "d:displayname").entries) == {path}


def test_homes_are_containers_and_no_path_is_two_homes(alice: User) -> None:
    device = Device(alice)
    asked = ("card:addressbook-home-set", "cal:calendar-home-set", "d:resourcetype")
    principal = device.propfind(f"/dav/principals/{alice.pk}/", *asked).entries[f"/dav/principals/{alice.pk}/"]
    homes = [[href.text for href in principal.found[name]] for name in asked[:2]]
    assert homes == [[f"/dav/addressbooks/{alice.pk}/"], [f"/dav/calendars/{alice.pk}/"]]
    for (home,), kind in zip(homes, ("addressbook", "calendar"), strict=True):
        entries = device.propfind(str(home), "d:resourcetype", depth="1").entries
        kinds = {
            href: {each.tag.rpartition("}")[2] for each in e.found["d:resourcetype"]} for href, e in entries.items()
        }
        assert kinds.pop(str(home)) == {"collection"}
        assert all(found == {"collection", kind} for found in kinds.values())
        assert kinds


def test_a_card_of_more_than_memory_holds_is_taken(alice: User) -> None:
    """What is above Django's bound for bodies in memory (2.5 MB), and above the 1 MB at which others stop."""
    device = Device(alice)
    note = "x" * 3_500_000
    assert device.put("a.vcf", card(f"NOTE:{note[:60_000]}", f"X-LONG:{note}")).status_code == 201
    assert len(device.get("a.vcf").content) > 3_500_000


def test_after_a_412_the_listing_has_an_etag_that_is_taken(alice: User) -> None:
    device, other = Device(alice), Device(alice)
    old = device.put("a.vcf", card("NOTE:one"))["ETag"]
    other.text("a.vcf")
    other.put("a.vcf", card("NOTE:two"))
    for _ in range(3):
        assert device.put("a.vcf", card("NOTE:mine"), HTTP_IF_MATCH=old).status_code == 412
    href = f"{device.book}a.vcf"
    shown = device.propfind(device.book, "d:getetag", depth="1").entries[href].text("d:getetag")
    assert shown != old
    assert device.get("a.vcf")["ETag"] == shown
    assert device.put("a.vcf", card("NOTE:mine"), HTTP_IF_MATCH=shown).status_code == 204


def test_groups_of_lines_and_types_are_read_as_apple_writes_them(alice: User) -> None:
    device = Device(alice)
    device.put(
        "a.vcf",
        card(
            "item1.ADR;type=HOME;type=pref:;;Strasse 1;Hamburg;;20095;Germany",
            "item1.X-ABADR:de",
            'TEL;TYPE="HOME,VOICE":+49 40 7',
        ),
    )
    (person,) = client_of(alice).ok("GET", "/api/people")["people"]
    shown = client_of(alice).ok("GET", f"/api/people/{person['id']}")["person"]
    assert [address["locality"] for address in shown["addresses"]] == ["Hamburg"]
    assert [phone["type"].lower() for phone in shown["phoneNumbers"]] == ["home"]
    client_of(alice).ok(
        "PUT", f"/api/people/{person['id']}", {"phoneNumbers": [{"type": "work", "number": "+49 40 8"}]}
    )
    line = next(line for line in device.text("a.vcf").splitlines() if line.startswith("TEL"))
    assert '"' not in line


def test_a_person_made_here_has_a_uid_in_its_card(alice: User) -> None:
    make_card(alice, name="Ada")
    device = Device(alice)
    (href,) = device.sync().entries
    assert "\r\nUID:" in device.call("GET", href).content.decode()


def test_the_colour_and_order_of_a_calendar_are_kept(alice: User) -> None:
    device = Device(alice)
    for name in ("dates", "keep-in-touch"):
        path = f"/dav/calendars/{alice.pk}/{name}/"
        for element in (
            '<calendar-order xmlns="http://apple.com/ns/ical/">3</calendar-order>',
            '<calendar-color xmlns="http://apple.com/ns/ical/">#FF2968FF</calendar-color>',
        ):
            body = f"<d:propertyupdate {DECLARED}><d:set><d:prop>{element}</d:prop></d:set></d:propertyupdate>"
            answer = device.call("PROPPATCH", path, body)
            assert answer.status_code == 207
            assert b"HTTP/1.1 200 OK" in b"".join(answer)


def test_a_put_that_asks_for_little_is_answered(alice: User) -> None:
    device = Device(alice)
    answer = device.put("a.vcf", card(), HTTP_PREFER="return=minimal")
    assert (answer.status_code, answer.content) == (201, b"")


# Each fault of dav-clients, section 6, with the test that this server does not have it.
FAULTS: dict[int, str] = {
    1: "test_conditions.test_the_paths_that_clients_guess_name_the_principal",
    2: "test_faults.test_every_resource_names_the_principal_its_privileges_and_itself",
    3: "test_faults.test_options_say_the_same_with_and_without_login_on_every_path",
    4: "test_faults.test_homes_are_containers_and_no_path_is_two_homes",
    5: "test_faults.test_well_known_leads_to_a_path_and_to_no_host_or_scheme",
    6: "test_faults.test_a_path_without_its_slash_is_answered_as_with_it",
    7: "test_faults.test_homes_are_containers_and_no_path_is_two_homes",
    8: "test_faults.test_the_home_holds_the_book_once_and_the_book_has_its_tags",
    9: "test_reading.test_a_token_that_is_not_ours_is_refused",
    10: "test_reading.test_a_limited_sync_gives_everything_in_pages",
    11: "test_reading.test_a_limited_sync_gives_everything_in_pages",
    12: "test_faults.test_every_listed_card_has_an_etag_and_a_type",
    13: "test_listed_again.test_the_device_takes_ours_in_its_next_sync",
    14: "test_conditions.test_conditions_on_names_that_are_free",
    15: "test_writing.test_a_put_without_condition_is_a_change_against_what_the_device_had",
    16: "test_faults.test_after_a_412_the_listing_has_an_etag_that_is_taken",
    17: "test_listed_again.test_a_refused_delete_or_put_of_a_reader_is_listed_again",
    18: "test_put_rules.test_content_types_charsets_and_versions",
    19: "test_faults.test_a_card_of_more_than_memory_holds_is_taken",
    20: "test_counts.test_the_first_fetch_reads_in_batches",
    21: "test_faults.test_a_card_of_more_than_memory_holds_is_taken",
    22: "test_faults.test_groups_of_lines_and_types_are_read_as_apple_writes_them",
    23: "test_group_cards.test_a_group_card_in_version_4_and_one_of_a_device_without_group_cards",
    24: "test_group_cards.test_members_that_are_not_known_are_kept_and_join_when_they_come",
    25: "test_faults.test_a_person_made_here_has_a_uid_in_its_card",
    26: "test_writing.test_uids_are_unique_and_stay",
    27: "test_conditions.test_odd_names_are_one_name_everywhere",
    28: "test_faults.test_one_card_that_cannot_be_read_hides_no_other",
    29: "test_reading.test_a_day_without_a_year_in_a_card_of_any_version",
    30: "test_faults.test_groups_of_lines_and_types_are_read_as_apple_writes_them",
    31: "test_sign_in.test_a_phone_with_an_old_password_locks_nobody_out",
    32: "test_faults.test_many_cards_in_a_row_meet_no_limit",
    33: "test_faults.test_a_put_that_asks_for_little_is_answered",
    34: "test_calendars.test_ticks_of_tasks_that_a_program_made_recurring",
    35: "test_calendars.test_home_lists_both_calendars_with_what_programs_ask_for",
    36: "test_faults.test_the_colour_and_order_of_a_calendar_are_kept",
    37: "test_real_clients.test_bodies_that_come_in_chunks_and_after_100_continue",
    38: "test_real_clients.test_bodies_that_come_in_chunks_and_after_100_continue",
    39: "test_faults.test_a_path_without_its_slash_is_answered_as_with_it",
    40: "test_conditions.test_get_and_head",
}


def test_each_of_the_forty_faults_has_a_test() -> None:
    assert sorted(FAULTS) == list(range(1, 41))
    for place in set(FAULTS.values()):
        module, _, name = place.partition(".")
        assert callable(getattr(import_module(f"tests.dav.{module}"), name)), place
