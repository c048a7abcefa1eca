"""Merges of people, limits, the same person in two shares, ended accounts."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.merging.merge import merge_people
from people.merging.undo import undo_merge
from people.models import Person
from people.services.groups import delete_group
from people.services.people import delete_people, remove_person
from sharing.carry import outgoing
from sharing.carry.sweep import due_accounts, wake_for_room
from sharing.models import CopyState, Reason, SharedCopy, SharedPerson
from tests.builders import make_person, set_plan_limits
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    edit,
    group_people,
    join_share,
    leave_group,
    make_share,
    membership_of,
    person_of,
    put_into_group,
    share_people,
)


def merge(user: User, kept: Person, gone: Person) -> Any:
    owner = User.objects.get(pk=user.pk)
    return merge_people(owner=owner, primary_id=kept.pk, secondary_id=gone.pk, overrides={}, now=timezone.now())


def test_a_merge_of_two_shared_people_is_asked_about(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada, mary = add_person(alice), add_person(alice, name="Mary", job_title="Poet")
    carry_all()
    record = merge(alice, ada, mary)
    carry_all()
    asked = copy_of(bob, mary)
    assert (asked.state, asked.reason) == (CopyState.LINKED, Reason.MERGED)
    assert asked.candidates == [{"personId": str(person_of(bob, ada).pk), "score": 1.0}]
    assert group_people(bob) == ["Ada", "Mary"]
    assert person_of(bob, ada).job_title == "Poet"
    undo_merge(owner=User.objects.get(pk=alice.pk), merge_id=record.pk, now=timezone.now())
    carry_all()
    assert copy_of(bob, mary).reason == ""
    assert copy_of(alice, mary).state == CopyState.LINKED


def test_whoever_somebody_was_merged_into_takes_the_place(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    own = make_person(alice, name="Augusta", surname="Byron")
    record = merge(alice, own, ada)
    carry_all()
    assert copy_of(bob, own).reason == ""
    assert person_of(bob, own).surname == "Byron"
    assert SharedPerson.unscoped.rows().count() == 1
    undo_merge(owner=User.objects.get(pk=alice.pk), merge_id=record.pk, now=timezone.now())
    carry_all()
    copy = copy_of(alice, ada)
    assert (copy.state, copy.person_id) == (CopyState.LINKED, ada.pk)
    assert copy_of(bob, ada).reason == ""
    assert SharedPerson.unscoped.rows().count() == 1
    ada.refresh_from_db()
    assert (ada.name, person_of(bob, ada).name, person_of(bob, ada).surname) == ("Ada", "Ada", None)


def test_a_merge_into_somebody_who_was_taken_out(alice: User, bob: User) -> None:
    """The one returns by the merge, and the other is merged into it: both of the share, as everybody else has them."""
    share_people(alice, bob)
    ada, mary = add_person(alice), add_person(alice, name="Mary")
    carry_all()
    leave_group(alice, mary)
    carry_all()
    merge(alice, mary, ada)
    carry_all()
    assert group_people(alice) == ["Mary"]
    copies = {copy.person_id: copy.state for copy in SharedCopy.objects.owned_by(alice)}
    assert copies == {mary.pk: CopyState.LINKED, ada.pk: CopyState.OUT}
    asked = copy_of(bob, ada)
    assert (asked.reason, asked.candidates[0]["personId"]) == (Reason.MERGED, str(person_of(bob, mary).pk))
    assert copy_of(bob, mary).reason == ""


def test_who_finds_no_room_in_the_plan_waits(alice: User, bob: User, settings: Any) -> None:
    share_people(alice, bob)
    set_plan_limits(settings, people=2)
    stone = make_person(bob, name="Stone")
    add_person(alice)
    add_person(alice, name="Mary")
    carry_all()
    copies = SharedCopy.objects.owned_by(bob).order_by("pk")
    assert [(copy.state, copy.reason) for copy in copies] == [
        (CopyState.LINKED, ""),
        (CopyState.WAITING, Reason.PLAN_LIMIT),
    ]
    delete_people(owner=bob, person_ids=[stone.pk], options={}, now=timezone.now())
    carry_all()
    assert group_people(bob) == ["Ada", "Mary"]


def test_a_larger_plan_is_found_by_the_sweep(alice: User, bob: User, settings: Any) -> None:
    share_people(alice, bob)
    set_plan_limits(settings, people=1)
    make_person(bob, name="Stone")
    add_person(alice)
    carry_all()
    wake_for_room(now=timezone.now())
    assert due_accounts() == []
    set_plan_limits(settings, people=2)
    wake_for_room(now=timezone.now())
    carry_all()
    assert group_people(bob) == ["Ada"]


def test_who_finds_no_room_in_the_share_waits_at_home(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "MAX_PEOPLE", 1)
    share_people(alice, bob)
    ada, mary = add_person(alice), add_person(alice, name="Mary")
    carry_all()
    waiting = SharedCopy.objects.owned_by(alice).get(state=CopyState.WAITING)
    assert (waiting.reason, waiting.person_id, waiting.shared_id) == (Reason.SHARE_LIMIT, mary.pk, None)
    assert group_people(bob) == ["Ada"]
    edit(alice, mary, nickname="M")
    leave_group(alice, ada)
    leave_group(bob, person_of(bob, ada))
    carry_all()
    assert group_people(bob) == ["Mary"]
    assert not SharedCopy.objects.owned_by(alice).filter(reason=Reason.SHARE_LIMIT).exists()


def test_who_comes_again_into_a_full_share_waits(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "MAX_PEOPLE", 1)
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    leave_group(alice, ada)
    leave_group(bob, person_of(bob, ada))
    carry_all()
    mary = add_person(alice, name="Mary")
    carry_all()
    put_into_group(alice, ada)
    carry_all()
    waiting = SharedCopy.objects.owned_by(alice).get(reason=Reason.SHARE_LIMIT)
    assert (waiting.person_id, group_people(bob)) == (ada.pk, ["Mary"])
    leave_group(alice, mary)
    leave_group(bob, person_of(bob, mary))
    carry_all()
    assert group_people(bob) == ["Ada"]


def test_the_same_person_in_two_shares(alice: User, bob: User, carol: User) -> None:
    family, club = make_share(alice, "Family"), make_share(alice, "Club")
    join_share(family.share, bob)
    join_share(club.share, carol)
    ada = add_person(alice, family.share)
    put_into_group(alice, ada, share=club.share)
    carry_all()
    own = Person.objects.owned_by(bob).get()
    edit(bob, own, job_title="Countess")
    carry_all()
    assert Person.objects.owned_by(carol).get().job_title == "Countess"
    ada.refresh_from_db()
    assert ada.job_title == "Countess"


def test_a_person_removed_for_good_is_out(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    with account_write(alice):
        delete_people(owner=alice, person_ids=[ada.pk], options={}, now=timezone.now())
        remove_person(owner=alice, person_id=ada.pk)
    carry_all()
    assert SharedCopy.objects.owned_by(alice).get().state == CopyState.OUT
    assert SharedCopy.objects.owned_by(bob).get().reason == Reason.TAKEN_OUT


def test_who_is_in_the_trash_with_the_uid_is_restored(alice: User, bob: User) -> None:
    share_people(alice, bob)
    own = make_person(bob, name="Ada", uid="u1")
    delete_people(owner=bob, person_ids=[own.pk], options={}, now=timezone.now())
    add_person(alice, uid="u1", job_title="Countess")
    carry_all()
    restored = Person.objects.owned_by(bob).get()
    assert (restored.pk, restored.deleted_at, restored.job_title) == (own.pk, None, "Countess")


def test_nobody_gets_a_uid_that_somebody_else_has(alice: User, bob: User, carol: User) -> None:
    share_people(alice, bob)
    make_person(bob, name="One", uid="u1")
    make_person(bob, name="Two", uid="u1")
    add_person(alice, uid="u1", name="Zebulon", surname="Quark")
    carry_all()
    copy = SharedCopy.objects.owned_by(bob).get()
    assert (copy.state, copy.reason, len(copy.candidates)) == (CopyState.WAITING, Reason.UNSURE, 2)


def test_a_group_in_the_trash_pauses(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    group = membership_of(bob).group
    assert group is not None
    delete_group(group=group, with_people=False, now=timezone.now())
    carry_all()
    edit(alice, ada, nickname="A")
    carry_all()
    assert membership_of(bob).paused
    assert copy_of(bob, ada).state == CopyState.LINKED
    assert person_of(bob, ada).nickname is None


def test_a_disabled_account_is_passed_over_and_goes_on(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    User.objects.filter(pk=bob.pk).update(is_active=False)
    edit(alice, ada, nickname="A")
    carry_all()
    assert person_of(bob, ada).nickname is None
    User.objects.filter(pk=bob.pk).update(is_active=True)
    carry_all()
    assert person_of(bob, ada).nickname == "A"
