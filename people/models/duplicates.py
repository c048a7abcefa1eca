"""Pairs of people: those marked as no duplicates, and merges that can be undone."""

from django.db import models

from contacts_project.kernel.ownership.models import (
    FeedModel,
    FeedQuerySet,
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
)
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


class MergeRecord(OwnedModel):
    """One merge of two people; its id is the mergeId of the response.

    `image` holds the changes of the merge, not a copy of the people; only people.merging writes and reads it. A person
    is null after it was permanently removed; then the merge cannot be undone.
    """

    primary = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    secondary = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    image = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["MergeRecord", OwnedQuerySet["MergeRecord"]](OwnedQuerySet)
    objects = OwnedManager["MergeRecord", OwnedQuerySet["MergeRecord"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="merge_record_age")]
