"""Addresses and where they are: work for the geocoder, and what it found."""

from django.db import models

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.vocabularies import GeocodeState


class GeocodedAddressQuerySet(LeaseQuerySet["GeocodedAddress"], OwnedQuerySet["GeocodedAddress"]):  # type: ignore[override]  # as_manager
    """Addresses to be looked up."""


class GeocodedAddress(Leased, OwnedModel):
    """One address text of one account; `key` is the text's hash.

    The coordinates of the text are copied into every address entry of the account that says it (`is_copied`: it has
    been done since the row last changed), so that people are read without looking here. A pending row is due from
    `next_try_at`, for the run that takes it.
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
            # What operators look at.
            models.Index(fields=["state", "id"], name="geocoded_address_open", condition=~models.Q(state="done")),
        ]


class GeocoderPace(Leased):
    """The one row by which all processes keep the provider's pace: no request before `next_request_at`.

    A task that finds it held leaves the work to the run that holds it.
    """

    next_request_at = models.DateTimeField()

    objects = LeaseQuerySet["GeocoderPace"].as_manager()
