"""What a merge has changed, kept for the retention period so that it can be undone."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models.person import Person


class MergeRecord(OwnedModel):
    """One merge; its id is the mergeId of the answer.

    `image` says what changed, not what was: it is made and read by people.services.merging alone. The people are null
    once they were removed for good; then there is nothing left to undo.
    """

    primary = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    secondary = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    image = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["MergeRecord", OwnedQuerySet["MergeRecord"]](OwnedQuerySet)
    objects = OwnedManager["MergeRecord", OwnedQuerySet["MergeRecord"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="merge_record_age")]
