"""Relationships between people, their stored count, and answered suggestions of them.

A relationship is a pair of rows, one for each direction, each with a foreign key to the other. The types are a model of
people, whose relationship to the user has a type too.
"""

import datetime as dt

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
from people.counts import Counted
from people.models import Person, RelationshipType

RELATIONSHIPS = "relationships"

# Counts rows, so each relationship twice: it has a row for each direction.
COUNTED_RELATIONSHIPS = Counted(
    RELATIONSHIPS,
    "relationships_relationship",
    ("deleted_at", "person_id", "related_person_id"),
    people=("person_id", "related_person_id"),
)


class RelationshipQuerySet(TrashQuerySet["Relationship"]):
    """Relationships of one account, or of all for jobs."""

    def visible(self) -> "RelationshipQuerySet":
        """Active relationships between active people.

        Moving a person to the trash does not change their relationships, so that restoring the person brings them back.
        """
        return self.active().between_active_people()

    def between_active_people(self) -> "RelationshipQuerySet":
        return self.filter(person__deleted_at=None, related_person__deleted_at=None)

    def lasting(self, today: dt.date) -> "RelationshipQuerySet":
        """Those that have not ended before `today`. An `until` of a month or year ends with its last day."""
        day = today.isoformat()
        return self.filter(models.Q(until=None) | models.Q(until__gte=day) | models.Q(until__in=[day[:4], day[:7]]))

    def one_of_each_pair(self) -> "RelationshipQuerySet":
        """The older row of each pair, which has the direction that the user entered."""
        # Ids are UUIDs in order of creation, so the smaller one is the older one.
        return self.filter(pk__lt=models.F("inverse"))


class Relationship(TrashModel):
    """`person` is `relationship_type` of `related_person`. `inverse` is the row of the opposite direction.

    The services of this app write both rows together. The inverse row has the people swapped, the inverse type, the
    same notes, the same `since` and `until` (`YYYY`, `YYYY-MM` or `YYYY-MM-DD`) and the same `deleted_at`.
    """

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="relationships")
    related_person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    relationship_type = models.ForeignKey(
        RelationshipType, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    notes = models.CharField(max_length=1000, null=True, blank=True)  # noqa: DJ001 - the API answers null, not ""
    since = models.CharField(max_length=10, null=True, blank=True)  # noqa: DJ001 - as above
    until = models.CharField(max_length=10, null=True, blank=True)  # noqa: DJ001 - as above
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


def is_in_order(since: str | None, until: str | None) -> bool:
    """Whether it does not end before it begins. A year says nothing of its months, nor a month of its days."""
    length = min(len(since or ""), len(until or ""))
    return not (since and until) or until[:length] >= since[:length]


def has_ended(until: str | None, today: dt.date) -> bool:
    """As `lasting` asks the database."""
    day = today.isoformat()
    return until is not None and until < day and not day.startswith(until)


class AnsweredSuggestion(OwnedModel):
    """The user accepted or dismissed that `person` is `type_name` of somebody. Has the id of the suggestion.

    `name_on_card` is the name of the related person on the card, `""` if the suggestion is not from a card.
    `related_person` is null if no person matched the name. New suggestions are compared with these columns, not only
    with the id: a card that is imported again has new ids.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    related_person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    name_on_card = models.CharField(max_length=200, blank=True)
    type_name = models.CharField(max_length=20)
    accepted = models.BooleanField()

    unscoped = UnscopedManager["AnsweredSuggestion", OwnedQuerySet["AnsweredSuggestion"]](OwnedQuerySet)
    objects = OwnedManager["AnsweredSuggestion", OwnedQuerySet["AnsweredSuggestion"]](OwnedQuerySet)
