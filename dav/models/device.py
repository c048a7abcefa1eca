"""What is known of a device, what it has, and what it removed or replaced."""

from django.db import models

from accounts.models import ApiToken
from contacts_project.kernel.database.tuple_rows import TupleRows
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    owner_without_index,
)
from dav.models.book import BookCard
from people.models import Group, Interaction, Person


class Device(OwnedModel):
    """A program that signs in with an app password: one for each token that was used for DAV.

    `sent_properties` are the names of the vCard properties that it has ever sent, and of their parameters
    (`TEL;X-SIM`): what it never sent and leaves out, it does not know.

    A device that does not get everybody has SelectedCard rows (dav.selection). `selected_by` is what they were read by:
    the token's `book` and those of its groups that are active, or null if it always got everybody;
    `selection_revision` the account's revision up to which they are read, and `selection_changed_revision` that at
    which one last came or went.
    """

    token = models.OneToOneField(ApiToken, on_delete=models.CASCADE, related_name="+")
    user_agent = models.CharField(max_length=200, blank=True, default="")
    last_seen_at = models.DateTimeField()
    sent_properties = models.JSONField(default=list, blank=True)
    selected_by = models.JSONField(null=True, blank=True)
    selection_revision = models.BigIntegerField(default=-1)
    selection_changed_revision = models.BigIntegerField(default=0)
    warned_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["Device", OwnedQuerySet["Device"]](OwnedQuerySet)
    objects = OwnedManager["Device", OwnedQuerySet["Device"]](OwnedQuerySet)


class SelectedCard(OwnedModel):
    """A card that a device gets which does not get everybody, or got before: then `left_revision` says since when not.

    The revisions are those of the account at which the card came to the device, and left it.
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+", db_index=False)
    card = models.ForeignKey(BookCard, on_delete=models.CASCADE, related_name="+")
    entered_revision = models.BigIntegerField()
    left_revision = models.BigIntegerField(null=True, blank=True)

    unscoped = UnscopedManager["SelectedCard", OwnedQuerySet["SelectedCard"]](OwnedQuerySet)
    objects = OwnedManager["SelectedCard", OwnedQuerySet["SelectedCard"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "card"], name="dav_selected_once")]
        indexes = [models.Index(fields=["token", "left_revision"], name="dav_selected_left")]


class GivenCard(OwnedModel):
    """What a device has of a card: the ETag of the text that it was sent, or that it sent itself.

    A listing of ETags alone gives nothing. The text is that of the card while the ETag is the card's own, else a
    FormerText.
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+", db_index=False)
    card = models.ForeignKey(BookCard, on_delete=models.CASCADE, related_name="+")
    etag = models.CharField(max_length=32)

    unscoped = UnscopedManager["GivenCard", OwnedQuerySet["GivenCard"]](OwnedQuerySet)
    objects = OwnedManager["GivenCard", OwnedQuerySet["GivenCard"]](OwnedQuerySet)
    as_tuples = TupleRows("id", "created_at", "updated_at", "owner", "token", "card", "etag")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "card"], name="dav_given_once")]


class ListedAgain(OwnedModel):
    """A card that a device is told of again, because what it sent was refused or stored otherwise.

    Programs skip a listed card whose ETag they hold. So while the card has this `etag`, the device gets its text with
    `revised` as REV, and with that `shown_etag`. `revision` is that of the account by which its sync-token finds it.
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+", db_index=False)
    card = models.ForeignKey(BookCard, on_delete=models.CASCADE, related_name="+")
    etag = models.CharField(max_length=32)
    shown_etag = models.CharField(max_length=32)
    revised = models.CharField(max_length=20)
    revision = models.BigIntegerField()

    unscoped = UnscopedManager["ListedAgain", OwnedQuerySet["ListedAgain"]](OwnedQuerySet)
    objects = OwnedManager["ListedAgain", OwnedQuerySet["ListedAgain"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "card"], name="dav_listed_again_once")]


class UnreadTask(OwnedModel):
    """The task of a person that a device has put, until the device reads it: what it sent is never what is kept.

    Some programs ask for the ETag after a PUT that was answered without one, and take it for that of what they sent.
    So PROPFIND of the task alone has an ETag that stands for nothing, and the ctag of the tasks is another one at each
    request: at its next sync the program lists them, and reads this one (dav.calendars.unread).
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")

    unscoped = UnscopedManager["UnreadTask", OwnedQuerySet["UnreadTask"]](OwnedQuerySet)
    objects = OwnedManager["UnreadTask", OwnedQuerySet["UnreadTask"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "person"], name="dav_unread_task_once")]


class Refusal(OwnedModel):
    """What a device sent and did not get: a request that was refused, or a part of a card that was left out.

    `reason` is a Text (Text.to_stored). It stands until the device succeeds with the same card.
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+")
    href = models.CharField(max_length=1000)
    person = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.JSONField()

    unscoped = UnscopedManager["Refusal", OwnedQuerySet["Refusal"]](OwnedQuerySet)
    objects = OwnedManager["Refusal", OwnedQuerySet["Refusal"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "href"], name="dav_refusal_once")]


class ReplacedValue(OwnedModel):
    """A value of a person that a device removed or replaced, kept for 30 days so that it can be brought back.

    `property` is a field of the API, `photo`, or the name of a vCard property that no field holds; `value` is the
    former value: an entry of a list, the name of a group, the file name of a photo, or a line of the card.
    """

    owner = owner_without_index()
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    property = models.CharField(max_length=100)
    value = models.JSONField()

    unscoped = UnscopedManager["ReplacedValue", OwnedQuerySet["ReplacedValue"]](OwnedQuerySet)
    objects = OwnedManager["ReplacedValue", OwnedQuerySet["ReplacedValue"]](OwnedQuerySet)

    class Meta:
        indexes = [
            models.Index(fields=["token", "created_at"], name="dav_replaced_latest"),
            models.Index(fields=["owner", "created_at"], name="dav_replaced_age"),
        ]


class DeviceDeletion(OwnedModel):
    """A person, group or interaction (a tick that was taken back) that a device moved to the trash at `deleted_at`;
    without effect once that has another time.

    It outlives its token, so that what a lost phone deleted can be brought back after its password was revoked.
    """

    token_id = models.UUIDField()
    device_name = models.CharField(max_length=100)
    person = models.OneToOneField(Person, null=True, on_delete=models.CASCADE, related_name="+")
    group = models.OneToOneField(Group, null=True, on_delete=models.CASCADE, related_name="+")
    interaction = models.OneToOneField(Interaction, null=True, on_delete=models.CASCADE, related_name="+")
    deleted_at = models.DateTimeField()

    unscoped = UnscopedManager["DeviceDeletion", OwnedQuerySet["DeviceDeletion"]](OwnedQuerySet)
    objects = OwnedManager["DeviceDeletion", OwnedQuerySet["DeviceDeletion"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(person__isnull=False, group=None, interaction=None)
                | models.Q(person=None, group__isnull=False, interaction=None)
                | models.Q(person=None, group=None, interaction__isnull=False),
                name="dav_deletion_of_one",
            )
        ]
        indexes = [models.Index(fields=["token_id", "deleted_at"], name="dav_deletion_latest")]
