"""The invariants of shares hold after every kind of carry, and each finds what a test breaks."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.services.people import delete_people
from sharing.models import CopyState, Share, ShareConflict, SharedCopy, SharedPerson, ShareMember, ShareMembership
from tests.sharing.conftest import add_person, carry_all, edit, leave_group, make_share, person_of, share_people
from tests.sharing.test_carry_relations import relate


def make_history(alice: User, bob: User, carol: User) -> SharedPerson:
    """Edits, a conflict, people taken out by one and by all; returns the document that is in conflict."""
    share_people(alice, bob, carol)
    ada, byron, mary = add_person(alice), add_person(alice, name="Byron"), add_person(bob, name="Mary")
    relate(alice, byron, ada, "PARENT")
    carry_all()
    edit(alice, ada, job_title="Countess")
    edit(bob, person_of(bob, ada), job_title="Analyst")
    leave_group(carol, person_of(carol, byron))
    for user in (alice, bob, carol):
        own = person_of(user, mary)
        delete_people(owner=user, person_ids=[own.pk], options={}, now=timezone.now())
    carry_all()
    copy = ShareConflict.objects.owned_by(bob).get().copy
    assert copy.shared
    return copy.shared


def break_flag(document: SharedPerson) -> object:
    owner = ShareMembership.unscoped.rows().filter(share=document.share_id).earliest("pk").owner
    User.objects.filter(pk=owner.pk).update(is_shared=False)
    return owner.pk


def break_member(document: SharedPerson) -> object:
    row = ShareMembership.unscoped.rows().earliest("pk")
    ShareMember.unscoped.rows().filter(pk=row.pk).update(share=Share.objects.create(name="Other"))
    return row.pk


def break_host(document: SharedPerson) -> object:
    ShareMember.unscoped.rows().update(is_host=False)
    return document.share_id


def break_holders(document: SharedPerson) -> object:
    SharedPerson.unscoped.rows().filter(pk=document.pk).update(holders=7)
    return document.pk


def break_gone(document: SharedPerson) -> object:
    SharedPerson.unscoped.rows().filter(pk=document.pk).update(is_gone=True)
    return document.pk


def break_share(document: SharedPerson) -> object:
    copy = SharedCopy.unscoped.rows().filter(shared=document).earliest("pk")
    other = SharedPerson.objects.create(share=Share.objects.create(name="Other"), uid="x", sequence=0, holders=1)
    SharedCopy.unscoped.rows().filter(pk=copy.pk).update(shared=other)
    return copy.pk


def break_sequence(document: SharedPerson) -> object:
    SharedPerson.unscoped.rows().filter(pk=document.pk).update(sequence=777)
    return document.pk


def break_conflict(document: SharedPerson) -> object:
    row = ShareConflict.unscoped.rows().earliest("pk")
    SharedCopy.unscoped.rows().filter(pk=row.copy_id).update(state=CopyState.OUT)
    return row.pk


def break_fields(document: SharedPerson) -> object:
    SharedPerson.unscoped.rows().filter(pk=document.pk).update(fields={**document.fields, "favourite": True})
    return document.pk


BREAKS: dict[Callable[[SharedPerson], object], str] = {
    break_flag: "accounts are marked as sharing",
    break_member: "memberships have another id",
    break_host: "shares that have not ended",
    break_holders: "shared people have another number of holders",
    break_gone: "shared people have another number of holders",
    break_share: "copies belong to another share",
    break_sequence: "shared people are numbered above",
    break_conflict: "conflicts of shares",
    break_fields: "shared people hold what never travels",
}


def test_they_hold_after_a_history(alice: User, bob: User, carol: User) -> None:
    make_history(alice, bob, carol)
    make_share(bob, "Alone")
    assert [violation.broken for violation in find_violations("share") if violation.number] == []
    assert [violation.broken for violation in find_violations("sharing")] == []


def test_each_finds_what_is_broken(alice: User, bob: User, carol: User) -> None:
    document = make_history(alice, bob, carol)
    missed = []
    for break_it, finding in BREAKS.items():
        with transaction.atomic():
            broken = str(break_it(document))
            found = [example for violation in find_violations(finding) for example in violation.examples]
            if broken not in found:
                missed.append((break_it.__name__, broken, found))
            transaction.set_rollback(True)
    assert missed == []
