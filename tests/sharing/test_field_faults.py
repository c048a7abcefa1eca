"""What goes wrong in other systems that share people."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from people.merging.merge import merge_people
from people.merging.undo import undo_merge
from people.models import MergeRecord, Person
from sharing.models import CopyState, Reason, SharedCopy
from tests.client import client_of
from tests.dav.devices import Device, card
from tests.sharing.conftest import (
    add_person,
    carry_all,
    edit,
    group_people,
    join_share,
    make_share,
    person_of,
    put_into_group,
    share_people,
)


def test_a_phone_deletes_all_of_its_cards(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    for number in range(12):
        add_person(alice, name=f"P{number}xq", surname=f"{number}Zyx")
    carry_all()
    phone = Device(bob)
    for href in list(phone.sync("", "d:getetag").entries):
        assert phone.call("DELETE", href).status_code == 204
        carry_all()
    assert not Person.objects.owned_by(bob).active().exists()
    assert len(group_people(alice)) == 12
    # One after another: the first five ask, the rest is held.
    asked = SharedCopy.objects.owned_by(alice).filter(reason=Reason.TAKEN_OUT).count()
    assert asked <= 5
    client = client_of(alice)
    client.reader = None
    rows = client.ok("GET", f"/api/shares/{share.pk}/waiting")["waiting"]
    assert [row["count"] for row in rows if row["reason"] == "held"] == [12 - asked]
    client.ok("POST", f"/api/shares/{share.pk}/held", {"action": "refuse"})
    carry_all()
    assert len(group_people(bob)) == 12 - asked
    assert len(group_people(alice)) == 12


def test_one_nextcloud_gave_both_the_same_uid(alice: User, bob: User) -> None:
    """They link by it, whatever the names."""
    text = card(
        "TEL:+43 660 1", head="BEGIN:VCARD\r\nVERSION:3.0\r\nUID:nextcloud-7\r\nN:Lovelace;Ada;;;\r\nFN:A L\r\n"
    )
    for user, name in ((alice, "Ada"), (bob, "Augusta")):
        assert Device(user).put("x.vcf", text.replace(";Ada", f";{name}")).status_code == 201
    own, others = (Person.objects.owned_by(user).get() for user in (alice, bob))
    share = share_people(alice, bob)
    for user, person in ((alice, own), (bob, others)):
        put_into_group(user, person)
        carry_all()
    assert person_of(bob, own) == others
    assert Person.objects.owned_by(bob).active().count() == 1
    assert share.people.count() == 1


def test_both_have_grandma_already(alice: User, bob: User) -> None:
    share = make_share(alice).share
    add_person(alice, name="Rosa", surname="Huber", emails=[{"type": "home", "email": "rosa@example.org"}])
    carry_all()
    join_share(share, bob)
    add_person(bob, name="Rosa", surname="Huber", phone_numbers=[{"type": "home", "number": "+43 660 5"}])
    grandma = Person.objects.owned_by(bob).get()
    edit(bob, grandma, emails=[{"type": "work", "email": "rosa@example.org"}])
    carry_all()
    assert Person.objects.owned_by(bob).active().count() == 1
    grandma.refresh_from_db()
    assert [(entry["type"], entry["email"]) for entry in grandma.emails] == [("work", "rosa@example.org")]
    own = Person.objects.owned_by(alice).get()
    assert [entry["number"] for entry in own.phone_numbers] == ["+43 660 5"]


def test_an_undone_merge_with_somebody_who_is_not_shared(alice: User, bob: User) -> None:
    """The shared person is who it was; the other one does not stay in its place."""
    share_people(alice, bob)
    ada = add_person(alice, name="Ada", surname="Byron")
    carry_all()
    copy: Any = person_of(bob, ada)
    grace = _own(alice, "Grace")
    merge_people(owner=alice, primary_id=grace.pk, secondary_id=ada.pk, overrides={}, now=timezone.now())
    carry_all()
    copy.refresh_from_db()
    assert copy.name == "Grace"
    undo_merge(owner=alice, merge_id=MergeRecord.objects.owned_by(alice).get().pk, now=timezone.now())
    carry_all()
    copy.refresh_from_db()
    assert (copy.name, copy.surname) == ("Ada", "Byron")
    assert person_of(bob, ada) == copy
    states = dict(SharedCopy.objects.owned_by(alice).values_list("person_id", "state"))
    assert states[ada.pk] == CopyState.LINKED


def _own(user: User, name: str) -> Person:
    key = client_of(user).ok("POST", "/api/people", {"name": name}, status=201)["person"]["id"]
    return Person.objects.owned_by(user).get(pk=key)
