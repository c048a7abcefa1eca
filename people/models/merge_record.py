"""Merges of people, kept for the retention period so that they can be undone."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models.person import Person


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
