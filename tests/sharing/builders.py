"""Creates groups and shares through the API."""

from typing import Any

from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person
from people.services.groups import put_members
from sharing.decisions import TRAVELLING
from sharing.models import (
    CopyState,
    Hold,
    LogAction,
    LogEntry,
    Share,
    ShareConflict,
    SharedCopy,
    SharedPerson,
    ShareMember,
    ShareMembership,
)
from tests.builders import make_person
from tests.client import Client


def make_group(client: Client, name: str) -> str:
    """Create a group; returns its id."""
    group: str = client.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"]
    return group


def make_share(client: Client, name: str = "Family", *, group: str = "", **fields: Any) -> dict[str, Any]:
    """Create a share with a group of its own."""
    body = {"name": name, "groupId": make_group(client, group or name), **fields}
    share: dict[str, Any] = client.ok("POST", "/api/shares", body, status=201)["share"]
    return share


def make_shared_person(membership: ShareMembership, name: str) -> dict[str, str]:
    """Somebody of the account in the share, with a conflict and a change in the log; returns the ids of the two."""
    with account_write(membership.owner) as write:
        person: Person = make_person(membership.owner, name=name, nickname="Ned")
        put_members(membership.group, [person.pk], write.now)  # type: ignore[arg-type]  # a new membership has a group
        before, after = {**TRAVELLING, "name": name, "nickname": "Nan"}, {"nickname": "Nat"}
        shared = SharedPerson.objects.create(
            share=membership.share, uid=person.uid, fields={**before, **after}, sequence=1, holders=1
        )
        copy = SharedCopy.objects.create(
            owner=membership.owner,
            membership=membership,
            shared=shared,
            person=person,
            state=CopyState.LINKED,
            base_local=before,
            base_remote=before,
        )
        fields = [{"field": "nickname", "base": "Nan", "local": "Ned", "remote": "Nat"}]
        conflict = ShareConflict.objects.create(owner=membership.owner, membership=membership, copy=copy, fields=fields)
    entry = LogEntry.objects.create(
        share=membership.share,
        by=membership.member,
        by_name=membership.member.name,
        action=LogAction.CHANGED,
        person=shared,
        name_parts={"name": name},
        fields=["nickname"],
        before={"nickname": "Nan"},
        after=after,
    )
    return {"share_conflict": str(conflict.pk), "share_log_entry": str(entry.pk)}


def make_hold(share: Share) -> Hold:
    """What a member without an account has sent and is held."""
    member = ShareMember.objects.create(share=share, name="Other")
    return Hold.objects.create(share=share, member=member, count=10, sequence=1)
