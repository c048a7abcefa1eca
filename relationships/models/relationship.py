"""A relationship is a pair of rows, one for each direction, that know each other."""

from django.db import models

from contacts_project.kernel.ownership.models import (
    OwnedManager,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models import Person, RelationshipType


class RelationshipQuerySet(TrashQuerySet["Relationship"]):
    """Relationships of one account, or of all for jobs."""

    def visible(self) -> "RelationshipQuerySet":
        """Active, and so are both people: with a person in the trash their relationships wait there for them."""
        return self.active().filter(person__deleted_at=None, related_person__deleted_at=None)

    def one_of_each_pair(self) -> "RelationshipQuerySet":
        """The row of each pair that was made first: the one that reads as the user put it."""
        return self.filter(pk__lt=models.F("inverse"))


class Relationship(TrashModel):
    """`person` is `relationship_type` of `related_person`; `inverse` says the same from the other side.

    The two rows are written together by this app's services: people swapped, the type's inverse, the same notes, the
    same `deleted_at`.
    """

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="relationships")
    related_person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    relationship_type = models.ForeignKey(
        RelationshipType, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    notes = models.CharField(max_length=1000, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    inverse = models.OneToOneField("self", on_delete=models.CASCADE, related_name="+")

    FEED_TYPE = "relationship"

    unscoped = UnscopedManager["Relationship", RelationshipQuerySet](RelationshipQuerySet)
    objects = OwnedManager["Relationship", RelationshipQuerySet](RelationshipQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "related_person", "relationship_type"],
                name="relationship_once",
                condition=models.Q(deleted_at=None),
            ),
            models.UniqueConstraint(
                fields=["person", "related_person"],
                name="relationship_untyped_once",
                condition=models.Q(deleted_at=None, relationship_type=None),
            ),
            models.CheckConstraint(
                condition=~models.Q(person=models.F("related_person")), name="relationship_not_with_oneself"
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="relationship_feed"),
            models.Index(fields=["owner", "created_at", "id"], name="relationship_list"),
            models.Index(
                fields=["owner", "deleted_at"], name="relationship_trash", condition=models.Q(deleted_at__isnull=False)
            ),
            models.Index(fields=["owner", "person"], name="relationship_owner"),
        ]
