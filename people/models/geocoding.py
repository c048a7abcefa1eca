"""The geocoder's queue and results."""

from django.db import models

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.vocabularies import GeocodeState


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

    objects = LeaseQuerySet["GeocoderPace"].as_manager()
