"""Types of relationships: symmetric, or one of two that are each other's inverse."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, TrashModel, TrashQuerySet, UnscopedManager


class RelationshipType(TrashModel):
    """What a person is to another. `inverse` is the type of the way back; of a symmetric type, itself.

    Two types name each other, or neither names the other: no two have the same inverse (unique), and the services of
    relationships, the only writers, set both ends together; they stand there because relationships follow what changes
    in their type. A type is made with an inverse and may lose it, when that is removed for good; until it is given
    another, no relationship can have it.
    """

    name = models.CharField(max_length=50)
    label = models.CharField(max_length=50)
    color = models.CharField(max_length=7)
    inverse = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    FEED_TYPE = "relationshipType"

    unscoped = UnscopedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)
    objects = OwnedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)

    class Meta:
        # It was a table of the app above before people's tie to the user was a plain foreign key.
        db_table = "relationships_relationshiptype"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="relationship_type_name_unique",
                condition=models.Q(deleted_at=None),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="relationship_type_feed"),
            models.Index(
                fields=["owner", "deleted_at"],
                name="relationship_type_trash",
                condition=models.Q(deleted_at__isnull=False),
            ),
        ]

    @property
    def symmetric(self) -> bool:
        return self.inverse_id == self.pk

    @property
    def active_inverse(self) -> "RelationshipType | None":
        """The inverse, unless it is in the trash; there it waits to be restored, or for the next relationship."""
        return self.inverse if self.symmetric or (self.inverse and not self.inverse.is_deleted) else None
