"""What becomes of a hold is carried out in full, wherever the worker was killed, and decided once."""

from functools import partial

import pytest
from django.utils import timezone

from accounts.models import User
from people.services.people import delete_people
from sharing.models import Hold, HoldState, Reason, SharedCopy, SharedPerson
from sharing.services.held import NotHeldError, decide_holds
from tests.builders import make_user
from tests.concurrency import run_concurrently
from tests.sharing.conftest import add_person, carry_all, group_people, person_of, share_people
from tests.sharing.test_carry_killed import carry_killed, shown


def _hold_six(alice: User, bob: User) -> None:
    """Bob has deleted six of the seven people that Alice shares with him: that is held."""
    people = [add_person(alice, name=f"P{number}", nickname="N") for number in range(7)]
    carry_all()
    gone = [person_of(bob, person).pk for person in people[:6]]
    delete_people(owner=bob, person_ids=gone, options={}, now=timezone.now())


@pytest.mark.split
@pytest.mark.parametrize("decision", [HoldState.REFUSED, HoldState.ACCEPTED])
def test_a_worker_that_is_killed(alice: User, bob: User, decision: HoldState) -> None:
    share = share_people(alice, bob)
    _hold_six(alice, bob)
    assert carry_killed(bob)
    assert Hold.unscoped.rows().get().count == 6
    decide_holds(owner=User.objects.get(pk=alice.pk), share_id=share.pk, decision=decision, hold_id=None)
    assert carry_killed(bob)
    carry_all()
    assert Hold.unscoped.rows().get().done_at is not None
    assert len(group_people(alice)) == 7
    if decision == HoldState.REFUSED:
        assert shown(bob) == shown(alice)
        assert SharedPerson.unscoped.rows().filter(holders=2).count() == 7
    else:
        assert group_people(bob) == ["P6"]
        assert SharedCopy.objects.owned_by(alice).filter(reason=Reason.TAKEN_OUT).count() == 6


@pytest.mark.django_db(transaction=True)
def test_one_of_two_decides() -> None:
    users = [make_user(f"{name}@example.org", name=name) for name in ("Ada", "Bea", "Cid")]
    share = share_people(*users)
    _hold_six(users[0], users[1])
    carry_all()
    refused: list[User] = []

    def decide(user: User, decision: HoldState) -> None:
        owner = User.objects.get(pk=user.pk)
        try:
            decide_holds(owner=owner, share_id=share.pk, decision=decision, hold_id=None)
        except NotHeldError:
            refused.append(user)

    run_concurrently(
        partial(decide, users[0], HoldState.REFUSED),
        partial(decide, users[2], HoldState.ACCEPTED),
    )
    assert len(refused) == 1
    carry_all()
    decision = Hold.unscoped.rows().get().state
    assert len(group_people(users[1])) == (7 if decision == HoldState.REFUSED else 1)
