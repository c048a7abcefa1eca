"""Invariants of shares. `manage.py doctor --deep` checks them."""

from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from accounts.models import User
from contacts_project.kernel.invariants import CHUNK_SIZE, invariant, iterate_ids
from sharing.decisions import TRAVELLING
from sharing.models import CopyState, Share, ShareConflict, SharedCopy, SharedPerson, ShareMember, ShareMembership

_CARRY = "The next carry of the share writes this anew: edit one of its people."


@invariant("accounts are marked as sharing and are in no share, or are in one and are not marked")
def find_wrong_flags() -> Iterator[object]:
    active = Exists(ShareMembership.unscoped.rows().active().filter(owner=OuterRef("pk")))
    return iterate_ids(User.objects.filter((Q(is_shared=True) & ~active) | (Q(is_shared=False) & active)))


@invariant("memberships have another id or share than their member")
def find_foreign_members() -> Iterator[object]:
    rows = ShareMembership.unscoped.rows()
    return iterate_ids(rows.filter(~Q(member=F("pk")) | ~Q(member__share=F("share"))))


@invariant("shares that have not ended have members, and no host or several")
def find_shares_without_host() -> Iterator[object]:
    members = ShareMember.unscoped.rows().filter(share=OuterRef("pk"), ended_at=None)
    hosts = members.filter(is_host=True)
    count = Coalesce(Subquery(hosts.order_by().values("share").annotate(n=Count("pk")).values("n")), 0)
    rows = Share.unscoped.rows().filter(Exists(members), ended_at=None)
    return iterate_ids(rows.annotate(hosts=count).exclude(hosts=1))


@invariant("shared people have another number of holders than copies that are linked", hint=_CARRY)
def find_wrong_holders() -> Iterator[object]:
    linked = SharedCopy.unscoped.rows().filter(shared=OuterRef("pk"), state=CopyState.LINKED)
    count = Coalesce(Subquery(linked.order_by().values("shared").annotate(n=Count("pk")).values("n")), 0)
    # The holders of a member whose account was deleted are counted anew by the sweep.
    waiting = ShareMember.unscoped.rows().filter(share=OuterRef("share"), ended_at=None, membership__isnull=True)

    rows = SharedPerson.unscoped.rows().annotate(copies=count).filter(~Exists(waiting))
    return iterate_ids(rows.filter(~Q(holders=F("copies")) | (Q(is_gone=True) & ~Q(holders=0))))


@invariant("copies belong to another share than their membership")
def find_foreign_copies() -> Iterator[object]:
    rows = SharedCopy.unscoped.rows().filter(shared__isnull=False)
    return iterate_ids(rows.exclude(shared__share=F("membership__share")))


@invariant("shared people are numbered above the changes of their share")
def find_future_changes() -> Iterator[object]:
    return iterate_ids(SharedPerson.unscoped.rows().filter(sequence__gt=F("share__sequence")))


@invariant("conflicts of shares are of copies that are not linked")
def find_lost_conflicts() -> Iterator[object]:
    return iterate_ids(ShareConflict.unscoped.rows().exclude(copy__state=CopyState.LINKED))


@invariant("shared people hold what never travels")
def find_untravelled_fields() -> Iterator[object]:
    rows = SharedPerson.unscoped.rows().order_by("pk").values_list("pk", "fields")
    after = None
    while chunk := list((rows.filter(pk__gt=after) if after else rows)[:CHUNK_SIZE]):
        yield from (key for key, fields in chunk if not TRAVELLING.keys() >= fields.keys())
        after = chunk[-1][0]
