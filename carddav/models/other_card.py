"""Cards of a book that are no contacts."""

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class OtherKind(models.TextChoices):
    """Why the card is no contact."""

    GROUP = "group"
    UNREADABLE = "unreadable"


class OtherCard(OwnedModel):
    """A group card, or one that cannot be read; not fetched again until its etag moves.

    `members` are the UIDs that a group card names, `joined` those whose people were put into the group of its `name`:
    who leaves the group here is not put back. `error` says why a card could not be read.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    kind = models.CharField(max_length=10, choices=OtherKind.choices)
    name = models.CharField(max_length=100, blank=True)
    members = models.JSONField(default=list, blank=True)
    joined = models.JSONField(default=list, blank=True)
    error = models.TextField(blank=True)

    unscoped = UnscopedManager["OtherCard", OwnedQuerySet["OtherCard"]](OwnedQuerySet)
    objects = OwnedManager["OtherCard", OwnedQuerySet["OtherCard"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_other_card")]
