"""Large changes of one member are held until another one lets them through or refuses them."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import ImportantDate, Person
from people.services.people import delete_people, restore_person
from people.services.photos import set_person_photo
from relationships.models import Relationship
from relationships.services.relationships import create_relationship, delete_relationship
from sharing.carry.carrier import carry_account
from sharing.models import Hold, LogEntry, Reason, Share, SharedCopy, SharedPerson
from tests.builders import make_person
from tests.client import Client, client_of
from tests.pictures import picture
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    edit,
    group_people,
    leave_group,
    membership_of,
    person_of,
    put_into_group,
    share_people,
)


@pytest.fixture
def alices(alice: User) -> Client:
    """Alice's API client. What she reads has the names that others share with her."""
    return _client(alice)


@pytest.fixture
def bobs(bob: User) -> Client:
    return _client(bob)


def _client(user: User) -> Client:
    client = client_of(user)
    client.reader = None
    return client


def _share_ten(*users: User) -> tuple[Share, list[Person]]:
    """A share with ten people, which the second member has: more than five at a time are held."""
    share = share_people(*users)
    people = [add_person(users[0], name=f"P{number}", surname=f"S{number}", nickname="N") for number in range(10)]
    carry_all()
    return share, [person_of(users[1], person) for person in people]


def _delete(user: User, people: Sequence[Person]) -> None:
    delete_people(owner=user, person_ids=[person.pk for person in people], options={}, now=timezone.now())


def _edit_in_one_write(user: User, people: Sequence[Person], **data: Any) -> None:
    with account_write(user):
        for person in people:
            edit(user, person, **data)


def held_rows(client: Client, share: Share) -> list[dict[str, Any]]:
    rows = client.ok("GET", f"/api/shares/{share.pk}/waiting")["waiting"]
    return [row for row in rows if row["reason"] == "held"]


def state_of(client: Client, share: Share) -> str:
    state: str = client.ok("GET", f"/api/shares/{share.pk}")["share"]["state"]
    return state


def decide(client: Client, share: Share, action: str, status: int = 200, **more: Any) -> dict[str, Any]:
    path = f"/api/shares/{share.pk}/held"
    answer: dict[str, Any] = client.ok("POST", path, {"action": action, **more}, status=status)
    return answer


def test_a_mass_deletion_reaches_nobody(alice: User, bob: User, carol: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob, carol)
    _delete(bob, people[:6])
    carry_all()
    assert state_of(bobs, share) == "held"
    assert held_rows(bobs, share) == []
    for client in (alices, _client(carol)):
        (row,) = held_rows(client, share)
        assert row == {**row, "by": "Bob", "count": 6, "photo": None, "sharedId": str(Hold.unscoped.rows().get().pk)}
        assert client.ok("GET", f"/api/shares/{share.pk}")["share"]["waitingCount"] == 1
        assert state_of(client, share) == "active"
    assert not SharedCopy.objects.owned_by(alice).exclude(reason="").exists()
    assert decide(bobs, share, "accept", 403)["code"] == "own_hold"


def test_refused_people_come_back_from_the_trash_and_into_the_group(
    alice: User, bob: User, alices: Client, bobs: Client
) -> None:
    share, people = _share_ten(alice, bob)
    with account_write(bob):
        _delete(bob, people[:5])
        for person in people[5:8]:
            leave_group(bob, person)
    edit(bob, people[9], nickname="Mine")
    carry_all()
    assert len(group_people(bob)) == 2
    assert decide(alices, share, "refuse") == {"success": True}
    assert held_rows(alices, share) == []
    carry_all()
    assert group_people(bob) == group_people(alice) == [f"P{number}" for number in range(10)]
    assert [Person.objects.owned_by(bob).get(pk=person.pk).nickname for person in people] == ["N"] * 10
    assert (state_of(bobs, share), state_of(alices, share)) == ("active", "active")
    assert {entry.action for entry in LogEntry.unscoped.rows()} == {"added"}
    assert decide(alices, share, "refuse", 409)["code"] == "not_held"
    edit(bob, people[0], nickname="Later")
    carry_all()
    assert person_of(alice, people[0]).nickname == "Later"


def test_somebody_removed_for_good_is_made_anew(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    bobs.ok("DELETE", f"/api/people/{people[0].pk}/permanent")
    carry_all()
    decide(alices, share, "refuse")
    carry_all()
    assert group_people(bob) == group_people(alice)
    assert len(group_people(bob)) == 10


def test_what_is_let_through_reaches_the_others(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    assert decide(alices, share, "accept") == {"success": True}
    carry_all()
    assert (state_of(bobs, share), held_rows(alices, share)) == ("active", [])
    assert SharedCopy.objects.owned_by(alice).filter(reason=Reason.TAKEN_OUT).count() == 6
    assert len(group_people(alice)) == 10
    # What was let through does not count with what comes later.
    leave_group(bob, people[7])
    carry_all()
    assert state_of(bobs, share) == "active"


def test_five_are_not_too_many(alice: User, bob: User, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:5])
    carry_all()
    assert state_of(bobs, share) == "active"
    assert SharedCopy.objects.owned_by(alice).filter(reason=Reason.TAKEN_OUT).count() == 5


def test_one_by_one_within_an_hour(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    for person in people[:3]:
        leave_group(bob, person)
        carry_all()
    for person in people[3:5]:
        edit(bob, person, nickname=None)  # emptied
        carry_all()
    assert state_of(bobs, share) == "active"
    leave_group(bob, people[5])
    carry_all()
    (row,) = held_rows(alices, share)
    assert (row["count"], state_of(bobs, share)) == (1, "held")
    assert copy_of(alice, people[5]).reason == ""


def test_an_hour_later_it_is_not_too_much(alice: User, bob: User, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:5])
    carry_all()
    LogEntry.unscoped.rows().update(created_at=timezone.now() - dt.timedelta(minutes=61))
    leave_group(bob, people[5])
    carry_all()
    assert state_of(bobs, share) == "active"


def test_many_changes_in_one_write(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    for person in people[:7]:
        edit(bob, person, organization="One by one")
    carry_all()
    assert state_of(bobs, share) == "active"
    _edit_in_one_write(bob, people[:5], job_title="Five")
    carry_all()
    assert state_of(bobs, share) == "active"
    _edit_in_one_write(bob, people[:6], job_title="Six")
    carry_all()
    (row,) = held_rows(alices, share)
    assert (row["count"], person_of(alice, people[0]).job_title) == (6, "Five")
    decide(alices, share, "refuse")
    carry_all()
    titles = [Person.objects.owned_by(bob).get(pk=person.pk).job_title for person in people[:7]]
    assert titles == ["Five"] * 5 + [None] * 2


def test_a_fifth_of_a_larger_share(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    people = [add_person(alice, name=f"P{number}") for number in range(40)]
    carry_all()
    _edit_in_one_write(alice, people[:8], nickname="Eight")
    carry_all()
    assert state_of(_client(alice), share) == "active"
    _edit_in_one_write(alice, people[:9], nickname="Nine")
    carry_all()
    assert state_of(_client(alice), share) == "held"
    assert [row["count"] for row in held_rows(bobs, share)] == [9]


def test_additions_are_never_held(alice: User, bob: User, bobs: Client) -> None:
    share, _ = _share_ten(alice, bob)
    put_into_group(bob, *(make_person(bob, name=f"New{number}") for number in range(30)))
    carry_all()
    assert state_of(bobs, share) == "active"
    assert len(group_people(alice)) == 40


def test_what_others_change_still_comes_in(alice: User, bob: User, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _edit_in_one_write(bob, people[:6], job_title="Mine")
    carry_all()
    edit(alice, person_of(alice, people[9]), nickname="Theirs")
    add_person(alice, name="Newcomer")
    carry_all()
    assert Person.objects.owned_by(bob).get(pk=people[9].pk).nickname == "Theirs"
    assert "Newcomer" in group_people(bob)
    assert state_of(bobs, share) == "held"


def test_whoever_is_added_meanwhile_goes_out(alice: User, bob: User, alices: Client, bobs: Client, media: Any) -> None:
    share, people = _share_ten(alice, bob)
    leave_group(bob, people[9])
    carry_all()
    with account_write(bob):
        _delete(bob, people[:6])
        add_person(bob, name="Of the write")
    carry_all()
    own, friend = add_person(bob, name="Own"), add_person(bob, name="Friend")
    set_person_photo(owner_id=bob.pk, person_id=own.pk, picture=picture(), now=timezone.now())
    create_relationship(
        owner=bob, person_id=own.pk, related_person_id=friend.pk, type_id=None, now=timezone.now(), content={}
    )
    put_into_group(bob, people[9])
    carry_all()
    assert state_of(bobs, share) == "held"
    names = {f"P{number}" for number in range(10)}
    assert set(group_people(alice)) == names | {"Own", "Friend"}
    assert Relationship.objects.owned_by(alice).visible().count() == 2
    assert SharedPerson.unscoped.rows().get(uid=people[9].uid).out_by is None
    assert person_of(alice, own).photo
    decide(alices, share, "refuse")
    carry_all()
    own.refresh_from_db()
    assert own.photo
    assert Relationship.objects.owned_by(bob).visible().count() == 2
    assert set(group_people(alice)) == set(group_people(bob)) == names | {"Own", "Friend", "Of the write"}


def test_a_larger_write_of_those_who_were_added_meanwhile_waits(alice: User, bob: User, alices: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    new = [add_person(bob, name=f"New{number}", nickname="N") for number in range(8)]
    carry_all()
    assert person_of(alice, new[0]).nickname == "N"
    _edit_in_one_write(bob, new, nickname="M")
    carry_all()
    assert person_of(alice, new[0]).nickname == "N"
    assert [row["count"] for row in held_rows(alices, share)] == [14]
    decide(alices, share, "refuse")
    carry_all()
    assert {person_of(user, person).nickname for person in new for user in (alice, bob)} == {"N"}


def test_whoever_puts_it_back_is_not_held_any_more(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    owner = User.objects.get(pk=bob.pk)
    restore_person(owner=owner, person=Person.objects.owned_by(bob).get(pk=people[0].pk), now=timezone.now())
    carry_all()
    assert (state_of(bobs, share), held_rows(alices, share)) == ("active", [])
    assert SharedCopy.objects.owned_by(alice).filter(reason=Reason.TAKEN_OUT).count() == 5


def test_more_of_it_is_counted_too(alice: User, bob: User, alices: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    _delete(bob, people[6:8])
    carry_all()
    assert [row["count"] for row in held_rows(alices, share)] == [8]


def test_a_pause_does_not_lift_it(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    assert bobs.ok("PUT", f"/api/shares/{share.pk}", {"paused": True})["share"]["state"] == "held"
    carry_all()
    assert bobs.ok("PUT", f"/api/shares/{share.pk}", {"paused": False})["share"]["state"] == "held"
    carry_all()
    assert [row["count"] for row in held_rows(alices, share)] == [6]


def test_answers_and_undo_do_not_count(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    for person in people[:4]:
        edit(bob, person, middle_name="M")
    carry_all()
    entries = alices.ok("GET", f"/api/shares/{share.pk}/log")["entries"]
    for entry in entries:
        if entry["action"] == "changed":
            alices.ok("POST", f"/api/shares/{share.pk}/log/{entry['id']}/undo", {})
    for person in people[4:7]:
        leave_group(bob, person)
    carry_all()
    items = [{"sharedId": str(copy_of(alice, person).shared_id), "action": "remove"} for person in people[4:7]]
    assert alices.ok("POST", f"/api/shares/{share.pk}/waiting", {"items": items})["done"] == 3
    carry_all()
    assert (state_of(alices, share), state_of(bobs, share)) == ("active", "active")
    for person in people[7:]:
        leave_group(alice, person_of(alice, person))
    carry_all()
    assert state_of(alices, share) == "active"


def test_two_are_held_and_one_is_decided(alice: User, bob: User, carol: User, alices: Client) -> None:
    share, people = _share_ten(alice, bob, carol)
    _delete(bob, people[:6])
    _delete(carol, [person_of(carol, person) for person in people[:6]])
    carry_all()
    rows = held_rows(alices, share)
    assert sorted(row["by"] for row in rows) == ["Bob", "Carol"]
    assert decide(alices, share, "refuse", 400, sharedId=5)["code"] == "invalid"
    decide(alices, share, "refuse", 409, sharedId=str(membership_of(alice).pk))
    decide(alices, share, "refuse", sharedId=rows[0]["sharedId"])
    assert held_rows(alices, share) == rows[1:]
    decide(alices, share, "refuse")
    carry_all()
    assert group_people(bob) == group_people(carol) == group_people(alice)


def test_who_may_decide(alice: User, bob: User, alices: Client, stranger: Client) -> None:
    share, _ = _share_ten(alice, bob)
    assert decide(alices, share, "accept", 409)["code"] == "not_held"
    assert decide(alices, share, "maybe", 400)["code"] == "invalid"
    decide(stranger, share, "accept", 404)


def test_the_writes_of_a_batch_are_one(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    changes = [
        {"method": "PUT", "path": f"/api/people/{person.pk}", "body": {"jobTitle": "Countess"}} for person in people[:6]
    ]
    bobs.ok("POST", "/api/batch", {"operations": changes})
    carry_all()
    assert (state_of(bobs, share), [row["count"] for row in held_rows(alices, share)]) == ("held", [6])


def test_relationships_and_dates_come_back(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    for number in range(0, 6, 2):
        body = {"personId": str(people[number].pk), "relatedPersonId": str(people[number + 1].pk)}
        bobs.ok("POST", "/api/relationships", body)
    day = {"type": "BIRTHDAY", "title": None, "date": dt.date(1815, 12, 10), "year_unknown": False}
    edit(bob, people[9], important_dates=[day])
    carry_all()
    with account_write(bob):
        for row in Relationship.objects.owned_by(bob).visible():
            if row.person_id < row.related_person_id:
                delete_relationship(owner=bob, relationship_id=row.pk, now=timezone.now())
        for person in people[6:9]:
            edit(bob, person, nickname=None)
        edit(bob, people[9], important_dates=[], nickname=None)
    carry_all()
    assert [row["count"] for row in held_rows(alices, share)] == [7]
    decide(alices, share, "refuse")
    carry_all()
    for user in (alice, bob):
        assert Relationship.objects.owned_by(user).visible().count() == 6
        assert ImportantDate.objects.owned_by(user).active().get().date == day["date"]
    assert [Person.objects.owned_by(bob).get(pk=person.pk).nickname for person in people] == ["N"] * 10


def test_who_leaves_is_held_no_more(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    bobs.ok("DELETE", f"/api/shares/{share.pk}/membership")
    carry_all()
    assert held_rows(alices, share) == []
    assert decide(alices, share, "refuse", 409)["code"] == "not_held"


def test_a_conflict_of_somebody_held_sends_nothing(alice: User, bob: User, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    edit(alice, person_of(alice, people[0]), nickname="Ours")
    edit(bob, people[0], nickname="Theirs")
    carry_all()
    (conflict,) = bobs.ok("GET", f"/api/shares/{share.pk}/conflicts")["conflicts"]
    _edit_in_one_write(bob, people[:6], job_title="Countess")
    carry_all()
    bobs.ok("POST", f"/api/share-conflicts/{conflict['id']}/resolve", {"resolution": "keep_remote"})
    carry_all()
    assert person_of(alice, people[0]).job_title is None
    assert bobs.ok("GET", f"/api/shares/{share.pk}/conflicts")["conflicts"] == []
    Hold.unscoped.rows().update(state="accepted")
    edit(bob, people[9], nickname="Next")
    carry_all()
    assert (person_of(alice, people[0]).job_title, person_of(bob, people[0]).nickname) == ("Countess", "Ours")


def test_nobody_alone_is_held(alice: User, bob: User, alices: Client, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    _delete(bob, people[:6])
    carry_all()
    assert state_of(bobs, share) == "held"
    alices.ok("DELETE", f"/api/shares/{share.pk}/membership")
    carry_all()
    assert state_of(bobs, share) == "active"
    _delete(bob, people[6:])
    carry_all()
    assert state_of(bobs, share) == "active"


def test_a_field_that_is_public_again_is_no_change(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    with account_write(bob):
        people = [add_person(bob, name=f"P{number}", notes="Secret") for number in range(10)]
    carry_all()
    assert not person_of(alice, people[0]).notes
    _client(alice).ok("PUT", f"/api/shares/{share.pk}", {"private": []})
    carry_all()
    bobs.ok("PUT", f"/api/shares/{share.pk}", {"private": []})
    carry_all()
    assert state_of(bobs, share) == "active"
    assert person_of(alice, people[0]).notes == "Secret"
    _edit_in_one_write(bob, people[:6], notes="Other")
    carry_all()
    assert state_of(bobs, share) == "held"


def test_what_comes_from_one_share_is_not_held_in_another(alice: User, bob: User, carol: User, bobs: Client) -> None:
    share, people = _share_ten(alice, bob)
    hers = [person_of(alice, person) for person in people]
    other = share_people(bob, carol, name="Club")
    put_into_group(bob, *people, share=other)
    carry_all()
    for person in hers:
        edit(alice, person, job_title="Countess")
    carry_all()
    assert (state_of(bobs, share), state_of(bobs, other)) == ("active", "active")
    found = Person.objects.owned_by(carol).filter(job_title="Countess")
    assert found.count() == 10


def test_pictures_and_ties_of_those_who_were_added_are_not_held(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    with account_write(bob):
        people = [add_person(bob, name=f"P{number}") for number in range(16)]
        for one, two in zip(people[::2], people[1::2], strict=True):
            create_relationship(
                owner=bob, person_id=one.pk, related_person_id=two.pk, type_id=None, now=timezone.now(), content={}
            )
    carry_account(bob.pk, max_batches=1)
    edit(bob, people[0], nickname="Meanwhile")
    carry_all()
    assert state_of(bobs, share) == "active"
    assert Relationship.objects.owned_by(alice).visible().count() == 16
