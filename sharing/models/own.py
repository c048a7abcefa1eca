"""An account's own side of its shares: settings, copies of shared people, conflicts, and whom it does not want to hear
from."""

from typing import Any, Self
from uuid import UUID

from django.db import models

from accounts.models import User
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.models import (
    FeedModel,
    FeedQuerySet,
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from contacts_project.kernel.vocabularies import Vocabulary
from people.models import Group, Person
from people.names import NameParts, display_name
from sharing.models.neutral import MEMBER_NAME_LENGTH, Share, SharedPerson, ShareMember

MAX_SHARES = 20
"""Of one account."""


def account_name(owner: User) -> str:
    """The account's name as the other members see it."""
    return display_name(NameParts(owner.name, owner.surname), order=owner.name_order)[:MEMBER_NAME_LENGTH]


class Newcomers(Vocabulary):
    """Whether people whom others add come by themselves."""

    AUTO = "auto"
    ASK = "ask"


def default_private() -> list[str]:
    return ["notes"]


class ShareState(Vocabulary):
    """Whether changes go to and fro for this member. `held`: what the member sends waits for another member's word."""

    ACTIVE = "active"
    PAUSED = "paused"
    HELD = "held"


class PrivateField(Vocabulary):
    """What a member may keep to themselves, by its name in the API."""

    NOTES = "notes"
    ADDRESSES = "addresses"
    EMAILS = "emails"
    PHONE_NUMBERS = "phoneNumbers"
    IMPORTANT_DATES = "importantDates"
    PHOTO = "photo"
    CUSTOM_FIELDS = "customFields"
    RELATIONSHIPS = "relationships"


class MembershipQuerySet(TrashQuerySet["ShareMembership"]):
    """Memberships of an account."""

    def current(self) -> Self:
        """Those whose member has not left, and was not removed: the worker has yet to end the row of a removed one."""
        return self.active().filter(member__ended_at=None)

    def find_share(self, share_id: object) -> "ShareMembership":
        """The current membership in this share, with the share and the own member. Raises MissingError."""
        key = share_id if isinstance(share_id, UUID) else parse_id(share_id)
        row = self.current().filter(share=key).select_related("share", "member", "group").first() if key else None
        if row is None:
            raise MissingError
        return row


class ShareMembership(TrashModel):
    """An account's membership in a share: the `share` of the API, as this member sees it.

    Has the id of its ShareMember. `group` is the account's group whose active people are shared; `deleted_at` is when
    the account left, was removed, or the group was removed for good. `private` are the names of fields that do not
    travel from here, `reminders` (DateReminders) decides about dates that arrive.

    `sent_revision`: the writes of the account up to this revision have been carried into the share, or marked: copies
    with `is_due`, and with `is_group_due` people of the group who are not in the share yet. 0 marks everybody.
    `received`: the changes of the share up to this number have been carried here. `due_at` is set by the account's own
    writes until they are carried, in their transaction. `passed_revision`: the writes of the account up to this one
    have been let through by another member. `reviewed_at` is when the review of joining was finished;
    until then nobody comes or goes unasked.
    """

    owner = owner_without_index()
    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    member = models.OneToOneField(ShareMember, on_delete=models.CASCADE, related_name="membership")
    group = models.ForeignKey(Group, null=True, on_delete=models.SET_NULL, related_name="+")
    private = models.JSONField(default=default_private, blank=True)
    reminders = models.CharField(max_length=10, default="none")
    newcomers = models.CharField(max_length=4, choices=Newcomers.choices, default=Newcomers.AUTO)
    paused = models.BooleanField(default=False)
    reviewed_at = models.DateTimeField(null=True, blank=True)
    sent_revision = models.BigIntegerField(default=0)
    received = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    is_group_due = models.BooleanField(default=False)
    passed_revision = models.BigIntegerField(default=0)

    FEED_TYPE = "share"
    UNREVISED_COLUMNS = frozenset({"sent_revision", "received", "due_at", "is_group_due", "passed_revision"})

    unscoped = UnscopedManager["ShareMembership", MembershipQuerySet](MembershipQuerySet)
    objects = OwnedManager["ShareMembership", MembershipQuerySet](MembershipQuerySet)

    class Meta:
        constraints = [
            one_of(Newcomers, "newcomers", name="share_membership_newcomers_known"),
            models.UniqueConstraint(
                fields=["owner", "share"], name="share_membership_once", condition=models.Q(deleted_at=None)
            ),
            models.UniqueConstraint(
                fields=["group"], name="share_of_group_once", condition=models.Q(deleted_at=None, group__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "share"], name="share_membership_feed"),
            models.Index(fields=["due_at"], name="share_membership_due", condition=models.Q(due_at__isnull=False)),
            models.Index(
                fields=["owner", "deleted_at"],
                name="share_membership_left",
                condition=models.Q(deleted_at__isnull=False),
            ),
        ]


def mark_shared(owner_id: UUID) -> None:
    """Write whether the account is in any share, inside its write: whenever memberships come and go."""
    is_shared = ShareMembership.objects.owned_by(owner_id).active().exists()
    User.objects.filter(pk=owner_id).exclude(is_shared=is_shared).update(is_shared=is_shared)


class CopyState(Vocabulary):
    """What a shared person is in this account."""

    WAITING = "waiting"  # for an answer, or for room
    LINKED = "linked"
    OUT = "out"  # the account took the person out
    SKIPPED = "skipped"


class ShownState(Vocabulary):
    """What a person's `shares` say of it. `waiting`: for an answer, or for room."""

    SYNCED = "synced"
    WAITING = "waiting"
    CONFLICT = "conflict"
    OUT = "out"


class Reason(Vocabulary):
    """Why a shared person is in the waiting list. `held` is not stored: it is the Hold."""

    NONE = ""
    PROPOSED = "proposed"
    UNSURE = "unsure"
    PLAN_LIMIT = "plan_limit"
    SHARE_LIMIT = "share_limit"
    TAKEN_OUT = "taken_out"
    MERGED = "merged"


class CopyQuerySet(OwnedQuerySet["SharedCopy"]):
    """Copies of an account."""

    def waiting(self) -> Self:
        """Those in the waiting list: with a question, or waiting for room."""
        asking = [reason for reason in Reason if reason is not Reason.NONE]
        return self.filter(reason__in=asking, state__in=[CopyState.WAITING, CopyState.LINKED])


class SharedCopy(OwnedModel):
    """One shared person in one account: which person it is here, or that it waits.

    `shared` is null only while a person of the account waits for room in the share (`share_limit`); then `sharedId` in
    the API is the id of this row. A LINKED copy with a reason has an open question (`taken_out`, `merged`) and goes on
    being shared. `candidates` are `[{personId, score}]`. `by` and `reason_at` are of the question.

    `base_local` and `base_remote` are the bases of the next merge (people.contents.merge): what person and document
    were when they last agreed, as far as fields travel from here. `is_made_here`: the share made the person, and
    nobody has edited it here, as far as was carried; what was written after `made_revision` has to be looked at
    (sharing.carry.made_here). `is_due`: the copy has to be merged, whatever has changed. `out_seen` is the
    `out_sequence` up to which taking out was answered.
    """

    owner = owner_without_index()
    membership = models.ForeignKey(ShareMembership, on_delete=models.CASCADE, related_name="copies", db_index=False)
    shared = models.ForeignKey(SharedPerson, null=True, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=7, choices=CopyState.choices, default=CopyState.WAITING)
    reason = models.CharField(max_length=11, choices=Reason.choices, default=Reason.NONE, blank=True)
    reason_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(ShareMember, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    candidates = models.JSONField(default=list, blank=True)
    base_local = models.JSONField(default=dict, blank=True)
    base_remote = models.JSONField(default=dict, blank=True)
    is_made_here = models.BooleanField(default=False)
    made_revision = models.BigIntegerField(default=0)
    out_seen = models.BigIntegerField(default=0)
    is_due = models.BooleanField(default=False)

    unscoped = UnscopedManager["SharedCopy", CopyQuerySet](CopyQuerySet)
    objects = OwnedManager["SharedCopy", CopyQuerySet](CopyQuerySet)

    class Meta:
        constraints = [
            one_of(CopyState, "state", name="shared_copy_state_known"),
            one_of(Reason, "reason", name="shared_copy_reason_known"),
            models.UniqueConstraint(fields=["membership", "shared"], name="shared_copy_once"),
            models.UniqueConstraint(
                fields=["membership", "person"],
                name="shared_copy_person_once",
                condition=models.Q(state__in=["linked", "out"], person__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "person"], name="shared_copy_person"),
            models.Index(fields=["membership", "person"], name="shared_copy_of_person"),
            # Not partial: SQLite would need the condition in each query, and has it only as a parameter.
            models.Index(fields=["membership", "reason", "id"], name="shared_copy_waiting"),
            models.Index(fields=["membership", "id"], name="shared_copy_due", condition=models.Q(is_due=True)),
        ]

    @property
    def shown_id(self) -> Any:
        """`sharedId` of the API."""
        return self.shared_id or self.pk


class ShareConflict(FeedModel):
    """A conflict of one copy: fields that this member and the share changed to different values.

    `fields` is `[{field, base, local, remote}]`, as the API answers them. Resolving it deletes the row.
    """

    owner = owner_without_index()
    membership = models.ForeignKey(ShareMembership, on_delete=models.CASCADE, related_name="conflicts")
    copy = models.OneToOneField(SharedCopy, on_delete=models.CASCADE, related_name="conflict")
    by = models.ForeignKey(ShareMember, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    fields = models.JSONField(default=list)

    FEED_TYPE = "shareConflict"

    unscoped = UnscopedManager["ShareConflict", FeedQuerySet["ShareConflict"]](FeedQuerySet)
    objects = OwnedManager["ShareConflict", FeedQuerySet["ShareConflict"]](FeedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "revision", "id"], name="share_conflict_feed")]


class WriteOrigin(OwnedModel):
    """What one larger work (an import, a run of the sync, a batch, an answer or undo) has written: its revisions.

    People whose last revision is one of `origin` count as one write when it is decided whether to hold it. `is_open`
    while the work goes on: what it wrote is carried when it has ended, when its process `holder` is known to be gone
    (kernel.processes), or when it is a quarter of an hour old. `counts` is False for answers and undo, which are never
    held.
    """

    owner = owner_without_index()
    origin = models.CharField(max_length=80)
    write_revision = models.BigIntegerField()
    counts = models.BooleanField(default=True)
    is_open = models.BooleanField(default=False)
    holder = models.CharField(max_length=150, blank=True, default="", db_default="")

    unscoped = UnscopedManager["WriteOrigin", OwnedQuerySet["WriteOrigin"]](OwnedQuerySet)
    objects = OwnedManager["WriteOrigin", OwnedQuerySet["WriteOrigin"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "write_revision"], name="share_write_origin_once")]
        indexes = [
            models.Index(fields=["created_at"], name="share_write_origin_age"),
            models.Index(
                fields=["owner", "write_revision"],
                name="share_write_origin_open",
                condition=models.Q(is_open=True),
            ),
        ]


class InvitationBlock(OwnedModel):
    """The account wants no more invitations by the account `inviter_id`, nor mails of them to the address of
    `address_key`."""

    inviter_id = models.UUIDField()
    address_key = models.CharField(max_length=64)

    unscoped = UnscopedManager["InvitationBlock", OwnedQuerySet["InvitationBlock"]](OwnedQuerySet)
    objects = OwnedManager["InvitationBlock", OwnedQuerySet["InvitationBlock"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "inviter_id", "address_key"], name="share_block_once"),
        ]
        indexes = [models.Index(fields=["inviter_id", "address_key"], name="share_block_of")]
