"""Accounts that do things to people they share, by the API as far as it goes, for histories of the property tests."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_write
from people.contents.contact import load_local_contacts
from people.contents.fields import LISTS, Fields
from people.entries import pair_entries
from people.models import Group, MergeRecord, Person
from people.models.groups import group_key
from people.services.photos import set_person_photo
from sharing.carry.batch import Batch
from sharing.carry.carrier import carry_account
from sharing.carry.contact import local_fields_of
from sharing.carry.pictures import Pictures
from sharing.carry.relations import load_relations
from sharing.decisions import RELATIONS, TRAVELLING
from sharing.models import (
    CopyState,
    Invitation,
    Share,
    ShareConflict,
    SharedCopy,
    SharedPerson,
    ShareMember,
    ShareMembership,
)
from sharing.services.invitations import invite
from sharing.services.leaving import leave_share
from tests.builders import make_user, verify_email
from tests.client import Client, client_of
from tests.pictures import picture
from tests.sharing.test_carry_killed import KilledError, killed_at

ADDRESS = {"type": "home", "streetLine1": "Main 1", "locality": "Graz", "postalCode": "8010", "country": "AT"}


class Member:
    """An account that is, or may be, in the share."""

    def __init__(self, number: int, share_id: str = "") -> None:
        self.user: User = verify_email(make_user(f"m{new_id().hex}@example.org", name=f"M{number}"))
        self.client: Client = client_of(self.user)
        self.client.reader = None  # it reads the names that others share with it
        self.share_id = share_id

    def membership(self) -> ShareMembership | None:
        rows = ShareMembership.objects.owned_by(self.user).current().select_related("group", "member", "share")
        return rows.filter(share=UUID(self.share_id)).first() if self.share_id else None

    def people(self) -> list[Person]:
        return list(Person.objects.owned_by(self.user).active().order_by("pk"))

    def deleted(self) -> list[Person]:
        return list(Person.objects.owned_by(self.user).deleted().order_by("pk"))

    def call(self, method: str, path: str, body: Any = None) -> int:
        """A request that may be refused, but never fails."""
        response = self.client.call(method, path, body)
        assert response.status_code < 500, (method, path, response.content[:500])
        return int(response.status_code)

    def body_of(self, person: Person) -> dict[str, Any]:
        found: dict[str, Any] = self.client.ok("GET", f"/api/people/{person.pk}")["person"]
        return found

    def put(self, person: Person, **fields: Any) -> None:
        self.call("PUT", f"/api/people/{person.pk}", fields)

    def add(self, **fields: Any) -> None:
        row = self.membership()
        groups = {"groupIds": [str(row.group_id)]} if row is not None and row.group_id else {}
        self.call("POST", "/api/people", {**fields, **groups})

    def set_photo(self, person: Person, color: str) -> None:
        set_person_photo(owner_id=self.user.pk, person_id=person.pk, picture=picture(color=color), now=timezone.now())

    def undo_merge(self, pick: int) -> None:
        records = list(MergeRecord.objects.owned_by(self.user).filter(undone_at=None).order_by("pk"))
        if records:
            self.call("POST", f"/api/people/merge/{records[pick % len(records)].pk}/undo")

    def waiting(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.ok("GET", f"/api/shares/{self.share_id}/waiting?limit=500")["waiting"]
        return found

    def answer(self, rows: Sequence[dict[str, Any]], choice: int, **more: Any) -> None:
        """Answer each row with one of the actions that fit."""
        items = [answer for number, row in enumerate(rows) if (answer := _answer(row, choice + number))]
        if items or more:
            items_part = {"items": items} if items else {}
            self.client.ok("POST", f"/api/shares/{self.share_id}/waiting", {**items_part, **more})

    def resolve(self, choice: int) -> int:
        """Resolve the open conflicts; returns how many there were."""
        rows = list(ShareConflict.objects.owned_by(self.user).order_by("pk").values_list("pk", flat=True))
        for key in rows:
            resolution = ("keep_local", "keep_remote", "merged")[choice % 3]
            self.call("POST", f"/api/share-conflicts/{key}/resolve", {"resolution": resolution})
        return len(rows)

    def carry(self, *, max_batches: int = 20) -> None:
        carry_account(self.user.pk, max_batches=max_batches)

    def carry_killed(self, number: int) -> None:
        with killed_at(number), suppress(KilledError):
            carry_account(self.user.pk)

    def leave(self, people: str) -> None:
        with suppress(DomainError):
            leave_share(owner=self.user, share_id=UUID(self.share_id), people=people, now=timezone.now())

    def shared_fields(self) -> Iterator[tuple[SharedCopy, SharedPerson, Fields, Fields]]:
        """Of each linked person: the copy, its document, the person's field map and what of the document's this
        account can have: no relationships with people who are not here."""
        row = self.membership()
        if row is None:
            return
        batch = Batch(self.user, row, row.share, row.member, timezone.now(), _no_write, Pictures())
        copies = list(batch.linked().filter(person__deleted_at=None).order_by("pk"))
        documents = SharedPerson.unscoped.rows().in_bulk([copy.shared_id for copy in copies])
        contacts = load_local_contacts(self.user, [copy.person_id for copy in copies if copy.person_id])
        relations = load_relations(batch, copies, documents)
        for copy in copies:
            assert copy.person_id
            assert copy.shared_id
            document = documents[copy.shared_id]
            local = local_fields_of(contacts[copy.person_id], [entry for entry, _ in relations.entries_of(copy)])
            here = [entry for entry in document.fields[RELATIONS] if entry["person"] in relations.people]
            yield copy, document, local, {**document.fields, RELATIONS: here}


def _no_write() -> Any:
    raise AssertionError("reading writes nothing")


def _answer(row: dict[str, Any], choice: int) -> dict[str, Any] | None:
    candidates = row.get("candidates") or []
    actions: dict[str, list[str]] = {
        "proposed": ["accept", "create", "skip", "accept"],
        "unsure": ["create", "link", "skip", "link"],
        "taken_out": ["keep", "remove"],
        "merged": ["accept", "keep", "remove"],
        "plan_limit": ["create"],
    }
    if row["reason"] not in actions:
        return None
    action = actions[row["reason"]][choice % len(actions[row["reason"]])]
    item = {"sharedId": row["sharedId"], "action": action}
    if action == "link":
        if not candidates:
            return None
        item["personId"] = candidates[choice % len(candidates)]["personId"]
    return item


class Household:
    """A share with its host, and accounts that join."""

    def __init__(self, number: int) -> None:
        self.members = [Member(index) for index in range(number)]
        host = self.members[0]
        group = _group(host.user)
        share = host.client.ok("POST", "/api/shares", {"name": "Family", "groupId": str(group.pk)}, status=201)["share"]
        self.share_id: str = share["id"]
        for member in self.members:
            member.share_id = self.share_id

    @property
    def share(self) -> Share:
        found: Share = Share.unscoped.rows().get(pk=self.share_id)
        return found

    def joined(self) -> list[Member]:
        return [member for member in self.members if member.membership() is not None]

    def join(self, member: Member, **settings: Any) -> None:
        host = ShareMember.unscoped.rows().filter(share=self.share_id, is_host=True).first()
        if member.membership() is not None or host is None:
            return
        inviter = host.membership.owner
        invitation: Invitation = invite(
            owner=inviter, share_id=self.share.pk, email=member.user.email, now=timezone.now()
        )
        member.client.ok("POST", f"/api/share-invitations/{invitation.pk}/accept", settings, status=201)

    def carry_all(self) -> None:
        """Carry for everybody until nothing is due."""
        for _ in range(60):
            rows = ShareMembership.unscoped.rows().active().filter(share=self.share_id, paused=False)
            if not any(own or others for own, others in rows.values_list("due_at", "member__due_at")):
                return
            for member in self.members:
                member.carry()
        raise AssertionError("the share does not become quiet")

    def settle(self, choice: int) -> None:
        """Carry and answer everything until nothing is open."""
        for number in range(20):
            self.carry_all()
            answered = [self._answer_all(member, choice + number) for member in self.joined()]
            if True not in answered:
                return
        raise AssertionError([row for member in self.joined() for row in member.waiting()])

    def _answer_all(self, member: Member, choice: int) -> bool:
        waiting = member.waiting()
        row = member.membership()
        assert row is not None
        is_open = bool(waiting) or row.reviewed_at is None
        if row.paused and row.group is not None and row.group.deleted_at is None:
            member.client.ok("PUT", f"/api/shares/{self.share_id}", {"paused": False})
            is_open = True
        if any(one["reason"] == "held" for one in waiting):
            member.call("POST", f"/api/shares/{self.share_id}/held", {"action": ("accept", "refuse")[choice % 2]})
        member.answer(waiting, choice, **({"finish": True} if row.reviewed_at is None else {}))
        return bool(member.resolve(choice)) or is_open

    def revisions(self) -> tuple[Any, ...]:
        people = User.objects.filter(pk__in=[member.user.pk for member in self.members]).order_by("pk")
        return (self.share.sequence, *people.values_list("revision", flat=True))

    def compare_everything(self) -> None:
        """Let each member be carried as if everything had changed."""
        ShareMembership.unscoped.rows().filter(share=self.share_id).update(due_at=timezone.now(), sent_revision=0)
        SharedCopy.unscoped.rows().filter(membership__share=self.share_id, state=CopyState.LINKED).update(is_due=True)
        self.carry_all()


def _group(user: User) -> Group:
    with account_write(user):
        return Group.objects.create(owner=user, name="Kin", name_key=group_key("Kin"), color="#111111")


def differences(local: Fields, document: Fields, private: Sequence[str]) -> dict[str, Any]:
    """The shared fields in which a person is not what the document says."""
    found = {}
    for name in TRAVELLING:
        if name not in private and not _is_equal(name, local[name], document.get(name)):
            found[name] = (local[name], document.get(name))
    return found


def _is_equal(name: str, one: Any, other: Any) -> bool:
    column = {"importantDates": "important_dates", RELATIONS: RELATIONS}.get(name)
    column = LISTS[name].column if name in LISTS else column
    if column is None:
        return (one or None) == (other or None)
    if len(one) != len(other):
        return False
    return None not in pair_entries(column, one, other)
