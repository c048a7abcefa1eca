"""Groups and their members."""

from django.db import models

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


def group_key(name: str) -> str:
    """The case-folded name, which is unique among an account's active groups."""
    return name.casefold()


class Group(TrashModel):
    """A group of people. `name_key` is its case-folded name, unique among the account's active groups."""

    name = models.CharField(max_length=100)
    name_key = models.CharField(max_length=300, editable=False)
    description = models.CharField(max_length=500, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    color = models.CharField(max_length=7)

    FEED_TYPE = "group"

    unscoped = UnscopedManager["Group", TrashQuerySet["Group"]](TrashQuerySet)
    objects = OwnedManager["Group", TrashQuerySet["Group"]](TrashQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name_key"], name="group_name_unique", condition=models.Q(deleted_at=None)
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="group_feed"),
            models.Index(
                fields=["owner", "deleted_at"], name="group_trash", condition=models.Q(deleted_at__isnull=False)
            ),
        ]


class Membership(OwnedModel):
    """The membership of one person in one group."""

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="memberships")

    unscoped = UnscopedManager["Membership", OwnedQuerySet["Membership"]](OwnedQuerySet)
    objects = OwnedManager["Membership", OwnedQuerySet["Membership"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "group"], name="membership_once")]
        indexes = [models.Index(fields=["owner", "person"], name="membership_owner")]
