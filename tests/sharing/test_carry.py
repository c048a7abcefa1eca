"""Plain edits, new people, out and back, between two and three accounts."""

from itertools import product

from django.utils import timezone

from accounts.models import User
from people.models import ImportantDate, Person
from people.services.people import delete_people, restore_person
from sharing.models import CopyState, LogAction, LogEntry, Reason, SharedCopy, SharedPerson
from tests.builders import make_person
from tests.client import client_of
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

PHONE = {"type": "mobile", "number": "+43 660 111"}


def test_a_new_person_is_with_the_others(alice: User, bob: User, carol: User) -> None:
    share_people(alice, bob, carol)
    day = {"type": "BIRTHDAY", "date": timezone.now().date(), "year_unknown": False}
    ada = add_person(alice, surname="Lovelace", phone_numbers=[PHONE], notes="secret", important_dates=[day])
    carry_all()
    for user in (bob, carol):
        other = person_of(user, ada)
        assert (other.name, other.surname, other.notes, other.uid) == ("Ada", "Lovelace", None, ada.uid)
        assert [entry["number"] for entry in other.phone_numbers] == ["+43 660 111"]
        assert ImportantDate.objects.owned_by(user).get(person=other).reminder_enabled is False
        assert group_people(user) == ["Ada"]
    assert [row.action for row in LogEntry.unscoped.rows()] == [LogAction.ADDED]


def test_an_edit_travels_both_ways(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    edit(bob, person_of(bob, ada), organization="Engine", phone_numbers=[PHONE])
    carry_all()
    ada.refresh_from_db()
    assert (ada.organization, ada.phone_numbers[0]["number"]) == ("Engine", "+43 660 111")
    edit(alice, ada, phone_numbers=[{**PHONE, "number": "+43 660 222"}], job_title="Countess")
    carry_all()
    other = person_of(bob, ada)
    assert ([entry["number"] for entry in other.phone_numbers], other.job_title) == (["+43 660 222"], "Countess")


def test_quiet_carries_raise_no_revision(alice: User, bob: User) -> None:
    share_people(alice, bob)
    add_person(alice)
    carry_all()
    before = dict(User.objects.values_list("pk", "revision"))
    assert carry_all() == 0
    assert dict(User.objects.values_list("pk", "revision")) == before


def test_what_never_travels_does_not(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    edit(
        alice,
        ada,
        notes="secret",
        favourite=True,
        quiet=True,
        display_name_override="Addie",
        card_dav_sync_enabled=False,
    )
    carry_all()
    other = person_of(bob, ada)
    assert (other.notes, other.favourite, other.quiet, other.display_name_override) == (None, False, False, None)
    assert other.card_dav_sync_enabled
    assert "secret" not in str(list(SharedPerson.unscoped.rows().values()))


def test_whoever_leaves_the_group_is_asked_about(alice: User, bob: User, carol: User) -> None:
    share_people(alice, bob, carol)
    ada = add_person(alice)
    carry_all()
    leave_group(alice, ada)
    carry_all()
    assert copy_of(alice, ada).state == CopyState.OUT
    for user in (bob, carol):
        copy = copy_of(user, ada)
        assert (copy.state, copy.reason, copy.by_id) == (CopyState.LINKED, Reason.TAKEN_OUT, membership_of(alice).pk)
    edit(bob, person_of(bob, ada), nickname="A")
    carry_all()
    ada.refresh_from_db()
    assert (ada.nickname, person_of(carol, ada).nickname) == (None, "A")


def test_whoever_comes_back_is_the_same_shared_person(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    leave_group(alice, ada)
    carry_all()
    edit(bob, person_of(bob, ada), nickname="A")
    carry_all()
    put_into_group(alice, ada)
    carry_all()
    ada.refresh_from_db()
    assert ada.nickname == "A"
    assert copy_of(bob, ada).reason == ""
    assert SharedPerson.unscoped.rows().count() == 1


def test_the_trash_takes_out_and_a_restore_brings_back(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    delete_people(owner=alice, person_ids=[ada.pk], options={}, now=timezone.now())
    carry_all()
    other = copy_of(bob, ada)
    assert (other.reason, other.person.deleted_at if other.person else 0) == (Reason.TAKEN_OUT, None)
    owner = User.objects.get(pk=alice.pk)
    restore_person(owner=owner, person=Person.objects.owned_by(owner).get(pk=ada.pk), now=timezone.now())
    carry_all()
    assert copy_of(alice, ada).state == CopyState.LINKED
    assert copy_of(bob, ada).reason == ""


def test_the_last_one_out_ends_the_shared_person(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    leave_group(alice, ada)
    leave_group(bob, person_of(bob, ada))
    carry_all()
    assert SharedPerson.unscoped.rows().get().is_gone


def test_who_has_the_uid_is_linked(alice: User, bob: User, carol: User) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, uid="one@nextcloud", organization="Engine")
    own = make_person(bob, name="Ada L.", uid="one@nextcloud")
    carry_all()
    assert SharedCopy.objects.owned_by(bob).get(membership__share=share).person_id == own.pk
    own.refresh_from_db()
    assert own.organization == "Engine"
    assert own.name == "Ada L."
    assert ada.name == "Ada"


def test_many_people_go_in_batches(alice: User, bob: User) -> None:
    share_people(alice, bob)
    for first, second in product("BDGKLMRT", "aeiouy"):
        add_person(alice, name=f"{first}{second}{second}x{first}", surname=f"{second}v{first}{second}")
    carry_all()
    assert [*SharedCopy.objects.owned_by(bob).values_list("reason", flat=True).distinct()] == [""]
    assert len(group_people(bob)) == 48
    assert SharedPerson.unscoped.rows().filter(holders=2).count() == 48


def test_a_phonetic_name_is_in_no_name_of_the_log(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    add_person(alice, name="花子", surname="山田", phonetic_name="はなこ", phonetic_surname="やまだ")
    carry_all()
    client = client_of(User.objects.get(pk=bob.pk))
    client.reader = None  # what alice shares is in the answer
    [entry] = client.ok("GET", f"/api/shares/{share.pk}/log")["entries"]
    assert (entry["action"], entry["personName"]) == ("added", "山田花子")
