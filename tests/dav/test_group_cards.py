"""Groups as cards of their own, and as CATEGORIES for the others."""

import re
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from dav.models import BookCard, ReplacedValue
from people.models import AwaitedMember, Group, Person
from people.vcard import fold
from people.vcard.card import uid_key
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.dav.devices import Device, group_devices
from tests.dav.test_photos import encoded, photo_line, scene

__all__ = ["group_devices"]

pytestmark = pytest.mark.django_db

ADA = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nN:Lovelace;{name};;;\r\nFN:{name} Lovelace\r\nEND:VCARD\r\n"


def group_text(name: str, *members: str, uid: str = "G-1") -> str:
    lines = "".join(f"X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:{member}\r\n" for member in members)
    return (
        f"BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Apple Inc.//iOS 17.0.2//EN\r\nN:{name}\r\nFN:{name}\r\n"
        f"X-ADDRESSBOOKSERVER-KIND:group\r\n{lines}REV:2026-11-26T12:00:00Z\r\nUID:{uid}\r\nEND:VCARD\r\n"
    )


def members_in(text: str) -> set[str]:
    return set(re.findall(r"X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:(\S+)\r\n", text.replace("\r\n ", "")))


def groups_of(user: User) -> dict[str, list[str]]:
    api = client_of(user)
    people = api.ok("GET", "/api/people")["people"]
    names = {person["id"]: person["name"] for person in people}
    groups = api.ok("GET", "/api/groups")["groups"]
    return {
        group["name"]: sorted(
            names[p["id"]] for p in people if group["id"] in {g["id"] for g in _person(api, p["id"])["groups"]}
        )
        for group in groups
    }


def _person(api: Any, person_id: str) -> Any:
    return api.ok("GET", f"/api/people/{person_id}")["person"]


@pytest.fixture
def apple(alice: User, group_devices: set[str]) -> Device:
    """A device with group cards, and two people whom it has sent."""
    device = Device(alice)
    group_devices.add(device.token)
    for name in ("Ada", "Bob"):
        assert device.put(f"{name}.vcf", ADA.format(uid=name, name=name)).status_code == 201
    return device


def test_a_group_is_made_empty_and_then_filled(apple: Device) -> None:
    made = apple.put("g.vcf", group_text("Engines"), HTTP_IF_NONE_MATCH="*")
    assert (made.status_code, made["ETag"]) == (201, apple.get("g.vcf")["ETag"])
    assert groups_of(apple.user) == {"Engines": []}
    filled = apple.put("g.vcf", group_text("Engines", "Ada", "Bob"), HTTP_IF_MATCH=made["ETag"])
    assert (filled.status_code, filled["ETag"]) == (204, apple.get("g.vcf")["ETag"])
    assert groups_of(apple.user) == {"Engines": ["Ada", "Bob"]}
    assert apple.text("g.vcf") == group_text("Engines", "Ada", "Bob")
    assert apple.put("g.vcf", group_text("Engines", "Bob")).status_code == 204
    assert groups_of(apple.user) == {"Engines": ["Bob"]}
    (lost,) = ReplacedValue.objects.owned_by(apple.user)
    assert (lost.property, lost.value, lost.person.name) == ("groups", "Engines", "Ada")
    assert Person.objects.owned_by(apple.user).count() == 2


def test_others_see_categories_and_no_group_card(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada"))
    other = Device(apple.user)
    start = other.sync()
    assert set(start.entries) == {f"{other.book}Ada.vcf", f"{other.book}Bob.vcf"}
    assert "CATEGORIES:Engines\r\n" in other.text("Ada.vcf")
    assert "CATEGORIES" not in apple.text("Ada.vcf")
    assert other.get("g.vcf").status_code == 404
    text = other.text("Bob.vcf")
    assert other.put("Bob.vcf", text.replace("END:", "CATEGORIES:Engines\r\nEND:")).status_code == 204
    assert members_in(apple.text("g.vcf")) == {"Ada", "Bob"}
    other.text("Ada.vcf")
    assert other.put("Bob.vcf", text).status_code == 204
    assert members_in(apple.text("g.vcf")) == {"Ada"}
    assert groups_of(apple.user) == {"Engines": ["Ada"]}


def test_somebody_new_in_a_group_gets_its_rule(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    rule = {"interval": 3, "unit": "WEEKS"}
    api.ok("POST", "/api/groups", {"name": "Engines", "contactReminder": rule}, status=201)
    text = ADA.format(uid="Ada", name="Ada").replace("END:", "CATEGORIES:Engines\r\nEND:")
    assert device.put("Ada.vcf", text).status_code == 201
    (ada,) = api.ok("GET", "/api/people")["people"]
    person = _person(api, ada["id"])
    assert (person["contactReminderEnabled"], person["contactReminderInterval"]) == (True, 3)
    assert person["contactReminderFrom"]["name"] == "Engines"


def test_a_group_of_the_api_is_a_card(apple: Device) -> None:
    api = client_of(apple.user)
    start = apple.sync()
    (ada, _) = api.ok("GET", "/api/people")["people"]
    group = api.ok("POST", "/api/groups", {"name": "Engines", "peopleIds": [ada["id"]]}, status=201)["group"]
    changed = apple.sync(start.token)
    href = f"{apple.book}{group['id']}.vcf"
    assert set(changed.entries) == {href}  # the person's card has not changed for this device
    name = href.rpartition("/")[2]
    assert members_in(apple.text(name)) == {"Ada"}
    assert "KIND:group\r\nMEMBER:urn:uuid:Ada\r\n" in apple.text(name, HTTP_ACCEPT="text/vcard; version=4.0")
    api.ok("PUT", f"/api/groups/{group['id']}", {"name": "Machines"})
    assert "FN:Machines\r\n" in apple.text(name)
    api.ok("DELETE", f"/api/groups/{group['id']}/members/{ada['id']}")
    assert members_in(apple.text(name)) == set()
    api.ok("DELETE", f"/api/groups/{group['id']}")
    gone = apple.sync(changed.token)
    assert gone.entries[href].status == 404


def test_members_that_are_not_known_are_kept_and_join_when_they_come(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada", "Carla", "Ada"))
    assert apple.text("g.vcf") == group_text("Engines", "Ada", "Carla", "Ada")
    assert AwaitedMember.objects.owned_by(apple.user).count() == 1
    apple.put("Carla.vcf", ADA.format(uid="Carla", name="Carla"))
    assert groups_of(apple.user) == {"Engines": ["Ada", "Carla"]}
    assert not AwaitedMember.objects.owned_by(apple.user).exists()
    assert members_in(apple.text("g.vcf")) == {"Ada", "Carla"}


@pytest.mark.parametrize("is_in_trash", [False, True])
def test_somebody_who_comes_again_joins_the_groups_that_wait(apple: Device, is_in_trash: bool) -> None:
    """Whoever is here already by the same content, or in the trash by the UID."""
    card = ADA.format(uid="Carla", name="Carla")
    if is_in_trash:
        apple.put("Carla.vcf", card)
        apple.call("DELETE", f"{apple.book}Carla.vcf")
    else:
        client_of(apple.user).ok("POST", "/api/people", {"name": "Carla", "surname": "Lovelace"}, status=201)
    apple.put("g.vcf", group_text("Engines", "Ada", "Carla", "Dora"))
    assert groups_of(apple.user) == {"Engines": ["Ada"]}
    assert apple.put("again.vcf", card).status_code == 201
    assert groups_of(apple.user) == {"Engines": ["Ada", "Carla"]}
    assert members_in(apple.text("g.vcf")) == {"Ada", "Carla", "Dora"}
    assert [row.uid_key for row in AwaitedMember.objects.owned_by(apple.user)] == [uid_key("Dora")]


def test_what_others_changed_in_a_group_stays(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada"))
    api = client_of(apple.user)
    (group,) = api.ok("GET", "/api/groups")["groups"]
    people = {person["name"]: person["id"] for person in api.ok("GET", "/api/people")["people"]}
    api.ok("POST", f"/api/groups/{group['id']}/members", {"personId": people["Bob"]})
    assert apple.put("g.vcf", group_text("Machines", "Ada")).status_code == 204
    assert groups_of(apple.user) == {"Machines": ["Ada", "Bob"]}
    assert members_in(apple.text("g.vcf")) == {"Ada", "Bob"}


def test_deleting_a_group_card_keeps_the_members_and_coming_again_restores_it(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada"))
    assert apple.call("DELETE", f"{apple.book}g.vcf").status_code == 204
    assert groups_of(apple.user) == {}
    assert Person.objects.owned_by(apple.user).active().count() == 2
    assert apple.put("h.vcf", group_text("Engines", "Bob")).status_code == 201
    assert groups_of(apple.user) == {"Engines": ["Ada", "Bob"]}
    assert Group.objects.owned_by(apple.user).count() == 1


def test_a_group_of_the_same_name_is_that_group(apple: Device) -> None:
    client_of(apple.user).ok("POST", "/api/groups", {"name": "Engines"}, status=201)
    start = apple.sync()
    assert apple.put("g.vcf", group_text("engines", "Ada")).status_code == 201
    assert list(groups_of(apple.user).values()) == [["Ada"]]
    changed = apple.sync(start.token).entries
    assert sorted(entry.status for entry in changed.values()) == [200, 404]


def test_a_group_card_in_version_4_and_one_of_a_device_without_group_cards(apple: Device) -> None:
    text = (
        "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:urn:uuid:7a0e7f3e-1111-4111-8111-111111111111\r\nFN:Engines\r\nKIND:group\r\n"
        "MEMBER:urn:uuid:Ada\r\nMEMBER:urn:uuid:Bob\r\nEND:VCARD\r\n"
    )
    other = Device(apple.user)
    assert other.put("g.vcf", text).status_code == 201
    assert groups_of(apple.user) == {"Engines": ["Ada", "Bob"]}
    assert other.get("g.vcf").status_code == 404
    assert members_in(apple.text("g.vcf")) == {"Ada", "Bob"}
    assert "X-ADDRESSBOOKSERVER-KIND:group\r\n" in apple.text("g.vcf")
    assert Person.objects.owned_by(apple.user).count() == 2


@pytest.mark.sqlite_suffices  # the statements of every group card, for more members
def test_hundreds_of_members(apple: Device) -> None:
    people = [Person(owner=apple.user, name=f"P{n}", uid=f"p-{n}") for n in range(300)]
    with account_write(apple.user):
        Person.objects.owned_by(apple.user).bulk_create(people)
    text = group_text("All", *(f"p-{n}" for n in range(300)))
    assert apple.put("g.vcf", text).status_code == 201
    (group,) = Group.objects.owned_by(apple.user)
    assert group.memberships.count() == 300
    assert apple.text("g.vcf") == text
    assert apple.put("g.vcf", group_text("All", *(f"p-{n}" for n in range(1, 300)))).status_code == 204
    assert group.memberships.count() == 299


def test_kinds_and_uids_of_groups_stay(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada"))
    for name, text, status in (
        ("g.vcf", ADA.format(uid="G-1", name="Ada"), 403),
        ("Ada.vcf", group_text("Engines", uid="Ada"), 403),
        ("g.vcf", group_text("Engines", uid="G-2"), 409),
        ("h.vcf", group_text("Other", uid="G-1"), 409),
        ("h.vcf", group_text("Other", uid="Ada"), 409),
        ("h.vcf", ADA.format(uid="G-1", name="Carla"), 409),
    ):
        assert apple.put(name, text).status_code == status
    assert Person.objects.owned_by(apple.user).count() == 2
    assert BookCard.objects.owned_by(apple.user).in_book().count() == 3


def test_renaming_to_the_name_of_another_group_is_undone_on_the_device(apple: Device) -> None:
    apple.put("g.vcf", group_text("Engines", "Ada"))
    apple.put("h.vcf", group_text("Machines", uid="G-2"))
    start = apple.sync()
    assert apple.put("g.vcf", group_text("Machines", "Ada")).status_code == 204
    assert "FN:Engines\r\n" in apple.text("g.vcf")
    assert f"{apple.book}g.vcf" in apple.sync(start.token).entries


def test_the_plan_limits_groups(apple: Device, settings: Any) -> None:
    set_plan_limits(settings, groups=0)
    refused = apple.put("g.vcf", group_text("Engines"))
    assert refused.status_code == 507
    assert b"group" in refused.content


def test_a_picture_of_a_group_is_left_out_and_the_device_reads_the_card(apple: Device) -> None:
    picture = photo_line(encoded(scene()), "PNG").replace("\r\n ", "").strip()
    sent = group_text("Family", "Ada").replace("REV:", f"{fold(picture)}REV:")
    made = apple.put("g.vcf", sent)
    assert (made.status_code, "ETag" in made) == (201, False)
    assert "PHOTO" not in apple.text("g.vcf")
    assert members_in(apple.text("g.vcf")) == {"Ada"}
