"""What an edit costs: the same in a share of many people as in one of few, and with eight members eight times one."""

from collections.abc import Iterable

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.statistics import analyze_tables
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_write
from people.merging.merge import merge_people
from people.models import Membership, Person
from people.models.person import uid_of
from sharing.carry.carrier import carry_account
from sharing.carry.sweep import due_accounts
from sharing.decisions import TRAVELLING
from sharing.models import CopyState, Reason, Share, SharedCopy, SharedPerson, ShareMembership
from tests.builders import make_user
from tests.queries import count_queries, count_work
from tests.sharing.conftest import carry_all, edit, join_share, leave_group, membership_of, put_into_group, share_people

FEW, MANY = 20, 400


def fill(share: Share, users: Iterable[User], number: int) -> None:
    """As many people in the share, linked at every member."""
    members = list(users)
    first = Share.unscoped.rows().get(pk=share.pk).sequence + 1
    documents = [
        SharedPerson(share=share, uid="", fields={**TRAVELLING, "name": f"P{n}"}, sequence=n, holders=len(members))
        for n in range(first, first + number)
    ]
    for document in documents:
        document.uid = uid_of(document.pk)
    SharedPerson.objects.bulk_create(documents)
    last = first + number - 1
    Share.unscoped.rows().filter(pk=share.pk).update(sequence=last)
    for user in members:
        membership = membership_of(user, share)
        with account_write(user) as write:
            people = [Person(id=new_id(), owner=user, name=row.fields["name"], uid=row.uid) for row in documents]
            Person.objects.bulk_create(people)
            Membership.objects.bulk_create(
                Membership(owner=user, person=person, group=membership.group) for person in people
            )
            SharedCopy.objects.bulk_create(
                SharedCopy(
                    owner=user,
                    membership=membership,
                    shared=document,
                    person=person,
                    state=CopyState.LINKED,
                    base_local=document.fields,
                    base_remote=document.fields,
                )
                for document, person in zip(documents, people, strict=True)
            )
        rows = ShareMembership.objects.owned_by(user).filter(pk=membership.pk)
        rows.update(sent_revision=write.revision, received=last)
    carry_all()


def cost_of_an_edit(user: User, name: str) -> tuple[int, int]:
    """The statements and the work of the database until it is with all others."""
    person = Person.objects.owned_by(user).order_by("pk")[0]
    edit(user, person, nickname=name)
    with count_work() as work:
        queries = count_queries(carry_all)
        return queries, work()


def test_an_edit_costs_the_same_in_a_large_share(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    fill(share, (alice, bob), FEW)
    analyze_tables()
    cost_of_an_edit(alice, "First")
    few = cost_of_an_edit(alice, "A")
    fill(share, (alice, bob), MANY)
    analyze_tables()
    many = cost_of_an_edit(alice, "B")
    assert Person.objects.owned_by(bob).filter(nickname="B").count() == 1
    assert many[0] == few[0]
    # An index of twenty times the rows is a level deeper.
    assert many[1] <= few[1] * 1.3


def test_eight_members_cost_seven_times_what_one_other_does(alice: User, bob: User) -> None:
    others = [make_user(f"u{number}@example.org") for number in range(8)]
    fill(share_people(alice, bob), (alice, bob), FEW)
    fill(share_people(*others), others, FEW)
    two, eight = cost_of_an_edit(alice, "A"), cost_of_an_edit(others[0], "A")
    receiving = two[0] / 2
    assert eight[0] <= 8 * receiving * 1.2


def test_a_first_join_needs_statements_by_the_batch(alice: User, bob: User) -> None:
    share = share_people(alice)
    fill(share, (alice,), 50)
    join_share(share, bob)
    assert due_accounts() == [bob.pk]
    queries = count_queries(carry_account, bob.pk)
    assert Person.objects.owned_by(bob).count() == 50
    assert queries < 400


def reads_of_a_carry(user: User) -> int:
    with CaptureQueriesContext(connection) as captured:
        carry_account(user.pk)
    return sum(query["sql"].startswith("SELECT") for query in captured.captured_queries)


def test_those_who_return_or_were_merged_are_read_together(alice: User, bob: User) -> None:
    fill(share_people(alice, bob), (alice, bob), FEW)
    kept, *people = Person.objects.owned_by(alice).order_by("pk")[:5]
    returning, asking = [], []
    for some in (people[:1], people):
        for person in some:
            leave_group(alice, person)
        carry_all()
        put_into_group(alice, *some)
        returning.append(reads_of_a_carry(alice))
        carry_all()
    for some in (people[:1], people[1:]):
        for person in some:
            merge_people(
                owner=User.objects.get(pk=alice.pk),
                primary_id=kept.pk,
                secondary_id=person.pk,
                overrides={},
                now=timezone.now(),
            )
        carry_account(alice.pk)
        asking.append(reads_of_a_carry(bob))
    assert SharedCopy.objects.owned_by(bob).filter(reason=Reason.MERGED).count() == 4
    assert (returning[0], asking[0]) == (returning[1], asking[1])
