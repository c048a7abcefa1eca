"""Bulk actions: all or nothing, with a count, and with a constant number of statements."""

from typing import Any

import pytest

from accounts.models import User
from people.models import Group, Membership, Person
from people.signals import people_changed, people_deleted
from tests.builders import make_person
from tests.client import Client
from tests.queries import count_queries
from tests.relationships.steps import expect_field_error, make_people, person_names, relate, type_ids

PATH = "/api/people/bulk"


def ids(people: list[Person]) -> list[str]:
    return [str(person.pk) for person in people]


def make_groups(owner: User, *names: str) -> list[Group]:
    return [Group.objects.create(owner=owner, name=name, name_key=name, color="#123456") for name in names]


def members(group: Group) -> set[str]:
    rows = Membership.objects.owned_by(group.owner_id).filter(group=group)
    return set(rows.values_list("person__name", flat=True))


def test_delete(api: Client, alice: User) -> None:
    people = make_people(alice, "abcd")
    response = api.ok("POST", PATH, {"action": "delete", "personIds": ids(people[:2])})
    assert response == {"success": True, "affectedCount": 2}
    assert person_names(api) == "cd"


def test_delete_with_orphans_counts_them(api: Client, alice: User) -> None:
    friend = type_ids(api)["FRIEND"]
    a, b = make_people(alice, "ab", relationship_to_user_id=friend)
    c, d, e = make_people(alice, "cde")
    for one, other in ((a, c), (b, c), (c, d)):
        relate(api, one, other)
    body = {"action": "delete", "personIds": ids([a, b]), "deleteOrphans": True}
    assert api.ok("POST", PATH, body)["affectedCount"] == 4
    assert person_names(api) == e.name
    restored = api.ok("POST", f"/api/people/{d.pk}/restore")["person"]
    assert restored["deletedAt"] is None


def test_delete_leaves_orphans_by_default(api: Client, alice: User) -> None:
    a = make_person(alice, name="a", relationship_to_user_id=type_ids(api)["FRIEND"])
    relate(api, a, make_person(alice, name="b"))
    assert api.ok("POST", PATH, {"action": "delete", "personIds": ids([a])})["affectedCount"] == 1
    assert person_names(api) == "b"


def test_select_all(api: Client, alice: User, stranger: Client, mallory: User) -> None:
    make_people(alice, "abc")
    make_people(mallory, "xy")
    assert api.ok("POST", PATH, {"action": "delete", "selectAll": True}) == {"success": True, "affectedCount": 3}
    assert person_names(api) == ""
    assert person_names(stranger) == "xy"
    assert api.ok("POST", PATH, {"action": "delete", "selectAll": True})["affectedCount"] == 0


def test_add_to_groups_counts_changed_people(api: Client, alice: User) -> None:
    people = make_people(alice, "abc")
    art, zoo = make_groups(alice, "art", "zoo")
    Membership.objects.create(owner=alice, person=people[0], group=art)
    body = {"action": "addToGroups", "personIds": ids(people[:2]), "groupIds": [str(art.pk)]}
    assert api.ok("POST", PATH, body)["affectedCount"] == 1
    everyone = {"action": "addToGroups", "selectAll": True, "groupIds": [str(art.pk), str(zoo.pk)]}
    assert api.ok("POST", PATH, everyone)["affectedCount"] == 3
    assert members(art) == members(zoo) == {"a", "b", "c"}
    assert api.ok("POST", PATH, everyone)["affectedCount"] == 0
    assert api.ok("GET", f"/api/people/{people[2].pk}")["person"]["groupIds"] == [str(art.pk), str(zoo.pk)]


def test_new_memberships_have_ids_like_any_other(api: Client, alice: User) -> None:
    [art] = make_groups(alice, "art")
    make_people(alice, "abc")
    api.ok("POST", PATH, {"action": "addToGroups", "selectAll": True, "groupIds": [str(art.pk)]})
    rows = list(Membership.objects.owned_by(alice))
    assert len({row.pk for row in rows}) == 3
    assert {(row.pk.version, row.pk.variant) for row in rows} == {(7, "specified in RFC 4122")}
    assert all(row.created_at <= art.updated_at.now(row.created_at.tzinfo) for row in rows)


def test_set_relationship(api: Client, alice: User) -> None:
    types = type_ids(api)
    people = make_people(alice, "abc")
    Person.objects.owned_by(alice).filter(name="a").update(relationship_to_user=types["FRIEND"])
    Person.objects.owned_by(alice).filter(name="b").update(relationship_to_user=types["OTHER"])
    body = {"action": "setRelationship", "personIds": ids(people), "relationshipTypeId": types["FRIEND"]}
    assert api.ok("POST", PATH, body) == {"success": True, "affectedCount": 2}
    listed = api.ok("GET", "/api/people")["people"]
    assert {person["relationshipToUserId"] for person in listed} == {types["FRIEND"]}


@pytest.mark.split
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "delete"}, "personIds"),
        ({"action": "delete", "selectAll": False}, "personIds"),
        ({"action": "delete", "personIds": ["{a}"], "selectAll": True}, "personIds"),
        ({"action": "delete", "personIds": []}, "personIds"),
        ({"action": "delete", "personIds": "{a}"}, "personIds"),
        ({"action": "delete", "personIds": ["{a}", "no-id"]}, "personIds.1"),
        ({"action": "delete", "personIds": ["{a}", "{foreign}"]}, "personIds.1"),
        ({"action": "delete", "personIds": ["{a}", "{deleted}"]}, "personIds.1"),
        ({"action": "delete", "selectAll": 1}, "selectAll"),
        ({"action": "delete", "personIds": ["{a}"], "deleteOrphans": "true"}, "deleteOrphans"),
        ({"action": "delete", "personIds": ["{a}"], "deleteFromCardDav": 1}, "deleteFromCardDav"),
        ({"action": "remove", "personIds": ["{a}"]}, "action"),
        ({"personIds": ["{a}"]}, "action"),
        ({"action": "addToGroups", "personIds": ["{a}"]}, "groupIds"),
        ({"action": "addToGroups", "personIds": ["{a}"], "groupIds": []}, "groupIds"),
        ({"action": "addToGroups", "personIds": ["{a}"], "groupIds": ["{group}"]}, "groupIds.0"),
        ({"action": "setRelationship", "personIds": ["{a}"]}, "relationshipTypeId"),
        ({"action": "setRelationship", "personIds": ["{a}"], "relationshipTypeId": None}, "relationshipTypeId"),
        ({"action": "setRelationship", "personIds": ["{a}"], "relationshipTypeId": "{type}"}, "relationshipTypeId"),
    ],
)
def test_nothing_is_done_when_anything_is_wrong(
    api: Client, stranger: Client, alice: User, mallory: User, body: dict[str, Any], field: str
) -> None:
    a, deleted = make_people(alice, "ad")
    api.ok("DELETE", f"/api/people/{deleted.pk}")
    foreign, [group] = make_person(mallory), make_groups(mallory, "art")
    ids_by_name = {"a": a.pk, "deleted": deleted.pk, "foreign": foreign.pk, "group": group.pk}

    def fill_ids(value: Any) -> Any:
        if isinstance(value, list):
            return [fill_ids(item) for item in value]
        return value.format(**ids_by_name, type=type_ids(stranger)["FRIEND"]) if isinstance(value, str) else value

    expect_field_error(api, "POST", PATH, {key: fill_ids(value) for key, value in body.items()}, field)
    assert person_names(api) == "a"
    assert person_names(stranger) == foreign.name
    assert not Membership.unscoped.exists()
    assert api.ok("GET", f"/api/people/{a.pk}")["person"]["relationshipToUserId"] is None


@pytest.mark.parametrize("action", ["delete", "addToGroups", "setRelationship"])
def test_one_person_and_sixty_take_the_same_statements(api: Client, alice: User, action: str) -> None:
    groups = make_groups(alice, "art", "zoo")
    extra = {"groupIds": [str(group.pk) for group in groups], "relationshipTypeId": type_ids(api)["FRIEND"]}
    people = make_people(alice, " ".join(f"P{number}" for number in range(61)))

    def count(some: list[Person]) -> int:
        body = {"action": action, "personIds": ids(some), "deleteOrphans": True, **extra}
        return count_queries(api.ok, "POST", PATH, body)

    queries_of_one = count(people[:1])
    assert count(people[1:]) == queries_of_one
    assert queries_of_one < 20


def test_bulk_writes_send_one_signal(api: Client, alice: User, django_capture_on_commit_callbacks: Any) -> None:
    people = make_people(alice, "abc")
    received: list[tuple[str, list[Any], Any]] = []

    def record_change(sender: Any, person_ids: list[Any], **kwargs: Any) -> None:
        received.append(("changed", sorted(map(str, person_ids)), None))

    def record_deletion(sender: Any, person_ids: list[Any], from_card_dav: bool, **kwargs: Any) -> None:
        received.append(("deleted", sorted(map(str, person_ids)), from_card_dav))

    User.objects.filter(pk=alice.pk).update(is_mirrored=True)
    people_changed.connect(record_change)
    people_deleted.connect(record_deletion)
    body = {"action": "setRelationship", "selectAll": True, "relationshipTypeId": type_ids(api)["FRIEND"]}
    try:
        with django_capture_on_commit_callbacks(execute=True):
            api.ok("POST", PATH, body)
        with django_capture_on_commit_callbacks(execute=True):
            api.ok("POST", PATH, {"action": "delete", "personIds": ids(people[:2]), "deleteFromCardDav": True})
    finally:
        people_changed.disconnect(record_change)
        people_deleted.disconnect(record_deletion)
    assert received == [("changed", sorted(ids(people)), None), ("deleted", sorted(ids(people[:2])), True)]


def test_setting_a_relationship_changes_each_person(api: Client, alice: User) -> None:
    [a] = make_people(alice, "a")
    body = {"action": "setRelationship", "selectAll": True, "relationshipTypeId": type_ids(api)["FRIEND"]}
    api.ok("POST", PATH, body)
    after = Person.objects.owned_by(alice).get(pk=a.pk)
    assert after.updated_at > a.updated_at
    assert after.revision > a.revision
    api.ok("POST", PATH, body)
    assert Person.objects.owned_by(alice).get(pk=a.pk).updated_at == after.updated_at
