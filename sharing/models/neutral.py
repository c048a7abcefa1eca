"""The neutral rows: what the members of a share have in common. They have no owner.

A request reaches them only through the membership of its own account: `Model.objects.reached_by(membership)`. Jobs use
`Model.unscoped`. Private fields of a member, and what never travels, are in none of these tables. Whoever writes them
holds the lock of the share's row, after that of at most one account (docs/sharing.md, "Locks").
"""

import datetime as dt
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast
from uuid import UUID

from django.db import models
from django.utils import timezone

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.models import UnscopedManager, UnscopedQueryError
from contacts_project.kernel.vocabularies import Vocabulary

MAX_MEMBERS = 8
MAX_PEOPLE = 2_000
"""Of one share."""
MAX_NAME_LENGTH = 100
MAX_EMAIL_LENGTH = 254
MEMBER_NAME_LENGTH = 200

M = TypeVar("M", bound=models.Model)


class MembershipOfShare(Protocol):
    """What reaches the rows of a share: a ShareMembership."""

    share_id: UUID

    @property
    def is_deleted(self) -> bool: ...


class NeutralQuerySet(models.QuerySet[M, M]):
    """Rows of a share. `SHARE` of the model is the path to the share."""

    def reached_by(self, *memberships: MembershipOfShare) -> "NeutralQuerySet[M]":
        """The rows of the memberships' shares; none of those that the member has left or was removed from."""
        model: Any = self.model
        shares = [membership.share_id for membership in memberships if not membership.is_deleted]
        return self.filter(**{f"{model.SHARE}__in": shares}) if shares else self.none()


class NeutralManager(Generic[M]):
    """`Model.objects` of a neutral table: rows through a membership, and inserts. Anything else raises
    UnscopedQueryError, as kernel.ownership's OwnedManager does."""

    model: type[M]

    def contribute_to_class(self, model: type[M], name: str) -> None:
        """Django calls this for each class attribute while it builds the model."""
        self.model = model
        setattr(model, name, self)

    def reached_by(self, *memberships: MembershipOfShare) -> NeutralQuerySet[M]:
        rows: NeutralQuerySet[M] = NeutralQuerySet(self.model)
        return rows.reached_by(*memberships)

    def create(self, **kwargs: object) -> M:
        return cast("M", NeutralQuerySet(self.model).create(**kwargs))

    def bulk_create(self, rows: list[M], **kwargs: Any) -> list[M]:
        inserted: Any = NeutralQuerySet(self.model)
        return cast("list[M]", inserted.bulk_create(rows, **kwargs))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnscopedQueryError(f"{self.model.__name__}.objects needs reached_by(membership); jobs use .unscoped.")


class NeutralModel(models.Model):
    """A row without an owner, reached through a membership only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    SHARE = "share"

    class Meta:
        abstract = True


class Share(NeutralModel):
    """People that up to eight accounts keep together.

    `sequence` counts its changes: every change of a neutral row takes the next number, under the lock of this row, and
    a member that has `received` it has seen that change. `changed_at` is the time of the last change of a person.
    """

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    sequence = models.BigIntegerField(default=0)
    changed_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    SHARE = "pk"
    HAS_CLIENT_IDS = True

    unscoped = UnscopedManager["Share", NeutralQuerySet["Share"]](NeutralQuerySet)
    objects = NeutralManager["Share"]()


class ShareMember(NeutralModel):
    """One member as all members see it: the account's display name, and since when.

    The account's own side is the ShareMembership with the same id. A member whose account was deleted has none, and is
    ended by the sweep. Exactly one member of a share that has not ended is the host. `due_at` is set while changes of
    the share wait to be carried to this member. `name` is copied by the worker, so that no request reads another
    account.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="members")
    name = models.CharField(max_length=MEMBER_NAME_LENGTH)
    is_host = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["ShareMember", NeutralQuerySet["ShareMember"]](NeutralQuerySet)
    objects = NeutralManager["ShareMember"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["share"], name="share_one_host", condition=models.Q(is_host=True, ended_at=None)
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="share_member_due", condition=models.Q(due_at__isnull=False)),
        ]


class SharedPerson(NeutralModel):
    """One shared person: the neutral document with which each member syncs, as with a card.

    `fields` is a field map of people.contents.fields, as far as it travels (sharing.decisions.TRAVELLING), and
    `relations` under `relationships` (sharing.decisions.RELATION_KEYS); `photo` in it is the hash of the picture, whose
    bytes are in the store of the share (sharing.carry.pictures). `holders` counts the members that have it linked; with
    none the row is `gone`: what still waits for it is dropped, and the purge removes it. `out_*` say who took the
    person out last, while the others keep it; `merged_into` is set if that was a merge of two shared people.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="people", db_index=False)
    uid = models.CharField(max_length=255)
    fields = models.JSONField(default=dict)
    sequence = models.BigIntegerField()
    changed_by = models.ForeignKey(ShareMember, null=True, on_delete=models.SET_NULL, related_name="+")
    holders = models.PositiveSmallIntegerField(default=0)
    is_gone = models.BooleanField(default=False)
    out_sequence = models.BigIntegerField(default=0)
    out_by = models.ForeignKey(ShareMember, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    out_at = models.DateTimeField(null=True, blank=True)
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    unscoped = UnscopedManager["SharedPerson", NeutralQuerySet["SharedPerson"]](NeutralQuerySet)
    objects = NeutralManager["SharedPerson"]()

    class Meta:
        indexes = [
            models.Index(fields=["share", "sequence", "id"], name="shared_person_changes"),
            models.Index(fields=["share", "uid"], name="shared_person_uid"),
        ]


class SharedRelation(NeutralModel):
    """That the document `person` has a relation to `other`: an index of its `relationships`, written with them.

    A relation stands in the document of the smaller id alone. A member to whom `other` comes later finds here which
    documents it has to look at again.
    """

    person = models.ForeignKey(SharedPerson, on_delete=models.CASCADE, related_name="relations")
    other = models.ForeignKey(SharedPerson, on_delete=models.CASCADE, related_name="+")

    SHARE = "person__share"

    unscoped = UnscopedManager["SharedRelation", NeutralQuerySet["SharedRelation"]](NeutralQuerySet)
    objects = NeutralManager["SharedRelation"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "other"], name="shared_relation_once")]


class LogAction(Vocabulary):
    """What happened in a share."""

    ADDED = "added"
    CHANGED = "changed"
    TAKEN_OUT = "taken_out"
    JOINED = "joined"
    LEFT = "left"
    REMOVED = "removed"
    MERGED = "merged"
    UNDONE = "undone"


class LogEntry(NeutralModel):
    """One line of the log. `created_at` is when; `name_parts` are the person's shared name parts by column.

    `before` are the shared values of `fields` before a change, for its undo: a field map of these fields; `after` those
    after it, and of a taking out what the document says of that. `is_removal`: the person was taken out, or a field
    emptied, which counts when it is judged what to hold.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="log", db_index=False)
    by_name = models.CharField(max_length=MEMBER_NAME_LENGTH)
    by = models.ForeignKey(ShareMember, null=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=10, choices=LogAction.choices)
    person = models.ForeignKey(SharedPerson, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    name_parts = models.JSONField(default=dict, blank=True)
    fields = models.JSONField(default=list, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    is_removal = models.BooleanField(default=False)

    unscoped = UnscopedManager["LogEntry", NeutralQuerySet["LogEntry"]](NeutralQuerySet)
    objects = NeutralManager["LogEntry"]()

    class Meta:
        constraints = [one_of(LogAction, "action", name="share_log_action_known")]
        indexes = [
            models.Index(fields=["share", "id"], name="share_log_newest"),
            models.Index(fields=["created_at"], name="share_log_age"),
            models.Index(fields=["by", "created_at"], name="share_log_removals", condition=models.Q(is_removal=True)),
        ]


class HoldState(Vocabulary):
    """Whether what is held still waits, and what another member decided."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REFUSED = "refused"


class Hold(NeutralModel):
    """What `member` sent is held: it would take out, empty or change more than may pass unasked.

    Nothing of the member's goes out while one is open. `count` is how many people it is about; what they are is in no
    neutral row. Another member's decision sets the state; the worker then carries it out under the lock of `member`'s
    account, and sets `done_at`.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="holds")
    member = models.ForeignKey(ShareMember, on_delete=models.CASCADE, related_name="+")
    count = models.PositiveIntegerField()
    sequence = models.BigIntegerField()
    state = models.CharField(max_length=8, choices=HoldState.choices, default=HoldState.OPEN)
    decided_by = models.ForeignKey(ShareMember, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    done_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["Hold", NeutralQuerySet["Hold"]](NeutralQuerySet)
    objects = NeutralManager["Hold"]()

    class Meta:
        constraints = [
            one_of(HoldState, "state", name="share_hold_state_known"),
            models.UniqueConstraint(fields=["member"], name="share_hold_open_once", condition=models.Q(done_at=None)),
        ]


class InvitationManager(NeutralManager["Invitation"]):
    """Invitations are reached, too, by who has the link, or the address as their proven one."""

    def with_token(self, token_key: str) -> NeutralQuerySet["Invitation"]:
        return self._of(token_key=token_key)

    def to_address(self, address_key: str) -> NeutralQuerySet["Invitation"]:
        return self._of(address_key=address_key)

    def _of(self, **keys: str) -> NeutralQuerySet["Invitation"]:
        rows: NeutralQuerySet[Invitation] = NeutralQuerySet(self.model)
        return rows.filter(**keys)


class InvitationState(Vocabulary):
    """`expired` is not stored: it is a time."""

    SENT = "sent"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Invitation(NeutralModel):
    """An invitation by mail, to whoever has its link or the address as their proven one.

    `inviter_id` is the account of the host who made it: no foreign key, since the row outlives it. `address_key` is a
    keyed hash of the folded address; the address itself is encrypted. `token` is encrypted until the mail is sent, and
    `token_key` its keyed hash. The mail is due at `mail_at` (null: sent, or nobody is to get it), as
    accounts.AccountMail retries. `is_unwanted`: whoever has the address wants no invitations of this member; the host
    cannot tell, since it is set where the mail is sent, and by who declined.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="invitations")
    by = models.ForeignKey(ShareMember, null=True, on_delete=models.SET_NULL, related_name="+")
    inviter_id = models.UUIDField()
    email = EncryptedTextField()
    address_key = models.CharField(max_length=64)
    token = EncryptedTextField(blank=True)
    token_key = models.CharField(max_length=64, unique=True)
    language = models.CharField(max_length=10)
    state = models.CharField(max_length=8, choices=InvitationState.choices, default=InvitationState.SENT)
    expires_at = models.DateTimeField()
    mail_at = models.DateTimeField(null=True, blank=True)
    mail_tries = models.PositiveSmallIntegerField(default=0)
    mail_claimed_until = models.DateTimeField(null=True, blank=True)
    is_unwanted = models.BooleanField(default=False)

    unscoped = UnscopedManager["Invitation", NeutralQuerySet["Invitation"]](NeutralQuerySet)
    objects = InvitationManager()

    class Meta:
        constraints = [
            one_of(InvitationState, "state", name="share_invitation_state_known"),
            models.UniqueConstraint(
                fields=["share", "address_key"], name="share_invitation_open_once", condition=models.Q(state="sent")
            ),
        ]
        indexes = [
            models.Index(fields=["address_key"], name="share_invitation_address", condition=models.Q(state="sent")),
            models.Index(fields=["mail_at"], name="share_invitation_mail", condition=models.Q(mail_at__isnull=False)),
            models.Index(fields=["expires_at"], name="share_invitation_end", condition=models.Q(state="sent")),
            models.Index(fields=["inviter_id", "created_at"], name="share_invitation_inviter"),
        ]

    def state_at(self, now: dt.datetime) -> InvitationState:
        is_over = self.state == InvitationState.SENT and self.expires_at <= now
        return InvitationState.EXPIRED if is_over else InvitationState(self.state)

    def end(self, state: InvitationState) -> None:
        """Nobody can accept it any more, and no mail is sent."""
        self.state, self.token, self.mail_at = state, "", None
        self.save(update_fields=["state", "token", "mail_at"])
