"""People, the types of relationships that they may have to the user, and how people are sorted."""

import datetime as dt
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Value
from django.db.models.functions import Replace, StrIndex

from accounts.models import User
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people import field_table
from people.mentions import Silence, Topic, silence
from people.models.account_counts import CountedModel, CountedQuerySet, register_counted_bytes
from people.names import COLUMNS, NameParts, format_name
from people.vocabularies import Unit


class RelationshipType(TrashModel):
    """What one person is to another. `inverse` is the type in the other direction; a symmetric type is its own inverse.

    Two types are always each other's inverse: the column is unique, and the services of the relationships app, the only
    writers, set both rows together. They are in that app because a change of a type changes its relationships. A type
    is created with an inverse, and loses it when that is permanently removed. Without an inverse it cannot be used by
    relationships.
    """

    name = models.CharField(max_length=50)
    label = models.CharField(max_length=50)
    color = models.CharField(max_length=7)
    inverse = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    FEED_TYPE = "relationshipType"

    unscoped = UnscopedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)
    objects = OwnedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)

    class Meta:
        # The table was created by the relationships app, before Person.relationship_to_user became a foreign key.
        db_table = "relationships_relationshiptype"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="relationship_type_name_unique",
                condition=models.Q(deleted_at=None),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="relationship_type_feed"),
            models.Index(
                fields=["owner", "deleted_at"],
                name="relationship_type_trash",
                condition=models.Q(deleted_at__isnull=False),
            ),
        ]

    @property
    def symmetric(self) -> bool:
        return self.inverse_id == self.pk

    @property
    def active_inverse(self) -> "RelationshipType | None":
        """The inverse, or None while it is in the trash; the next relationship of the type restores it."""
        return self.inverse if self.symmetric or (self.inverse and not self.inverse.is_deleted) else None


class PersonQuerySet(CountedQuerySet["Person"], TrashQuerySet["Person"]):  # type: ignore[override]  # as_manager
    """People of one account, or of all for tasks."""

    def in_name_order(self) -> "PersonQuerySet":
        """By name, surname and id, without regard to case or accents, in the same order on every database."""
        return self.order_by("sort_key", "id")

    def with_name_containing(
        self, folded: str, *, ignore_spaces: bool = False, others: models.Q | None = None
    ) -> "PersonQuerySet":
        """Those whose search key contains the text, which is from `fold`; and `others`."""
        # The search key has spaces between the parts of every name, and lines between its orders.
        key = Replace("search_key", Value(" "), output_field=models.TextField()) if ignore_spaces else "search_key"
        # Not LIKE, for which the text would have to be escaped: a compiled query passes it on as it is.
        people = self.alias(found_at=StrIndex(key, Value(folded)))
        return people.filter(models.Q(found_at__gt=0) | (others or models.Q()))


class UidField(models.CharField):  # type: ignore[type-arg]  # not subscriptable when it runs
    """A vCard UID, never null: without a given one it is derived from the row's id."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        uid: str = getattr(model_instance, self.attname) or uid_of(model_instance.pk)
        setattr(model_instance, self.attname, uid)
        return uid


def uid_of(person_id: UUID) -> str:
    """The UID of a person that was created without one."""
    return f"urn:uuid:{person_id}"


#: Values of Person.next_date_until: of those without dates, and of those whose dates have changed.
ALWAYS, NOT_KNOWN = dt.date.max, dt.date.min


def _list_column() -> Any:
    return models.JSONField(default=list, blank=True)


class Person(CountedModel, TrashModel):
    """One person of an account.

    The multi-value columns hold lists of entries exactly as API responses show them (camelCase keys, each with an
    `id`); they are validated on write and replaced as a whole. people.names computes `sort_key` and `search_key`;
    normalized e-mail addresses, phone numbers and names are in LookupKey. `contact_due_at` is the instant of the next
    contact reminder, which is for the day `contact_due_on` (null: there is none; people.dates.schedule).
    `contact_reminder_from` is the group whose rule has set the reminder (people.services.group_rules); null if the
    owner has.

    `last_contact` is the later of `contact_before`, the date that the user entered, and `interacted_on`, the day of the
    latest interaction that counts; PersonWriter maintains it.

    `next_date_on` is the next day of one of its dates, as far as it is known: it is right up to the day
    `next_date_until`. A trigger sets that to NOT_KNOWN when a date changes, and a task computes both anew
    (people.dates.next_dates).

    `card_lines` are the properties of the vCard from which the person was created, in order: the unfolded `line`, the
    `fields` that it fills (none if no field holds it), and the `id` of the entry or date that holds it. They are not in
    responses; people.cards.converter builds cards from them. `more` lists the properties that no field holds
    (people.cards.card_lines), and is written together with them.

    Nobody is reminded of a `quiet` person, or shown it unasked (people.mentions). The account's user is the one with
    `is_me` (people.services.me_person), unless it is in the trash.
    """

    owner = owner_without_index()
    name = models.CharField(max_length=100)
    surname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    middle_name = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    second_last_name = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    nickname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    phonetic_name = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    phonetic_surname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    prefix = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001
    suffix = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001
    gender = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001
    organization = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001
    job_title = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001
    display_name_override = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001
    anniversary = models.DateField(null=True, blank=True)
    deathday = models.DateField(null=True, blank=True)
    last_contact = models.DateField(null=True, blank=True)
    contact_before = models.DateField(null=True, blank=True, editable=False)
    interacted_on = models.DateField(null=True, blank=True, editable=False)
    notes = models.TextField(max_length=10_000, null=True, blank=True)  # noqa: DJ001

    phone_numbers = _list_column()
    emails = _list_column()
    addresses = _list_column()
    urls = _list_column()
    im_handles = _list_column()
    locations = _list_column()
    custom_fields = _list_column()

    relationship_to_user = models.ForeignKey(
        RelationshipType, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    contact_reminder_enabled = models.BooleanField(default=False)
    contact_reminder_interval = models.PositiveSmallIntegerField(null=True, blank=True)
    contact_reminder_interval_unit = models.CharField(max_length=6, choices=Unit.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    contact_reminder_from = models.ForeignKey(
        "people.Group", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    contact_due_at = models.DateTimeField(null=True, blank=True, editable=False)
    contact_due_on = models.DateField(null=True, blank=True, editable=False)

    next_date_on = models.DateField(null=True, blank=True, editable=False)
    next_date_until = models.DateField(default=ALWAYS, db_default=ALWAYS, editable=False)

    card_dav_sync_enabled = models.BooleanField(default=True)
    favourite = models.BooleanField(default=False)
    quiet = models.BooleanField(default=False)
    is_me = models.BooleanField(default=False, db_default=False, editable=False)
    photo = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001
    uid = UidField(max_length=255)
    card_lines = models.JSONField(default=list, blank=True)
    more = models.JSONField(default=list, blank=True, editable=False)

    sort_key = models.BinaryField(default=b"", editable=False)
    search_key = models.TextField(default="", editable=False)

    LIST_COLUMNS: ClassVar[tuple[str, ...]] = tuple(field.column for field in field_table.LISTS)
    # Columns that may be large. Reads of many people leave them out with `defer`.
    HEAVY_COLUMNS: ClassVar[tuple[str, ...]] = (*LIST_COLUMNS, "notes", "card_lines")

    FEED_TYPE = "person"
    COUNTED_COLUMN = "card_lines"
    UNREVISED_COLUMNS = frozenset(
        {
            "contact_due_at",
            "contact_due_on",
            "contact_before",
            "interacted_on",
            "sort_key",
            "search_key",
            "card_lines",
            "next_date_on",
            "next_date_until",
        }
    )

    unscoped = UnscopedManager["Person", PersonQuerySet](PersonQuerySet)
    objects = OwnedManager["Person", PersonQuerySet](PersonQuerySet)

    @property
    def has_derived_uid(self) -> bool:
        """Whether the UID was derived from the id, so that only cards exported from here have it."""
        return bool(self.uid == uid_of(self.pk))

    @property
    def name_parts(self) -> NameParts:
        return NameParts(*(getattr(self, column) for column in COLUMNS))

    def silence(self, topic: Topic) -> Silence | None:
        """Why the person is not spoken of; None if it is."""
        return silence(topic, quiet=self.quiet, deathday=self.deathday, is_me=self.is_me)

    def display_name_for(self, owner: User) -> str:
        """The display name in the name order and format of `owner`, who is passed in because loading it is a query."""
        return format_name(owner, self.name_parts)

    class Meta:
        constraints = [
            one_of(Unit, "contact_reminder_interval_unit", name="person_contact_reminder_interval_unit_known"),
            models.UniqueConstraint(fields=["owner"], name="person_me_once", condition=models.Q(is_me=True)),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="person_feed"),
            # Not a partial index of active people: without statistics PostgreSQL assumes that those are few, and
            # prefers the index to the primary key.
            models.Index(fields=["owner", "sort_key", "id", "deleted_at"], name="person_name_order"),
            models.Index(
                fields=["owner", "deleted_at"], name="person_trash", condition=models.Q(deleted_at__isnull=False)
            ),
            # GET /api/find excludes deleted people by this index.
            models.Index(fields=["id"], name="person_in_trash", condition=models.Q(deleted_at__isnull=False)),
            models.Index(fields=["owner", "uid"], name="person_uid"),
            # For the removal of a group; few people have one.
            models.Index(
                fields=["contact_reminder_from"],
                name="person_contact_reminder_from",
                condition=models.Q(contact_reminder_from__isnull=False),
            ),
            models.Index(fields=["owner", "next_date_until"], name="person_next_date_known"),
            models.Index(fields=["next_date_until"], name="person_next_date_passed"),
            models.Index(
                fields=["owner", "contact_due_on"],
                name="person_contact_reminder",
                condition=models.Q(deleted_at=None, contact_due_on__isnull=False),
            ),
            models.Index(
                fields=["contact_due_at"],
                name="person_contact_due",
                condition=models.Q(contact_due_at__isnull=False),
            ),
        ]


register_counted_bytes(Person, Person.COUNTED_COLUMN, [])


def person_url(person_id: object) -> str:
    """The person's page in the client at APP_URL if that is set, else in our own."""
    template: str = settings.APP_URL or f"{settings.BASE_URL}/app/people/{{id}}"
    return template.replace("{id}", str(person_id))
