"""Types of relationships: symmetric, or one of two that are each other's inverse."""

from django.db import models

from contacts_project.ownership.models import OwnedManager, TrashModel, TrashQuerySet, UnscopedManager


class RelationshipType(TrashModel):
    """What a person is to another. `inverse` is the type of the way back; of a symmetric type, itself.

    A type is never half: it has an inverse (not null), no two types have the same one (unique), and the services of
    this app, the only writers, set, delete and restore both ends together.
    """

    name = models.CharField(max_length=50)
    label = models.CharField(max_length=50)
    color = models.CharField(max_length=7)
    inverse = models.OneToOneField("self", on_delete=models.CASCADE, related_name="+")

    unscoped = UnscopedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)
    objects = OwnedManager["RelationshipType", TrashQuerySet["RelationshipType"]](TrashQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="relationship_type_name_unique",
                condition=models.Q(deleted_at=None),
            ),
        ]
        indexes = [models.Index(fields=["owner", "deleted_at"], name="relationship_type_trash")]

    @property
    def symmetric(self) -> bool:
        return self.inverse_id == self.pk
