"""What the server stores: one text for each card, and of a device only what it has, and what it removed or replaced."""

import datetime as dt
from typing import NamedTuple
from uuid import UUID

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
from people.models import Group, Interaction, Person

MAX_NAME_LENGTH = 255


class Book(OwnedModel):
    """The address book of an account, made when a device first asks for it. Its cards are BookCard rows.

    Every write of the account up to `read_revision` is in the cards (dav.cards.refresh). `changed_revision` is the
    revision at which a card last changed, came or went: the book's ctag and sync-token stay the same with it, so that
    writes which no card shows do not make devices ask again. `plain_changed_revision` is the same without CATEGORIES,
    for devices that have groups as cards of their own.

    `dates_revision` and `tasks_revision` are those at which a calendar last changed, as far as `calendars_revision`;
    `task_number` is the number of tasks that there were then (dav.resources.calendars).
    """

    read_revision = models.BigIntegerField(default=-1)
    changed_revision = models.BigIntegerField(default=0)
    plain_changed_revision = models.BigIntegerField(default=0)
    calendars_revision = models.BigIntegerField(default=-1)
    dates_revision = models.BigIntegerField(default=0)
    tasks_revision = models.BigIntegerField(default=0)
    task_number = models.PositiveIntegerField(default=0)

    unscoped = UnscopedManager["Book", OwnedQuerySet["Book"]](OwnedQuerySet)
    objects = OwnedManager["Book", OwnedQuerySet["Book"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner"], name="dav_book_once")]


class BookCardQuerySet(OwnedQuerySet["BookCard"]):
    """Cards of one account, or of all for tasks."""

    def in_book(self) -> "BookCardQuerySet":
        return self.filter(left_revision=None)


class BookCard(OwnedModel):
    """The card of a person or of a group, as devices see it.

    It outlives its subject by the time of tombstones, so that devices learn of the removal (dav.services.retention).

    `is_group`: a group card, which only devices with group cards see. `group_ids` are the groups of a person's card as
    of `read_revision`: those that it has left since have another card, too.

    `name` is the last segment of its path. `text` is the card in vCard 3.0 (dav.cards.texts), compressed and without
    the picture, as of `read_revision`: a device that sends its card back has changed this text, not the person as it is
    by then. `etag` and `plain_etag` (without CATEGORIES) are hashes of what GET sends, the picture included;
    `changed_revision` and `plain_changed_revision` say when they changed. A card that is not in the book (its person is
    in the trash, quiet, or not to be synced) has the revision at which it left, and keeps its name for its return.
    `photo` is the person's photo, `original` the picture that a device sent for it, as long as that is the photo: GET
    sends `shown_photo`.
    """

    owner = owner_without_index()
    person = models.OneToOneField(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    group = models.OneToOneField(Group, null=True, on_delete=models.SET_NULL, related_name="+")
    is_group = models.BooleanField(default=False)
    group_ids = models.JSONField(default=list, blank=True)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    uid = models.CharField(max_length=255)
    text = models.BinaryField()
    photo = models.CharField(max_length=200, blank=True, default="")
    original = models.CharField(max_length=200, blank=True, default="")
    etag = models.CharField(max_length=32)
    plain_etag = models.CharField(max_length=32)
    read_revision = models.BigIntegerField()
    changed_revision = models.BigIntegerField()
    plain_changed_revision = models.BigIntegerField()
    left_revision = models.BigIntegerField(null=True, blank=True)

    @property
    def shown_photo(self) -> str:
        """The file name of the picture that devices get, or an empty text."""
        return self.original or self.photo

    unscoped = UnscopedManager["BookCard", BookCardQuerySet](BookCardQuerySet)
    objects = OwnedManager["BookCard", BookCardQuerySet](BookCardQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="dav_card_name_once")]
        indexes = [
            models.Index(fields=["owner", "changed_revision", "id"], name="dav_card_changed"),
            models.Index(fields=["owner", "plain_changed_revision", "id"], name="dav_card_plain_changed"),
            models.Index(
                fields=["owner", "left_revision"], name="dav_card_left", condition=models.Q(left_revision__isnull=False)
            ),
            models.Index(fields=["owner", "uid"], name="dav_card_uid"),
        ]


class CardRow(NamedTuple):
    """Of a BookCard what devices are shown. To build an instance of the model takes as long as to make its response
    element. The text and the times are there only if they were asked for."""

    pk: UUID
    name: str
    photo: str
    original: str
    etag: str
    plain_etag: str
    is_group: bool
    text: bytes = b""
    updated_at: dt.datetime | None = None
    created_at: dt.datetime | None = None

    @property
    def shown_photo(self) -> str:
        return self.original or self.photo


class FormerText(OwnedModel):
    """A text that a card had before, kept while some device still has it."""

    owner = owner_without_index()
    card = models.ForeignKey(BookCard, on_delete=models.CASCADE, related_name="+", db_index=False)
    etag = models.CharField(max_length=32)
    text = models.BinaryField()
    photo = models.CharField(max_length=200, blank=True, default="")

    unscoped = UnscopedManager["FormerText", OwnedQuerySet["FormerText"]](OwnedQuerySet)
    objects = OwnedManager["FormerText", OwnedQuerySet["FormerText"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["card", "etag"], name="dav_former_text_once")]


class CollectionProperty(OwnedModel):
    """A property of a collection that a program has set (PROPPATCH), such as the colour of a calendar.

    `collection` is its name (contacts, dates, keep-in-touch), `name` that of the property in Clark notation.
    """

    collection = models.CharField(max_length=20)
    name = models.CharField(max_length=100)
    value = models.CharField(max_length=200)

    unscoped = UnscopedManager["CollectionProperty", OwnedQuerySet["CollectionProperty"]](OwnedQuerySet)
    objects = OwnedManager["CollectionProperty", OwnedQuerySet["CollectionProperty"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "collection", "name"], name="dav_collection_property_once")
        ]


class TaskTick(OwnedModel):
    """A day of the task of a person that was ticked off: so that it can be taken back, and counts once.

    `due_before` is the due day that the task had, `due_sent` the day that the device sent, which may be null: the one
    that is done, or with `by_rule` the next one, since the device went on by a rule of its own. `completed_at` is its
    COMPLETED.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    interaction = models.ForeignKey(Interaction, on_delete=models.CASCADE, related_name="+")
    ticked_at = models.DateTimeField()
    due_before = models.DateField()
    due_sent = models.DateField(null=True, blank=True)
    by_rule = models.BooleanField(default=False)
    completed_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["TaskTick", OwnedQuerySet["TaskTick"]](OwnedQuerySet)
    objects = OwnedManager["TaskTick", OwnedQuerySet["TaskTick"]](OwnedQuerySet)


class TaskSnooze(OwnedModel):
    """A device has moved the task of a person to the day `due_on`. It stands while the reminder itself is due on
    `due_before`: until they were in touch, or its interval was changed."""

    person = models.OneToOneField(Person, on_delete=models.CASCADE, related_name="+")
    due_before = models.DateField()
    due_on = models.DateField()

    unscoped = UnscopedManager["TaskSnooze", OwnedQuerySet["TaskSnooze"]](OwnedQuerySet)
    objects = OwnedManager["TaskSnooze", OwnedQuerySet["TaskSnooze"]](OwnedQuerySet)


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
    request: at its next sync the program lists them, and reads this one (dav.resources.own_calendars).
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
