"""Types of relationships. A type is symmetric or has an inverse type."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, TrashModel, TrashQuerySet, UnscopedManager


class RelationshipType(TrashModel):
    """What one person is to another. `inverse` is the type in the other direction; a symmetric type is its own inverse.

    Two types are always each other's inverse: the column is unique, and the services of the relationships app, the only
    writers, set both rows together. They are in that app because a change of a type changes its relationships. A type
    is created with an inverse, and loses it when that is permanently removed. Without an inverse it cannot be used by
    relationships.
    """

    name = models.CharField(max_length=50)
    label = models.CharField(max_length=50)
    color = models.CharField(max_length=7)
    inverse = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    FEED_TYPE = "relationshipType"

    unscoped = UnscopedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)
    objects = OwnedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)

    class Meta:
        # The table was created by the relationships app, before Person.relationship_to_user became a foreign key.
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
        """The inverse, or None while it is in the trash; the next relationship of the type restores it."""
        return self.inverse if self.symmetric or (self.inverse and not self.inverse.is_deleted) else None
