"""Values that both sides have: first meetings, conflicts, privacy, pictures."""

import datetime as dt
from typing import Any

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.contents.merge import Sides, resolve_bases
from people.models import ImportantDate
from people.services.photos import remove_person_photo, set_person_photo
from sharing.carry.batch import batch_of
from sharing.carry.contact import sync_copies
from sharing.carry.copies import link_copy
from sharing.carry.neutral import lock_share
from sharing.models import CopyState, Reason, ShareConflict, SharedCopy, SharedPerson, ShareMembership
from sharing.services.shares import update_share
from tests.builders import make_person
from tests.pictures import picture
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    edit,
    membership_of,
    person_of,
    put_into_group,
    share_people,
)

PHONE = {"type": "mobile", "number": "+43 660 111"}
BORN = dt.date(1815, 12, 10)


def conflict_fields(user: User) -> dict[str, tuple[Any, Any, Any]]:
    row = ShareConflict.objects.owned_by(user).get()
    return {entry["field"]: (entry["base"], entry["local"], entry["remote"]) for entry in row.fields}


def test_edits_of_different_fields_and_entries_survive(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice, phone_numbers=[PHONE])
    carry_all()
    other = person_of(bob, ada)
    edit(alice, ada, job_title="Countess", phone_numbers=[PHONE, {"type": "home", "number": "+43 1 222"}])
    edit(bob, other, organization="Engine", phone_numbers=[{**PHONE, "type": "work"}])
    carry_all()
    ada.refresh_from_db()
    other.refresh_from_db()
    for person in (ada, other):
        assert (person.job_title, person.organization) == ("Countess", "Engine")
        assert {(entry["type"], entry["number"]) for entry in person.phone_numbers} == {
            ("work", "+43 660 111"),
            ("home", "+43 1 222"),
        }
    assert not ShareConflict.unscoped.rows().exists()


def test_the_second_to_reach_the_share_has_the_conflict(alice: User, bob: User, carol: User) -> None:
    share = share_people(alice, bob, carol)
    ada = add_person(alice, job_title="Poet")
    carry_all()
    other = person_of(bob, ada)
    edit(alice, ada, job_title="Countess")
    edit(bob, other, job_title="Analyst")
    carry_all()
    ada.refresh_from_db()
    other.refresh_from_db()
    assert (ada.job_title, other.job_title, person_of(carol, ada).job_title) == ("Countess", "Analyst", "Countess")
    assert conflict_fields(bob) == {"jobTitle": ("Poet", "Analyst", "Countess")}
    assert ShareConflict.objects.owned_by(bob).get().by_id == membership_of(alice).pk
    # Another edit of the same person does not touch what is open.
    edit(alice, ada, nickname="A")
    carry_all()
    other.refresh_from_db()
    assert (other.nickname, other.job_title) == ("A", "Analyst")
    # It ends when the two are alike again.
    edit(alice, ada, job_title="Analyst")
    carry_all()
    assert not ShareConflict.unscoped.rows().exists()
    assert SharedPerson.unscoped.rows().get(share=share).fields["jobTitle"] == "Analyst"


def test_an_answered_conflict_travels(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice, job_title="Poet")
    carry_all()
    edit(alice, ada, job_title="Countess")
    edit(bob, person_of(bob, ada), job_title="Analyst")
    carry_all()
    membership = membership_of(bob)
    with account_write(bob) as write:
        lock_share(membership.share_id)
        copy = copy_of(bob, ada)
        local = {"jobTitle": "Analyst"}
        bases = resolve_bases(
            Sides(copy.base_local, copy.base_remote),
            Sides(local, {"jobTitle": "Countess"}),
            {"jobTitle"},
            keep_local=True,
        )
        copy.base_local, copy.base_remote = bases.local, bases.remote
        batch = batch_of(write, membership)
        assert sync_copies(batch, [copy])
        batch.finish()
    carry_all()
    ada.refresh_from_db()
    assert ada.job_title == "Analyst"
    assert not ShareConflict.unscoped.rows().exists()


def test_a_first_meeting_unites_and_asks(alice: User, bob: User) -> None:
    share_people(alice, bob)
    own = make_person(
        bob, name="Ada", surname="King", uid="u1", emails=[{"id": "1", "type": "home", "email": "a@x.org"}]
    )
    with account_write(bob):
        ImportantDate.objects.create(owner=bob, person=own, type="BIRTHDAY", date=BORN)
        ImportantDate.objects.create(owner=bob, person=own, title="Met", date=BORN)
    day = {"type": "BIRTHDAY", "date": BORN + dt.timedelta(days=1), "year_unknown": False}
    ada = add_person(
        alice,
        uid="u1",
        surname="Lovelace",
        organization="Engine",
        emails=[{"type": "work", "email": "A@X.org"}, {"type": "work", "email": "b@x.org"}],
        important_dates=[day],
    )
    carry_all()
    own.refresh_from_db()
    assert (own.surname, own.organization) == ("King", "Engine")
    assert [(entry["type"], entry["email"]) for entry in own.emails] == [("home", "a@x.org"), ("work", "b@x.org")]
    fields = conflict_fields(bob)
    assert fields.keys() == {"surname", "importantDates"}
    assert fields["surname"] == (None, "King", "Lovelace")
    assert list(ImportantDate.objects.owned_by(bob).active().values_list("date", flat=True)) == [BORN, BORN]
    assert set(ImportantDate.objects.owned_by(alice).active().values_list("title", flat=True)) == {None, "Met"}
    ada.refresh_from_db()
    assert [(entry["type"], entry["email"]) for entry in ada.emails] == [("work", "A@X.org"), ("work", "b@x.org")]
    # A type that differed is no difference; that it changes now is an edit.
    edit(bob, own, emails=[{**own.emails[0], "type": "other"}, own.emails[1]])
    carry_all()
    ada.refresh_from_db()
    assert [(entry["type"], entry["email"]) for entry in ada.emails] == [("other", "A@X.org"), ("work", "b@x.org")]


def test_a_date_changed_to_two_days_is_a_conflict(alice: User, bob: User) -> None:
    share_people(alice, bob)
    day = {"type": "BIRTHDAY", "date": BORN, "year_unknown": False}
    ada = add_person(alice, important_dates=[day])
    carry_all()
    edit(alice, ada, important_dates=[{**day, "date": BORN + dt.timedelta(days=1)}])
    edit(bob, person_of(bob, ada), important_dates=[{**day, "date": BORN + dt.timedelta(days=2)}])
    carry_all()
    assert conflict_fields(bob).keys() == {"importantDates"}
    days = {user.pk: ImportantDate.objects.owned_by(user).active().get().date - BORN for user in (alice, bob)}
    assert days == {alice.pk: dt.timedelta(days=1), bob.pk: dt.timedelta(days=2)}


def test_reminders_of_dates_that_arrive_are_the_members_own(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    with account_write(bob):
        ShareMembership.objects.owned_by(bob).filter(share=share).update(reminders="birthdays")
    day = {"type": "BIRTHDAY", "date": BORN, "year_unknown": False}
    ada = add_person(alice, important_dates=[day])
    carry_all()
    row = ImportantDate.objects.owned_by(bob).get()
    assert row.reminder_enabled
    with account_write(bob):
        ImportantDate.objects.owned_by(bob).update(reminder_lead_days=3)
    edit(alice, ada, important_dates=[{**day, "date": BORN + dt.timedelta(days=1)}])
    carry_all()
    after = ImportantDate.objects.owned_by(bob).get()
    assert (after.pk, after.reminder_lead_days, after.date) == (row.pk, 3, BORN + dt.timedelta(days=1))


def test_a_private_field_neither_goes_nor_comes(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, phone_numbers=[PHONE], notes="mine")
    carry_all()
    set_private(bob, "phoneNumbers", "notes")
    other = person_of(bob, ada)
    edit(alice, ada, phone_numbers=[PHONE, {"type": "home", "number": "+43 1 222"}])
    edit(bob, other, phone_numbers=[PHONE, {"type": "work", "number": "+43 1 333"}])
    carry_all()
    ada.refresh_from_db()
    other.refresh_from_db()
    assert [entry["number"][-3:] for entry in ada.phone_numbers] == ["111", "222"]
    assert [entry["number"][-3:] for entry in other.phone_numbers] == ["111", "333"]
    # Public again: merged three ways.
    set_private(bob, "notes")
    carry_all()
    ada.refresh_from_db()
    other.refresh_from_db()
    for person in (ada, other):
        assert {entry["number"][-3:] for entry in person.phone_numbers} == {"111", "222", "333"}
    assert "mine" not in str(SharedPerson.unscoped.rows().get(share=share).fields)


def set_private(user: User, *names: str) -> None:
    with account_write(user):
        rows = ShareMembership.objects.owned_by(user)
        rows.update(private=list(names), sent_revision=0, due_at=timezone.now())


def test_pictures_travel(alice: User, bob: User, media: Any) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(), now=timezone.now())
    carry_all()
    other = person_of(bob, ada)
    ada.refresh_from_db()
    assert ada.photo
    assert other.photo
    assert other.photo.partition("-")[0] == ada.photo.partition("-")[0]
    assert not SharedCopy.unscoped.rows().filter(is_due=True).exists()
    remove_person_photo(owner_id=bob.pk, person_id=other.pk, now=timezone.now())
    carry_all()
    ada.refresh_from_db()
    assert ada.photo is None


def test_nobody_goes_out_before_the_review_is_finished(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    membership = membership_of(bob)
    with account_write(bob):
        ShareMembership.objects.owned_by(bob).update(reviewed_at=None)
    own = make_person(bob, name="Ada", surname="King", uid="u1")
    charles = make_person(bob, name="Charles", surname="Babbage")
    put_into_group(bob, own, charles)
    add_person(alice, uid="u1", surname="King")
    add_person(alice, name="Mary", surname="Somerville")
    carry_all()
    copies = SharedCopy.objects.owned_by(bob).order_by("pk")
    assert [(copy.state, copy.reason, copy.person_id) for copy in copies] == [
        (CopyState.WAITING, Reason.PROPOSED, own.pk),
        (CopyState.WAITING, Reason.PROPOSED, None),
    ]
    assert SharedPerson.unscoped.rows().count() == 2
    with account_write(bob):
        ShareMembership.objects.owned_by(bob).update(reviewed_at=timezone.now(), sent_revision=0, due_at=timezone.now())
    carry_all()
    # Whom an open item names stays at home; all others of the group go out.
    assert SharedPerson.unscoped.rows().filter(share=share).count() == 3
    with account_write(bob) as write:
        lock_share(membership.share_id)
        link_copy(write, membership, copies[0], own)
    carry_all()
    assert SharedPerson.unscoped.rows().filter(share=share).count() == 3
    assert copy_of(bob, own).state == CopyState.LINKED


def test_what_becomes_private_is_in_conflict_no_more(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, phone_numbers=[PHONE])
    carry_all()
    edit(alice, ada, phone_numbers=[{**PHONE, "type": "work"}])
    edit(bob, person_of(bob, ada), phone_numbers=[{**PHONE, "type": "home"}])
    carry_all()
    assert conflict_fields(bob).keys() == {"phoneNumbers"}
    owner = User.objects.get(pk=bob.pk)
    update_share(owner=owner, share_id=share.pk, data={"private": ["phoneNumbers"]}, now=timezone.now())
    carry_all()
    assert not ShareConflict.unscoped.rows().exists()
    assert person_of(bob, ada).phone_numbers[0]["type"] == "home"
