"""The devices of an account: what they are, what they deleted and replaced, and what can be undone."""

import datetime as dt
import plistlib
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.models.tokens import TOKEN_HASH
from contacts_project.kernel.ownership.account_lock import account_write
from dav.models import Device as DeviceRow
from dav.models import DeviceDeletion
from dav.signals import many_deleted
from people.models import Person
from tests.builders import set_plan_limits
from tests.client import Client, client_of
from tests.dav.devices import Device, card
from tests.queries import count_queries

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def row_of(device: Device) -> ApiToken:
    return ApiToken.objects.owned_by(device.user).get(digest=TOKEN_HASH(device.token.encode()).hexdigest())


def listed(api: Client) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = api.ok("GET", "/api/user/devices")["devices"]
    return devices


def fill(api: Client, device: Device, number: int) -> list[str]:
    for n in range(number):
        api.ok("POST", "/api/people", {"name": f"Person {n}"}, status=201)
    return sorted(href for href in device.sync().entries)


def test_a_device_is_listed_from_its_first_request_on(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    assert listed(api) == []
    device.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="DAVx5/4.4 (Android 14)")
    (found,) = listed(api)
    assert found.pop("lastSeenAt") is not None
    assert found == {
        "tokenId": str(row_of(device).pk),
        "name": "test",
        "userAgent": "DAVx5/4.4 (Android 14)",
        "scope": "READ_WRITE",
        "groupCards": False,
        "book": None,
        "alarms": False,
        "refusedSince": None,
        "refused": [],
        "replaced": [],
        "deleted": 0,
    }


@pytest.mark.both_databases
def test_last_seen_is_written_at_most_once_a_minute(alice: User) -> None:
    device = Device(alice)
    device.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="One")
    device.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="Two")
    row = DeviceRow.objects.owned_by(alice).get()
    assert row.user_agent == "One"
    before = timezone.now() - dt.timedelta(minutes=2)
    DeviceRow.objects.owned_by(alice).update(last_seen_at=before)
    device.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="Two")
    row.refresh_from_db()
    assert row.user_agent == "Two"
    assert row.last_seen_at > before


def test_what_a_device_was_refused_and_replaced_is_listed_and_put_back(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    device.put("a.vcf", card("NICKNAME:Countess"))
    device.text("a.vcf")
    assert device.put("a.vcf", card("NICKNAME:Ada")).status_code in {201, 204}
    assert device.put("b.vcf", "no card").status_code == 403
    (found,) = listed(api)
    assert [(each["property"], each["value"]) for each in found["replaced"]] == [("nickname", "Countess")]
    assert [each["href"] for each in found["refused"]] == [f"{device.book}b.vcf"]
    assert found["refused"][0]["code"] == "dav_no_card"
    assert found["refusedSince"] == found["refused"][0]["at"]
    replaced = found["replaced"][0]
    api.ok("POST", f"/api/user/devices/{found['tokenId']}/replaced/{replaced['id']}/restore")
    assert api.ok("GET", f"/api/people/{replaced['personId']}")["person"]["nickname"] == "Countess"
    assert listed(api)[0]["replaced"] == []
    api.ok("POST", f"/api/user/devices/{found['tokenId']}/replaced/{replaced['id']}/restore", status=404)


def test_devices_cost_the_same_statements_for_one_and_for_many(alice: User) -> None:
    api = client_of(alice)
    costs = []
    for number in (1, 6):
        for n in range(number):
            device = Device(alice)
            device.put(f"{device.token}.vcf", card().replace("u-1", f"u-{number}-{n}").replace("Ada", f"P{number}{n}"))
            device.put("x.vcf", "no card")
        costs.append(count_queries(lambda: listed(api)))
    assert costs[0] == costs[1]


@pytest.mark.both_databases
def test_what_a_device_deleted_has_its_name_and_comes_back(alice: User, mallory: User) -> None:
    api, device = client_of(alice), Device(alice)
    first, second, third = fill(api, device, 3)
    for href in (first, second):
        assert device.call("DELETE", href).status_code == 204
    (by_api,) = api.ok("GET", "/api/people")["people"]
    api.ok("DELETE", f"/api/people/{by_api['id']}")
    token = str(row_of(device).pk)
    rows = api.ok("GET", "/api/deleted?type=people")["deleted"]
    by = {"tokenId": token, "name": "test"}
    assert [row["deletedBy"] for row in rows] == [None, by, by]
    assert listed(api)[0]["deleted"] == 2
    url = f"/api/user/devices/{token}/undo-deletions"
    client_of(mallory).ok("POST", url, {}, status=404)
    assert api.ok("POST", url, {"since": rows[1]["deletedAt"]}) == {"restored": 1, "kept": []}
    assert api.ok("POST", url, {}) == {"restored": 1, "kept": []}
    assert api.ok("POST", url) == {"restored": 0, "kept": []}
    assert len(api.ok("GET", "/api/people")["people"]) == 2
    assert listed(api)[0]["deleted"] == 0
    # What somebody else deletes afterwards is not the device's.
    api.ok("DELETE", f"/api/people/{rows[1]['id']}")
    assert api.ok("GET", "/api/deleted?type=people")["deleted"][0]["deletedBy"] is None
    assert third


def test_what_a_lost_phone_deleted_comes_back_after_its_password_was_revoked(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    (href,) = fill(api, device, 1)
    device.call("DELETE", href)
    token = row_of(device).pk
    signed_in = Client()
    signed_in.force_login(alice)
    signed_in.ok("DELETE", f"/api/user/api-tokens/{token}")
    assert (listed(api), DeviceRow.objects.owned_by(alice).count()) == ([], 0)
    assert api.ok("GET", "/api/deleted?type=people")["deleted"][0]["deletedBy"]["name"] == "test"
    assert api.ok("POST", f"/api/user/devices/{token}/undo-deletions")["restored"] == 1


@pytest.mark.both_databases
def test_what_cannot_come_back_is_named(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    device.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="iOS/18.1.1 (22B91) dataaccessd/1.0")
    group = api.ok("POST", "/api/groups", {"name": "Family"}, status=201)["group"]
    assert device.call("DELETE", f"{device.book}{group['id']}.vcf").status_code == 204
    assert api.ok("GET", "/api/deleted?type=groups")["deleted"][0]["deletedBy"]["name"] == "test"
    api.ok("POST", "/api/groups", {"name": "Family"}, status=201)
    undone = api.ok("POST", f"/api/user/devices/{row_of(device).pk}/undo-deletions", {})
    (kept,) = undone["kept"]
    assert (undone["restored"], kept["kind"], kept["id"], kept["name"]) == (0, "groups", group["id"], "Family")
    assert kept["reason"]
    assert kept["code"]


def test_a_former_birthday_takes_the_place_of_the_present_one(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    device.put("a.vcf", card("BDAY:1980-01-02"))
    (person,) = api.ok("GET", "/api/people?includeAll=true")["people"]
    birthday = person["importantDates"][0]
    url = f"/api/people/{person['id']}/important-dates/{birthday['id']}"
    api.ok("PUT", url, {"type": "BIRTHDAY", "date": "1980-01-02", "reminderEnabled": True})
    device.text("a.vcf")
    assert device.put("a.vcf", card("BDAY:1990-09-09")).status_code == 204
    (found,) = listed(api)
    (replaced,) = found["replaced"]
    api.ok("POST", f"/api/user/devices/{found['tokenId']}/replaced/{replaced['id']}/restore")
    (date,) = api.ok("GET", f"/api/people/{person['id']}/important-dates")["importantDates"]
    assert (date["id"], date["date"][:10], date["reminderEnabled"]) == (birthday["id"], "1980-01-02", True)
    assert "BDAY:1980-01-02" in device.text("a.vcf")
    assert listed(api)[0]["replaced"] == []


@pytest.mark.both_databases
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_what_has_no_room_in_the_plan_stops_nothing_else(alice: User, settings: Any, limit: int) -> None:
    api, device = client_of(alice), Device(alice)
    for href in fill(api, device, 3):
        assert device.call("DELETE", href).status_code == 204
    set_plan_limits(settings, people=limit)
    undone = api.ok("POST", f"/api/user/devices/{row_of(device).pk}/undo-deletions", {})
    assert undone["restored"] == limit == len(api.ok("GET", "/api/people")["people"])
    assert [kept["code"] for kept in undone["kept"]] == ["plan_people"] * (3 - limit)
    set_plan_limits(settings, people=3)
    assert api.ok("POST", f"/api/user/devices/{row_of(device).pk}/undo-deletions", {})["restored"] == 3 - limit


@pytest.fixture
def told() -> Any:
    sent: list[dict[str, Any]] = []

    def note(**values: Any) -> None:
        sent.append(values)

    many_deleted.connect(note)
    yield sent
    many_deleted.disconnect(note)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("size", "silent"), [(8, 5), (40, 8)])
def test_many_deletions_are_told_once(alice: User, told: list[dict[str, Any]], size: int, silent: int) -> None:
    api, device = client_of(alice), Device(alice)
    hrefs = fill(api, device, size)
    long_ago = timezone.now() - dt.timedelta(days=1)
    with account_write(alice):
        Person.objects.owned_by(alice).update(created_at=long_ago)
    for href in hrefs[:silent]:
        assert device.call("DELETE", href).status_code == 204
    assert told == []
    for href in hrefs[silent:]:
        assert device.call("DELETE", href).status_code == 204
    assert [(values["count"], values["device_name"]) for values in told] == [(silent + 1, "test")]
    first = DeviceDeletion.objects.owned_by(alice).order_by("deleted_at").first()
    assert first is not None
    assert told[0]["since"] == first.deleted_at


def test_the_profile_of_apple_names_the_server_and_no_password(alice: User, settings: Any) -> None:
    api, device = client_of(alice), Device(alice)
    url = f"/api/user/devices/{row_of(device).pk}/profile"
    for base, host, port, is_encrypted in (
        ("https://contacts.example.org", "contacts.example.org", 443, True),
        ("http://127.0.0.1:8001", "127.0.0.1", 8001, False),
        ("https://example.org:8443", "example.org", 8443, True),
    ):
        settings.BASE_URL = base
        response = api.call("GET", url)
        assert response["Content-Type"] == "application/x-apple-aspen-config"
        assert device.token.encode() not in response.content
        assert b"Password" not in response.content
        profile = plistlib.loads(response.content)
        contacts, calendars = profile["PayloadContent"]
        assert contacts["PayloadType"] == "com.apple.carddav.account"
        assert calendars["PayloadType"] == "com.apple.caldav.account"
        assert (contacts["CardDAVHostName"], contacts["CardDAVPort"], contacts["CardDAVUseSSL"]) == (
            host,
            port,
            is_encrypted,
        )
        assert (contacts["CardDAVUsername"], calendars["CalDAVUsername"]) == (alice.email, alice.email)
        assert calendars["CalDAVPrincipalURL"] == f"/dav/principals/{alice.pk}/"
        assert api.call("GET", url).content == response.content
        ids = {profile["PayloadUUID"], contacts["PayloadUUID"], calendars["PayloadUUID"]}
        assert len(ids) == 3
