"""The address book and its cards, and what devices set of collections and tasks."""

from django.db import models

from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models import Group, Interaction, Person

MAX_NAME_LENGTH = 255


class BookQuerySet(OwnedQuerySet["Book"]):
    """Books of one account (it has one), or of all for tasks."""


class Book(OwnedModel):
    """The address book of an account, made when a device first asks for it. Its cards are BookCard rows.

    Every write of the account up to `read_revision` is in the cards (dav.cards.refresh). `changed_revision` is the
    revision at which a card last changed, came or went: the book's ctag and sync-token stay the same with it, so that
    writes which no card shows do not make devices ask again. `plain_changed_revision` is the same without CATEGORIES,
    for devices that have groups as cards of their own.

    `dates_revision` and `tasks_revision` are those at which a calendar last changed, as far as `calendars_revision`;
    `task_number` is the number of tasks that there were then (dav.calendars.revisions).
    """

    read_revision = models.BigIntegerField(default=-1)
    changed_revision = models.BigIntegerField(default=0)
    plain_changed_revision = models.BigIntegerField(default=0)
    calendars_revision = models.BigIntegerField(default=-1)
    dates_revision = models.BigIntegerField(default=0)
    tasks_revision = models.BigIntegerField(default=0)
    task_number = models.PositiveIntegerField(default=0)

    unscoped = UnscopedManager["Book", BookQuerySet](BookQuerySet)
    objects = OwnedManager["Book", BookQuerySet](BookQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner"], name="dav_book_once")]


class BookCardQuerySet(OwnedQuerySet["BookCard"]):
    """Cards of one account, or of all for tasks."""

    def in_book(self) -> "BookCardQuerySet":
        return self.filter(left_revision=None)


class BookCard(OwnedModel):
    """The card of a person or of a group, as devices see it.

    It outlives its subject by the time of tombstones, so that devices learn of the removal (dav.services.gone_cards).

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
