"""The account lock: one transaction, one revision, however many services a write passes."""

import pytest

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write, current_write
from people.models import Person
from tests.builders import make_person
from tests.client import Client


def revision_of(user: User) -> int:
    return User.objects.values_list("revision", flat=True).get(pk=user.pk)


def test_nested_write_joins_the_outer_one(alice: User) -> None:
    alice.refresh_from_db()
    before = revision_of(alice)
    with account_write(alice) as outer, account_write(alice.pk) as inner:
        assert (inner.owner_id, inner.revision, inner.now) == (outer.owner_id, outer.revision, outer.now)
        assert outer.revision == before + 1
        assert current_write(alice.pk) is outer
        assert outer.is_fresh
        assert not inner.is_fresh
    assert revision_of(alice) == before + 1
    assert current_write(alice.pk) is None


def test_writes_of_two_accounts_are_separate(alice: User, mallory: User) -> None:
    with account_write(alice) as hers, account_write(mallory) as his:
        assert (hers.owner_id, his.owner_id) == (alice.pk, mallory.pk)


def test_error_in_a_nested_write_rolls_back_everything_even_if_caught(alice: User) -> None:
    before = revision_of(alice)
    with account_write(alice):
        Person.objects.create(owner=alice, name="Ada")
        with pytest.raises(ValueError), account_write(alice):
            raise ValueError
    assert revision_of(alice) == before
    assert not Person.objects.owned_by(alice).exists()


def test_write_of_a_deleted_account_is_refused(alice: User) -> None:
    key = alice.pk
    alice.delete()
    with pytest.raises(AccountGoneError), account_write(key):
        pytest.fail("this must not run")
    assert current_write(key) is None


def test_put_with_all_fields_raises_the_revision_by_one(api: Client, alice: User) -> None:
    group = api.ok("POST", "/api/groups", {"name": "Analysts"}, status=201)["group"]["id"]
    person = make_person(alice)
    before = revision_of(alice)
    body = {"groupIds": [group], "importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10"}], "emails": []}
    api.ok("PUT", f"/api/people/{person.pk}", body)
    assert revision_of(alice) == before + 1
