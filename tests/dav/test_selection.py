"""Whom a device gets: the `book` of its token, and what it learns when that, or somebody in it, changes."""

from typing import Any

import pytest

from accounts.models import ApiToken, User
from accounts.models.tokens import TOKEN_HASH
from dav.models import SelectedCard
from people.models import Person
from tests.client import Client, client_of
from tests.dav.devices import Device
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

APPLE = "iOS/18.1.1 (22B91) dataaccessd/1.0"


@pytest.fixture
def api(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    client.reader = alice
    return client


@pytest.fixture
def device(alice: User) -> Device:
    return Device(alice)


def row_of(device: Device) -> ApiToken:
    return ApiToken.objects.owned_by(device.user).get(digest=TOKEN_HASH(device.token.encode()).hexdigest())


def configure(api: Client, device: Device, **body: Any) -> dict[str, Any]:
    settings: dict[str, Any] = api.ok("PUT", f"/api/user/api-tokens/{row_of(device).pk}", body)["apiToken"]
    return settings


def make(api: Client, name: str, **fields: Any) -> dict[str, Any]:
    person: dict[str, Any] = api.ok("POST", "/api/people", {"name": name, **fields}, status=201)["person"]
    return person


def make_group(api: Client, name: str, *people: dict[str, Any]) -> str:
    body = {"name": name, "peopleIds": [person["id"] for person in people]}
    return str(api.ok("POST", "/api/groups", body, status=201)["group"]["id"])


def path(device: Device, person: dict[str, Any]) -> str:
    return f"{device.book}{person['id']}.vcf"


def statuses(device: Device, token: str = "") -> dict[str, int]:
    answer = device.sync(token)
    device.last = answer.token  # type: ignore[attr-defined]
    return {href.removeprefix(device.book): entry.status for href, entry in answer.entries.items()}


def names(*people: dict[str, Any]) -> set[str]:
    return {f"{person['id']}.vcf" for person in people}


def test_settings_of_a_token_are_made_changed_and_shown(api: Client) -> None:
    group = make_group(api, "Family")
    body = {"name": "Phone", "groupCards": True, "book": {"groupIds": [group], "reachable": True}, "alarms": True}
    made = api.ok("POST", "/api/user/api-tokens", body, status=201)["apiToken"]
    assert (made["groupCards"], made["book"], made["alarms"]) == (True, body["book"], True)
    url = f"/api/user/api-tokens/{made['id']}"
    changed = api.ok("PUT", url, {"name": "Tablet"})["apiToken"]
    assert (changed["name"], changed["groupCards"], changed["book"], changed["alarms"]) == (
        "Tablet",
        True,
        body["book"],
        True,
    )
    assert api.ok("PUT", url, {"book": None, "alarms": False})["apiToken"]["book"] is None
    plain = api.ok("POST", "/api/user/api-tokens", {"name": "Script"}, status=201)["apiToken"]
    assert (plain["groupCards"], plain["book"], plain["alarms"]) == (False, None, False)


def test_groups_of_others_are_refused(api: Client, mallory: User, device: Device) -> None:
    foreign = make_group(client_of(mallory), "Theirs")
    url = f"/api/user/api-tokens/{row_of(device).pk}"
    for method, target, name in (("POST", "/api/user/api-tokens", {"name": "x"}), ("PUT", url, {})):
        response = api.call(method, target, {**name, "book": {"groupIds": [foreign]}})
        assert response.status_code == 400
    stranger = Client()
    stranger.force_login(mallory)
    assert stranger.call("PUT", url, {"name": "mine"}).status_code == 404


def test_a_book_of_groups_has_their_members_and_nobody_else(api: Client, device: Device) -> None:
    ada, bob, cid = make(api, "Ada"), make(api, "Bob"), make(api, "Cid")
    first, second = make_group(api, "First", ada), make_group(api, "Second", bob)
    configure(api, device, book={"groupIds": [first, second]})
    assert set(statuses(device)) == names(ada, bob)
    members = device.propfind(device.book, "d:getetag", depth="1").entries
    assert set(members) == {device.book, path(device, ada), path(device, bob)}
    answer = device.multiget(path(device, ada), path(device, cid))
    assert [answer.entries[path(device, person)].status for person in (ada, cid)] == [200, 404]
    assert device.get(f"{cid['id']}.vcf").status_code == 404
    card = device.text(f"{ada['id']}.vcf")
    assert device.put(f"{cid['id']}.vcf", card).status_code == 404
    assert device.call("DELETE", path(device, cid)).status_code == 404
    assert api.ok("GET", f"/api/people/{cid['id']}")["person"]["name"] == "Cid"


def test_who_comes_and_leaves_is_told_and_nobody_is_deleted(api: Client, device: Device) -> None:
    ada, bob = make(api, "Ada"), make(api, "Bob")
    group = make_group(api, "Family", ada)
    configure(api, device, book={"groupIds": [group]})
    statuses(device)
    api.ok("POST", f"/api/groups/{group}/members", {"personId": bob["id"]})
    assert statuses(device, device.last) == dict.fromkeys(names(bob), 200)  # type: ignore[attr-defined]
    api.ok("DELETE", f"/api/groups/{group}/members/{ada['id']}")
    assert statuses(device, device.last) == dict.fromkeys(names(ada), 404)  # type: ignore[attr-defined]
    assert statuses(device, device.last) == {}  # type: ignore[attr-defined]
    assert {person["name"] for person in api.ok("GET", "/api/people")["people"]} == {"Ada", "Bob"}
    assert api.ok("GET", "/api/deleted?type=people")["deleted"] == []


def test_a_group_that_is_gone_selects_nobody(api: Client, device: Device) -> None:
    ada, bob = make(api, "Ada"), make(api, "Bob")
    group = make_group(api, "Family", ada, bob)
    configure(api, device, book={"groupIds": [group]})
    assert set(statuses(device)) == names(ada, bob)
    api.ok("DELETE", f"/api/groups/{group}")
    assert statuses(device, device.last) == dict.fromkeys(names(ada, bob), 404)  # type: ignore[attr-defined]
    assert statuses(device) == {}
    # A change of something else keeps the group, which counts again once it is restored.
    assert configure(api, device, name="Phone")["book"] == {"groupIds": [group]}
    assert configure(api, device, book={"groupIds": [group], "reachable": False})["book"]["groupIds"] == [group]
    api.ok("POST", f"/api/groups/{group}/restore")
    assert statuses(device, device.last) == dict.fromkeys(names(ada, bob), 200)  # type: ignore[attr-defined]


def test_no_group_is_nobody_and_no_condition_is_everybody(api: Client, device: Device) -> None:
    ada = make(api, "Ada")
    configure(api, device, book={"groupIds": []})
    assert statuses(device) == {}
    configure(api, device, book={})
    assert set(statuses(device)) == names(ada)


def test_favourites_and_who_can_be_reached(api: Client, device: Device) -> None:
    ada = make(api, "Ada", favourite=True, emails=[{"type": "home", "email": "ada@example.org"}])
    bob = make(api, "Bob", favourite=True)
    cid = make(api, "Cid", phoneNumbers=[{"type": "home", "number": "+43 1 234"}])
    dan = make(api, "Dan", addresses=[{"type": "home", "locality": "Graz"}])
    make(api, "Eve", urls=[{"type": "home", "url": "https://example.org"}])
    configure(api, device, book={"favourites": True})
    assert set(statuses(device)) == names(ada, bob)
    configure(api, device, book={"reachable": True})
    assert set(statuses(device)) == names(ada, cid, dan)
    configure(api, device, book={"reachable": True, "favourites": True})
    assert set(statuses(device)) == names(ada)
    api.ok("PUT", f"/api/people/{cid['id']}", {"favourite": True})
    api.ok("PUT", f"/api/people/{ada['id']}", {"emails": []})
    assert statuses(device, device.last) == {**dict.fromkeys(names(cid), 200), **dict.fromkeys(names(ada), 404)}  # type: ignore[attr-defined]


def test_a_narrower_book_is_a_removal_for_the_device_and_a_wider_one_brings_them_back(
    api: Client, alice: User, device: Device
) -> None:
    ada, bob = make(api, "Ada", favourite=True), make(api, "Bob")
    other = Device(alice)
    assert set(statuses(device)) == set(statuses(other)) == names(ada, bob)
    configure(api, device, book={"favourites": True})
    assert statuses(device, device.last) == dict.fromkeys(names(bob), 404)  # type: ignore[attr-defined]
    assert statuses(other, other.last) == {}  # type: ignore[attr-defined]
    configure(api, device, book=None)
    assert statuses(device, device.last) == dict.fromkeys(names(bob), 200)  # type: ignore[attr-defined]
    assert device.get(f"{bob['id']}.vcf").status_code == 200


def test_a_removal_of_the_book_comes_in_parts_where_a_limit_asks_for_it(api: Client, device: Device) -> None:
    people = [make(api, f"Person {n}") for n in range(5)]
    token = device.sync().token
    configure(api, device, book={"favourites": True})
    gone: set[str] = set()
    for _ in range(3):
        answer = device.sync(token, limit=2)
        gone |= {href for href, entry in answer.entries.items() if entry.status == 404}
        token = answer.token
    assert gone == {path(device, person) for person in people}
    assert device.sync(token).entries == {}


def test_quiet_people_and_those_not_to_be_synced_are_in_no_book(api: Client, device: Device) -> None:
    ada, bob = make(api, "Ada"), make(api, "Bob")
    group = make_group(api, "Family", ada, bob)
    configure(api, device, book={"groupIds": [group]})
    statuses(device)
    api.ok("PUT", f"/api/people/{ada['id']}", {"quiet": True})
    api.ok("PUT", f"/api/people/{bob['id']}", {"cardDavSyncEnabled": False})
    assert statuses(device, device.last) == dict.fromkeys(names(ada, bob), 404)  # type: ignore[attr-defined]
    api.ok("PUT", f"/api/people/{ada['id']}", {"quiet": False})
    assert statuses(device, device.last) == dict.fromkeys(names(ada), 200)  # type: ignore[attr-defined]


@pytest.mark.parametrize("fields", [{"quiet": True}, {"cardDavSyncEnabled": False}])
def test_a_put_to_somebody_who_is_in_no_book_is_404(api: Client, device: Device, fields: dict[str, bool]) -> None:
    ada = make(api, "Ada")
    name = path(device, ada).rpartition("/")[2]
    text = device.text(name)
    api.ok("PUT", f"/api/people/{ada['id']}", fields)
    for sent in (text, text.replace("END:VCARD", "NOTE:mine\r\nEND:VCARD"), CARD):
        assert device.put(name, sent).status_code == 404
    assert api.ok("GET", f"/api/people/{ada['id']}")["person"]["notes"] is None
    assert api.ok("GET", "/api/people")["pagination"]["total"] == 1


CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:new-1\r\nN:New;Nell;;;\r\nFN:Nell New\r\nEND:VCARD\r\n"


def test_a_card_made_there_joins_the_first_group(api: Client, alice: User, device: Device) -> None:
    first, second = make_group(api, "First"), make_group(api, "Second")
    configure(api, device, book={"groupIds": [second, first]})
    assert device.put("nell.vcf", CARD, HTTP_IF_NONE_MATCH="*").status_code == 201
    person = Person.objects.owned_by(alice).get()
    assert [group["id"] for group in api.ok("GET", f"/api/people/{person.pk}")["person"]["groups"]] == [second]
    assert set(statuses(device)) == {"nell.vcf"}
    # And one that comes back from the trash, too.
    api.ok("DELETE", f"/api/people/{person.pk}")
    api.ok("DELETE", f"/api/groups/{second}")
    assert device.put("again.vcf", CARD, HTTP_IF_NONE_MATCH="*").status_code == 201
    assert set(statuses(device)) == {"again.vcf"}
    assert [group["id"] for group in api.ok("GET", f"/api/people/{person.pk}")["person"]["groups"]] == [first]


def test_a_card_made_in_a_book_of_favourites_stays_there(api: Client, alice: User, device: Device) -> None:
    configure(api, device, book={"favourites": True})
    assert device.put("nell.vcf", CARD, HTTP_IF_NONE_MATCH="*").status_code == 201
    assert Person.objects.owned_by(alice).get().favourite
    assert set(statuses(device)) == {"nell.vcf"}


def test_a_card_that_is_not_selected_leaves_the_device_that_made_it(api: Client, alice: User, device: Device) -> None:
    configure(api, device, book={"reachable": True})
    token = device.sync().token
    assert device.put("nell.vcf", CARD, HTTP_IF_NONE_MATCH="*").status_code == 201
    assert statuses(device, token) == {"nell.vcf": 404}
    assert Person.objects.owned_by(alice).active().count() == 1


def test_a_renamed_card_is_told_to_a_device_with_a_selection(api: Client, alice: User, device: Device) -> None:
    ada = make(api, "Ada", favourite=True)
    configure(api, device, book={"favourites": True})
    token = device.sync().token
    other = Device(alice)
    moved = other.call("MOVE", path(other, ada), HTTP_DESTINATION=f"{other.book}ada.vcf")
    assert moved.status_code == 201
    assert statuses(device, token) == {f"{ada['id']}.vcf": 404, "ada.vcf": 200}


def test_group_cards_are_a_setting_that_the_first_request_of_an_apple_program_makes(
    api: Client, alice: User, device: Device
) -> None:
    ada = make(api, "Ada")
    group = make_group(api, "Family", ada)
    device.propfind("/dav/", "d:current-user-principal", HTTP_USER_AGENT=APPLE)
    assert row_of(device).group_cards is True
    assert set(statuses(device)) == {*names(ada), f"{group}.vcf"}
    other = Device(alice)
    other.propfind("/dav/", "d:current-user-principal", HTTP_USER_AGENT="DAVx5/4.4")
    assert row_of(other).group_cards is False
    assert set(statuses(other)) == names(ada)
    # Later requests change nothing, and the setting shows in the next report.
    other.propfind("/dav/", "d:current-user-principal", HTTP_USER_AGENT=APPLE)
    assert statuses(other, other.last) == {}  # type: ignore[attr-defined]
    configure(api, other, groupCards=True)
    assert statuses(other, other.last) == {f"{ada['id']}.vcf": 200, f"{group}.vcf": 200}  # type: ignore[attr-defined]
    assert "CATEGORIES" not in other.text(f"{ada['id']}.vcf")
    configure(api, other, groupCards=False)
    assert statuses(other, other.last) == {f"{ada['id']}.vcf": 200, f"{group}.vcf": 404}  # type: ignore[attr-defined]
    assert "CATEGORIES:Family" in other.text(f"{ada['id']}.vcf")


def test_group_cards_of_a_book_of_groups_are_those_groups(api: Client, device: Device) -> None:
    ada = make(api, "Ada")
    first, second = make_group(api, "First", ada), make_group(api, "Second", ada)
    configure(api, device, groupCards=True, book={"groupIds": [first]})
    assert set(statuses(device)) == {*names(ada), f"{first}.vcf"}
    assert device.get(f"{second}.vcf").status_code == 404


def test_members_whom_a_device_does_not_get_stay_in_the_group(api: Client, device: Device) -> None:
    ada, bob = make(api, "Ada", favourite=True), make(api, "Bob")
    group = make_group(api, "Family", ada, bob)
    configure(api, device, groupCards=True, book={"favourites": True})
    device.sync("", "d:getetag", "card:address-data")
    text = device.text(f"{group}.vcf")
    kept = [line for line in text.splitlines() if "MEMBER" not in line]
    assert device.put(f"{group}.vcf", "\r\n".join(kept) + "\r\n").status_code == 204
    assert [group["name"] for group in api.ok("GET", f"/api/people/{bob['id']}")["person"]["groups"]] == ["Family"]
    assert api.ok("GET", f"/api/people/{ada['id']}")["person"]["groups"] == []


def test_an_idle_sync_of_a_selection_is_one_statement_and_a_change_costs_what_changed(
    api: Client, alice: User, device: Device
) -> None:
    people = [make(api, f"Person {n}", favourite=n % 2 == 0) for n in range(24)]
    configure(api, device, book={"favourites": True})
    token = device.sync("", "d:getetag", "card:address-data").token
    assert count_queries(lambda: device.sync(token)) == 1
    assert SelectedCard.objects.owned_by(alice).count() == 24
    costs = []
    for number in (1, 10):
        for person in people[:number]:
            api.ok("PUT", f"/api/people/{person['id']}", {"nickname": f"N{number}"})
        costs.append(count_queries(lambda: device.sync(token)))
    assert costs[0] == costs[1]
