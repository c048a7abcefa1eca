"""Pairs of people that the user has marked as no duplicates."""

from django.db import models

from contacts_project.kernel.ownership.models import FeedModel, FeedQuerySet, OwnedManager, UnscopedManager
from people.models.person import Person


class DuplicateDismissal(FeedModel):
    """An unordered pair: `first` is the person with the smaller id."""

    first = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")

    FEED_TYPE = "dismissal"

    unscoped = UnscopedManager["DuplicateDismissal", FeedQuerySet["DuplicateDismissal"]](FeedQuerySet)
    objects = OwnedManager["DuplicateDismissal", FeedQuerySet["DuplicateDismissal"]](FeedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="duplicate_dismissal_once"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="duplicate_dismissal_order"),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="dismissal_feed"),
            models.Index(fields=["owner"], name="duplicate_dismissal_owner"),
        ]
