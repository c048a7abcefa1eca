"""Groups through the API: names, colours, members, trash, plan limit, ETag, equal numbers of queries."""

from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.models import Group, Membership, Person
from people.models.groups import PALETTE
from people.services.person_writer import update_person
from people.signals import people_changed
from tests.builders import UNKNOWN_ID, make_person, set_plan_limits
from tests.client import Client
from tests.concurrency import repeat_concurrently
from tests.queries import count_queries

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def add(api: Client, status: int = 201, **body: Any) -> Any:
    response = api.ok("post", "/api/groups", {"name": "Friends", **body}, status=status)
    return response["group"] if status == 201 else response


def members(api: Client, group: Any) -> list[str]:
    return [person["name"] for person in api.ok("get", f"/api/groups/{group['id']}")["group"]["people"]]


def test_group_is_returned_with_all_fields(api: Client, alice: User) -> None:
    ada = make_person(alice, name="Ada", surname="Lovelace")
    group = add(api, name=" Friends ", description="", color="#a1b2c3", peopleIds=[str(ada.pk)])
    assert group == {
        "id": group["id"],
        "name": "Friends",
        "description": None,
        "color": "#a1b2c3",
        "contactReminder": None,
        "leadDays": None,
        "memberCount": 1,
        "deletedAt": None,
        "createdAt": group["createdAt"],
        "updatedAt": group["updatedAt"],
        "people": [{"id": str(ada.pk), "name": "Ada Lovelace"}],
    }
    assert api.ok("get", f"/api/groups/{group['id']}") == {"group": group}
    listed = api.ok("get", "/api/groups")["groups"]
    assert listed == [{key: group[key] for key in group if key != "people"}]


def test_the_palette_colour_depends_on_the_name_alone(api: Client, stranger: Client) -> None:
    mine, hers = add(api), add(stranger, color=None)
    assert mine["color"] in PALETTE
    assert hers["color"] == mine["color"]
    assert len({add(api, name=f"group {i}")["color"] for i in range(15)}) > 5


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": 5}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "FRIENDS"}, "name"),
        ({"name": "x", "description": "x" * 501}, "description"),
        ({"name": "x", "color": "red"}, "color"),
        ({"name": "x", "color": "#12345"}, "color"),
        ({"name": "x", "peopleIds": "x"}, "peopleIds"),
        ({"name": "x", "peopleIds": [UNKNOWN_ID]}, "peopleIds.0"),
    ],
)
def test_invalid_fields_are_reported(api: Client, body: dict[str, Any], field: str) -> None:
    add(api)
    response = api.ok("post", "/api/groups", body, status=400)
    assert response["details"][0]["field"] == field
    assert len(api.ok("get", "/api/groups")["groups"]) == 1


def test_a_name_is_free_for_other_accounts_and_after_deletion(api: Client, stranger: Client) -> None:
    first = add(api, name="Straße")
    add(stranger, name="Straße")
    add(api, 400, name="STRASSE")
    api.ok("delete", f"/api/groups/{first['id']}")
    add(api, name="strasse")
    response = api.ok("post", f"/api/groups/{first['id']}/restore", status=400)
    assert response["details"][0]["field"] == "name"


def test_put_changes_only_given_fields(api: Client) -> None:
    group, other = add(api, description="all"), add(api, name="Work")
    path = f"/api/groups/{group['id']}"
    changed = api.ok("put", path, {"color": "#000000"})["group"]
    assert (changed["name"], changed["description"], changed["color"]) == ("Friends", "all", "#000000")
    assert api.ok("put", path, {"name": "FRIENDS"})["group"]["name"] == "FRIENDS"
    assert api.ok("put", path, {"name": "work"}, status=400)["details"][0]["field"] == "name"
    assert api.ok("put", path, {**group, "name": "Kin"})["group"]["name"] == "Kin"
    assert api.ok("put", path, {"name": None}, status=400)["details"][0]["field"] == "name"
    assert api.ok("get", f"/api/groups/{other['id']}")["group"]["name"] == "Work"


def test_members_are_added_and_removed(api: Client, alice: User, mallory: User) -> None:
    ada, eve = make_person(alice, name="Ada"), make_person(mallory, name="Eve")
    group = add(api)
    path = f"/api/groups/{group['id']}/members"
    for _ in range(2):
        assert api.ok("post", path, {"personId": str(ada.pk)})["group"]["memberCount"] == 1
    assert members(api, group) == ["Ada"]
    assert api.ok("post", path, {"personId": str(eve.pk)}, status=400)["details"][0]["field"] == "personId"
    assert api.ok("post", path, {}, status=400)["details"][0]["field"] == "personId"
    assert api.ok("delete", f"{path}/{ada.pk}") == {"success": True}
    assert api.call("delete", f"{path}/{ada.pk}").status_code == 404
    assert members(api, group) == []


def test_people_in_the_trash_are_no_members_until_they_return(api: Client, alice: User) -> None:
    ada = make_person(alice)
    group = add(api, peopleIds=[str(ada.pk)])
    api.ok("delete", f"/api/people/{ada.pk}")
    assert members(api, group) == []
    assert api.ok("get", "/api/groups")["groups"][0]["memberCount"] == 0
    api.ok("post", f"/api/people/{ada.pk}/restore")
    assert members(api, group) == ["Ada"]


def test_deleting_a_group_leaves_its_people(api: Client, alice: User) -> None:
    ada = make_person(alice)
    group = add(api, peopleIds=[str(ada.pk)])
    assert "message" in api.ok("delete", f"/api/groups/{group['id']}")
    assert api.call("get", f"/api/groups/{group['id']}").status_code == 404
    assert api.call("delete", f"/api/groups/{group['id']}").status_code == 404
    person = api.ok("get", f"/api/people/{ada.pk}")["person"]
    assert person["groupIds"] == []
    restored = api.ok("post", f"/api/groups/{group['id']}/restore")["group"]
    assert (restored["deletedAt"], restored["memberCount"]) == (None, 1)
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["groupIds"] == [group["id"]]


def test_delete_people_takes_the_members_along(api: Client, alice: User) -> None:
    ada, bob = make_person(alice, name="Ada"), make_person(alice, name="Bob")
    group = add(api, peopleIds=[str(ada.pk)])
    path = f"/api/groups/{group['id']}"
    assert api.ok("delete", f"{path}?deletePeople=maybe", status=400)["details"][0]["field"] == "deletePeople"
    api.ok("delete", f"{path}?deletePeople=true")
    assert [person["id"] for person in api.ok("get", "/api/people")["people"]] == [str(bob.pk)]
    api.ok("post", f"/api/people/{ada.pk}/restore")
    assert api.ok("post", f"{path}/restore")["group"]["memberCount"] == 1


def test_only_what_was_deleted_is_restored_or_removed(api: Client) -> None:
    group = add(api)
    path = f"/api/groups/{group['id']}"
    assert api.ok("post", f"{path}/restore", status=400)["code"] == "not_deleted"
    assert api.ok("delete", f"{path}/permanent", status=400)["code"] == "not_deleted"
    api.ok("delete", path)
    assert api.ok("delete", f"{path}/permanent") == {"success": True}
    assert api.call("post", f"{path}/restore").status_code == 404


@pytest.mark.both_databases
def test_a_persons_groups_replace_but_spare_the_trash(api: Client, alice: User) -> None:
    ada = make_person(alice)
    kept, gone = add(api, name="kept"), add(api, name="gone", peopleIds=[str(ada.pk)])
    api.ok("delete", f"/api/groups/{gone['id']}")
    api.ok("put", f"/api/people/{ada.pk}", {"groupIds": [kept["id"]]})
    assert members(api, kept) == ["Ada"]
    before = Membership.unscoped.get(group_id=kept["id"]).pk
    api.ok("put", f"/api/people/{ada.pk}", {"groupIds": [kept["id"]]})
    assert Membership.unscoped.get(group_id=kept["id"]).pk == before
    api.ok("put", f"/api/people/{ada.pk}", {"groupIds": []})
    assert members(api, kept) == []
    assert api.ok("post", f"/api/groups/{gone['id']}/restore")["group"]["memberCount"] == 1


def test_the_plan_bounds_active_groups(api: Client, settings: LazySettings) -> None:
    set_plan_limits(settings, groups=2)
    first, _ = add(api, name="one"), add(api, name="two")
    assert add(api, 403, name="three")["code"] == "plan_limit"
    api.ok("delete", f"/api/groups/{first['id']}")
    add(api, name="three")
    assert api.ok("post", f"/api/groups/{first['id']}/restore", status=403)["code"] == "plan_limit"


def test_groups_are_listed_by_name(api: Client) -> None:
    for name in ("zeta", "Ärzte", "alpha", "Beta"):
        add(api, name=name)
    assert [group["name"] for group in api.ok("get", "/api/groups")["groups"]] == ["alpha", "Ärzte", "Beta", "zeta"]


@pytest.mark.both_databases
def test_the_groups_of_a_person_have_the_same_order_everywhere(api: Client) -> None:
    """On every database, whatever its collation, which may pass over blanks and put accents beside their letters."""
    names = ["b c", "b-d", "ba", "B2", "Éa", "ea", "z"]
    ids = [api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in reversed(names)]
    person = {"name": "Ada", "groupIds": ids, "locations": [{"latitude": 1, "longitude": 2}]}
    key = api.ok("post", "/api/people", person, status=201)["person"]["id"]
    ordered = ["b c", "b-d", "B2", "ba", "ea", "z", "Éa"]
    shown = api.ok("get", f"/api/people/{key}")["person"]
    assert [group["name"] for group in shown["groups"]] == ordered
    assert api.ok("get", "/api/people")["people"][0]["groups"] == shown["groups"]
    [marker] = api.ok("get", "/api/map/markers")["markers"]
    assert marker["groupIds"] == shown["groupIds"]
    graph = api.ok("get", f"/api/people/{key}/graph")
    assert [node["groups"] for node in graph["nodes"] if node["id"] == key] == [ordered]


def test_etags_follow_every_change(api: Client, alice: User) -> None:
    group = add(api)
    for path in ("/api/groups", f"/api/groups/{group['id']}"):
        ada = make_person(alice)
        etag = api.call("get", path)["ETag"]
        assert api.call("get", path, HTTP_IF_NONE_MATCH=etag).status_code == 304
        api.ok("post", f"/api/groups/{group['id']}/members", {"personId": str(ada.pk)})
        assert api.call("get", path, HTTP_IF_NONE_MATCH=etag).status_code == 200


@pytest.mark.parametrize("path", ["/api/groups", "/api/groups/{}"])
def test_queries_do_not_grow(api: Client, alice: User, path: str) -> None:
    group = add(api, peopleIds=[str(make_person(alice).pk)])

    def count() -> int:
        return count_queries(api.ok, "get", path.format(group["id"]))

    before = count()
    for i in range(50):
        people = [str(make_person(alice, name=f"p{i}").pk)]
        more = add(api, name=f"g{i}", peopleIds=people)
        Membership.objects.create(owner=alice, group_id=group["id"], person_id=people[0])
        assert more["memberCount"] == 1
    assert count() == before
    assert len(members(api, group)) == 51


def test_a_change_of_groups_is_a_change_of_the_person(api: Client, alice: User) -> None:
    ada = make_person(alice)
    group = add(api)
    revision = ada.revision
    path = f"/api/groups/{group['id']}"
    steps: list[tuple[str, str, Any]] = [
        ("post", f"{path}/members", {"personId": str(ada.pk)}),
        ("delete", path, None),
        ("post", f"{path}/restore", None),
        ("delete", f"{path}/members/{ada.pk}", None),
    ]
    for method, where, body in steps:
        api.ok(method, where, body)
        before, revision = revision, Person.unscoped.get(pk=ada.pk).revision
        assert revision > before


def test_a_group_that_is_renamed_changes_alone_and_the_cards_of_its_members_are_announced(
    api: Client, alice: User, django_capture_on_commit_callbacks: Any
) -> None:
    ada = make_person(alice)
    group = add(api, peopleIds=[str(ada.pk)])
    announced: list[Any] = []
    before = api.ok("get", f"/api/people/{ada.pk}")["person"]

    def receive(person_ids: list[Any], **kwargs: Any) -> None:
        announced.extend(person_ids)

    User.objects.filter(pk=alice.pk).update(is_mirrored=True)
    people_changed.connect(receive)
    revision = Person.unscoped.get(pk=ada.pk).revision
    with django_capture_on_commit_callbacks(execute=True):
        api.ok("put", f"/api/groups/{group['id']}", {"name": "Kin"})
    assert announced == [ada.pk]
    assert Person.unscoped.get(pk=ada.pk).revision == revision
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["updatedAt"] == before["updatedAt"]


def test_a_group_deleted_since_the_body_was_read_is_refused(api: Client, alice: User) -> None:
    ada = make_person(alice)
    row = Group.unscoped.get(pk=add(api)["id"])
    api.ok("delete", f"/api/groups/{row.pk}")
    api.ok("delete", f"/api/groups/{row.pk}/permanent")
    with pytest.raises(FieldError):
        update_person(owner=alice, person=ada, data={"groups": [row]}, now=timezone.now())


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_creations_with_one_name_create_one_group(alice: User) -> None:
    statuses = repeat_concurrently(alice, 6, lambda client, _: client.call("post", "/api/groups", {"name": "Friends"}))
    assert statuses == {201: 1, 400: 5}
    assert Group.unscoped.count() == 1
