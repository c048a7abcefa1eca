"""GET /api/people?withoutGroups=true lists who is in no active group, whatever writes memberships and groups."""

import random
from functools import partial
from itertools import product
from typing import Any

import pytest

from accounts.models import User
from people.counts import wrong_counts
from people.models import Group, Membership, Person
from tests.client import Client, client_of
from tests.concurrency import send_concurrently
from tests.people.importing.uploads import import_file
from tests.people.steps import create_person


def create_group(api: Client, name: str, **fields: Any) -> str:
    """Create a group; returns its id."""
    return str(api.ok("POST", "/api/groups", {"name": name, **fields}, status=201)["group"]["id"])


def without_groups(api: Client) -> list[str]:
    page = api.ok("GET", "/api/people?withoutGroups=true&limit=500")
    assert page["pagination"]["total"] == len(page["people"])
    return [person["name"] for person in page["people"]]


def assert_right(owner: User) -> None:
    """As a slow reference finds them, also among favourites and quiet people."""
    assert wrong_counts(owner.pk) == []
    api = client_of(owner)
    groups = {group.pk for group in Group.objects.owned_by(owner).active()}
    in_groups = {row.person_id for row in Membership.objects.owned_by(owner) if row.group_id in groups}
    alone = [person for person in Person.objects.owned_by(owner).active() if person.pk not in in_groups]
    for favourite, quiet in product((None, True, False), repeat=2):
        marks = {"favourite": favourite, "quiet": quiet}
        query = "".join(f"&{name}={str(value).lower()}" for name, value in marks.items() if value is not None)
        page = api.ok("GET", f"/api/people?withoutGroups=true&limit=500{query}")
        expected = {str(p.pk) for p in alone if favourite in {None, p.favourite} and quiet in {None, p.quiet}}
        assert {person["id"] for person in page["people"]} == expected
        assert page["pagination"]["total"] == len(expected)


@pytest.mark.django_db
def test_every_way_into_a_group_and_out_of_it(api: Client, alice: User) -> None:
    ada, bea = create_person(api, "Ada"), create_person(api, "Bea", favourite=True)

    def check(*names: str) -> None:
        assert without_groups(api) == sorted(names)
        assert_right(alice)

    check("Ada", "Bea")
    one, other = create_group(api, "One", peopleIds=[ada]), create_group(api, "Other")
    check("Bea")
    create_person(api, "Cid", groupIds=[one, other])
    check("Bea")
    api.ok("PUT", f"/api/people/{bea}", {"groupIds": [other]})
    check()
    api.ok("PUT", f"/api/people/{bea}", {"quiet": True})
    check()
    api.ok("DELETE", f"/api/groups/{other}")  # to the trash: Cid is still in the other one
    check("Bea")
    api.ok("POST", f"/api/groups/{other}/restore")
    check()
    api.ok("DELETE", f"/api/groups/{one}/members/{ada}")
    check("Ada")
    api.ok("POST", "/api/people/bulk", {"action": "addToGroups", "personIds": [ada], "groupIds": [one, other]})
    check()
    api.ok("POST", "/api/people/bulk", {"action": "removeFromGroups", "personIds": [ada], "groupIds": [one]})
    check()
    api.ok("POST", "/api/people/bulk", {"action": "removeFromGroups", "selectAll": True, "groupIds": [other]})
    check("Ada", "Bea")
    api.ok("POST", f"/api/groups/{other}/members", {"personId": ada})
    api.ok("DELETE", f"/api/people/{ada}")
    check("Bea")
    api.ok("POST", f"/api/people/{ada}/restore")
    check("Bea")
    merged = api.ok("POST", "/api/people/merge", {"primaryId": bea, "secondaryId": ada})
    check()
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    check("Bea")
    receipt = import_file(api, "csv", "Name,Email\nDan,dan@example.org\n", groupIds=f'["{one}"]')
    check("Bea")
    api.ok("DELETE", f"/api/imports/{receipt['importId']}")
    check("Bea")
    api.ok("DELETE", f"/api/groups/{one}?deletePeople=true")
    check("Bea")
    api.ok("POST", f"/api/groups/{one}/restore")
    check("Bea")
    api.ok("DELETE", f"/api/groups/{other}")
    api.ok("DELETE", f"/api/groups/{other}/permanent")
    check("Ada", "Bea")


@pytest.mark.django_db
def test_an_imported_account_and_a_deleted_one(api: Client, alice: User, mallory: User) -> None:
    create_group(api, "One", peopleIds=[create_person(api, "Ada", favourite=True)])
    create_person(api, "Bea")
    other = client_of(mallory)
    other.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    assert without_groups(other) == ["Bea"]
    assert_right(mallory)
    alice.delete()
    assert_right(mallory)
    assert not Person.unscoped.filter(owner=alice.pk).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(3))
def test_writes_of_many_rows_at_random(alice: User, seed: int) -> None:
    """Statements as services send them, and those that none sends today."""
    choice = random.Random(seed)
    people = [Person(owner=alice, name=f"{n}", favourite=n % 3 == 0, quiet=n % 4 == 0) for n in range(6)]
    Person.objects.bulk_create(people)
    groups = [Group.objects.create(owner=alice, name=f"{n}", name_key=f"{n}", color="#000000") for n in range(3)]
    pairs = [(person, group) for person in people for group in groups]
    rows, of_groups = Membership.objects.owned_by(alice), Group.objects.owned_by(alice)
    for _ in range(25):
        some, of_people = choice.sample(pairs, 4), Person.objects.owned_by(alice)
        keys = {person.pk for person, _ in some}
        match choice.randrange(6):
            case 0 | 1:
                missing = [(p, g) for p, g in some if not rows.filter(person=p, group=g).exists()]
                Membership.objects.bulk_create(Membership(owner=alice, person=p, group=g) for p, g in missing)
            case 2:
                rows.filter(person__in=keys).delete()
            case 3:
                gone = None if choice.random() < 0.5 else alice.created_at
                of_groups.filter(pk__in=[group.pk for _, group in some[:2]]).update(deleted_at=gone)
            case 4:
                gone = None if choice.random() < 0.7 else alice.created_at
                of_people.filter(pk__in=keys).update(deleted_at=gone, quiet=choice.random() < 0.5)
            case 5:
                (from_person, _), (to_person, to_group) = some[:2]
                moved = rows.filter(person=from_person).exclude(group__memberships__person=to_person)
                Membership.unscoped.filter(pk__in=list(moved.values_list("pk", flat=True)[:1])).update(person=to_person)
                free = rows.filter(person=to_person).exclude(group__in=rows.filter(person=to_person).values("group"))
                free.update(group=to_group)
        assert_right(alice)


@pytest.mark.django_db(transaction=True)
def test_two_who_take_away_the_last_two_groups_at_once(alice: User) -> None:
    api = client_of(alice)
    groups = [create_group(api, f"Group {number}") for number in range(4)]
    for number in range(4):
        person = create_person(api, f"Person {number}", groupIds=groups)
        paths = [f"/api/groups/{group}/members/{person}" for group in groups]
        assert set(send_concurrently(alice, *(partial(_delete, path=path) for path in paths))) == {200}
        assert len(without_groups(api)) == number + 1
        joins = [partial(_join, path=f"/api/groups/{group}/members", person=person) for group in groups[:2]]
        trash = partial(_delete, path=f"/api/groups/{groups[3]}")
        join = partial(_join, path=f"/api/groups/{groups[3]}/members", person=person)
        send_concurrently(alice, *joins, trash, join)
        assert_right(alice)
        api.call("POST", f"/api/groups/{groups[3]}/restore")
        for group in groups:
            api.call("DELETE", f"/api/groups/{group}/members/{person}")
        assert len(without_groups(api)) == number + 1
    assert_right(alice)


def _delete(client: Client, *, path: str) -> Any:
    return client.call("DELETE", path)


def _join(client: Client, *, path: str, person: str) -> Any:
    return client.call("POST", path, {"personId": person})
