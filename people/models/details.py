"""Further details of people: custom fields, names on cards, coordinates of addresses, files of photos."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.leases import Leased, LeaseManager, LeaseQuerySet
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models.person import Person
from people.vocabularies import GeocodeState, TemplateType


class CustomFieldTemplate(TrashModel):
    """A custom field defined by the account. `slug` and `type` never change; `options` is empty except for SELECT."""

    name = models.CharField(max_length=60)
    slug = models.CharField(max_length=80)
    type = models.CharField(max_length=7, choices=TemplateType.choices)
    options = models.JSONField(default=list, blank=True)
    position = models.PositiveIntegerField(default=0)

    FEED_TYPE = "customFieldTemplate"

    unscoped = UnscopedManager["CustomFieldTemplate", TrashQuerySet["CustomFieldTemplate"]](TrashQuerySet)
    objects = OwnedManager["CustomFieldTemplate", TrashQuerySet["CustomFieldTemplate"]](TrashQuerySet)

    class Meta:
        constraints = [
            one_of(TemplateType, "type", name="template_type_known"),
            models.UniqueConstraint(fields=["owner", "slug"], name="template_slug_unique"),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="template_feed"),
            models.Index(
                fields=["owner", "deleted_at"], name="template_trash", condition=models.Q(deleted_at__isnull=False)
            ),
        ]


class CustomFieldValue(OwnedModel):
    """The value of one template for one person, with the JSON type of the template."""

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="custom_field_values")
    template = models.ForeignKey(CustomFieldTemplate, on_delete=models.CASCADE, related_name="values")
    value = models.JSONField()

    unscoped = UnscopedManager["CustomFieldValue", OwnedQuerySet["CustomFieldValue"]](OwnedQuerySet)
    objects = OwnedManager["CustomFieldValue", OwnedQuerySet["CustomFieldValue"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "template"], name="custom_value_once")]
        indexes = [models.Index(fields=["owner", "person"], name="custom_value_owner")]


class RelatedName(models.Model):
    """A related name on a person's card; the person is the `type_name` of the named one (people.cards.related_names).

    That module derives these rows from Person.card_lines and updates them together. A row keeps its id as long as a
    line contains the name.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="related_names")
    name = models.CharField(max_length=200)
    type_name = models.CharField(max_length=20)

    class Meta:
        indexes = [models.Index(fields=["owner", "id"], name="related_name_order")]


class GeocodedAddressQuerySet(LeaseQuerySet["GeocodedAddress"], OwnedQuerySet["GeocodedAddress"]):  # type: ignore[override]  # as_manager
    """Addresses of one account, or of all for tasks."""


class GeocodedAddress(Leased, OwnedModel):
    """One address text of one account; `key` is the hash of the text.

    The coordinates are copied into all address entries of the account with this text, so that reading people needs no
    join. `is_copied` is false from a change of the row until they are copied. A pending row is due from `next_try_at`.
    """

    key = models.CharField(max_length=64)
    text = models.TextField()
    state = models.CharField(max_length=7, choices=GeocodeState.choices)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    latitude = models.FloatField(null=True, blank=True)
    longitude = models.FloatField(null=True, blank=True)
    is_copied = models.BooleanField(default=True)

    unscoped = UnscopedManager["GeocodedAddress", GeocodedAddressQuerySet](GeocodedAddressQuerySet)
    objects = OwnedManager["GeocodedAddress", GeocodedAddressQuerySet](GeocodedAddressQuerySet)

    class Meta:
        constraints = [
            one_of(GeocodeState, "state", name="geocoded_address_state_known"),
            models.UniqueConstraint(fields=["owner", "key"], name="geocoded_address_once"),
        ]
        indexes = [
            models.Index(fields=["next_try_at"], name="geocoded_address_due", condition=models.Q(state="pending")),
            models.Index(fields=["owner"], name="geocoded_address_copying", condition=models.Q(is_copied=False)),
            # For the admin's list.
            models.Index(fields=["state", "id"], name="geocoded_address_open", condition=~models.Q(state="done")),
        ]


class GeocoderPace(Leased):
    """A single row, the rate limit that all processes share: no request is sent before `next_request_at`.

    A task that finds the row leased by another run leaves the work to that run.
    """

    next_request_at = models.DateTimeField()

    objects: ClassVar[LeaseManager["GeocoderPace"]] = LeaseManager()


class StoredPhoto(models.Model):
    """One photo file of an account, so that its size is known without a request to the storage (people.photos.files).

    Until `busy_until` a process is uploading the file without the account lock, or deleting it (`is_being_deleted`).
    """

    name = models.CharField(max_length=200, primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    size = models.PositiveIntegerField()
    busy_until = models.DateTimeField(null=True, blank=True)
    is_being_deleted = models.BooleanField(default=False)
