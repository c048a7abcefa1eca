"""The database and the managers refuse what crosses accounts."""

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import UnscopedQueryError
from contacts_project.kernel.ownership.triggers import owner_triggers
from people.models import Group, Membership, Person
from tests.builders import make_person


def test_row_cannot_refer_to_a_row_of_another_account(alice: User, mallory: User) -> None:
    group = Group.objects.create(owner=alice, name="Friends", name_key="friends", color="#000000")
    person = Person.objects.create(owner=mallory, name="Eve")
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(owner=mallory, person=person, group=group)


def test_row_cannot_be_moved_to_another_account(alice: User, mallory: User) -> None:
    group = Group.objects.create(owner=alice, name="Friends", name_key="friends", color="#000000")
    person = Person.objects.create(owner=alice, name="Eve")
    membership = Membership.objects.create(owner=alice, person=person, group=group)
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.unscoped.filter(pk=membership.pk).update(owner=mallory)


def test_query_without_owner_is_refused() -> None:
    with pytest.raises(UnscopedQueryError):
        Person.objects.filter(name="Eve")  # type: ignore[attr-defined]  # the types say so too


def test_every_foreign_key_between_owned_tables_has_a_trigger(db: None) -> None:
    assert list(owner_triggers())
    assert missing_triggers() == []


def test_a_bulk_update_leaves_rows_of_others_alone(alice: User, mallory: User) -> None:
    ours, hers = make_person(alice, name="Ada"), make_person(mallory, name="Agnes")
    ours.name = hers.name = "Eve"
    with account_write(alice):
        assert Person.objects.owned_by(alice).bulk_update([ours, hers], ["name"]) == 1
        assert Person.objects.owned_by(alice).bulk_update([], ["name"]) == 0
    assert sorted(Person.unscoped.values_list("name", flat=True)) == ["Agnes", "Eve"]
