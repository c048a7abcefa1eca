"""Cards of a book that are not contacts."""

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class OtherKind(models.TextChoices):
    """Why the card is not a contact."""

    GROUP = "group"
    UNREADABLE = "unreadable"


class OtherCard(OwnedModel):
    """A group card, or one that cannot be parsed; fetched again when its ETag changes.

    `members` are the UIDs in a group card, `joined` those whose people were put into the group of its `name`; a person
    who is removed from the group here is not added again. `error` is the parser's message.
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
