"""Interactions of the user with people: calls, meetings, letters."""

from django.db import models

from contacts_project.kernel.database.vocabularies import one_of
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
from people.vocabularies import InteractionKind


class InteractionQuerySet(TrashQuerySet["Interaction"]):
    """Interactions of one account, or of all for tasks."""

    def with_active_people(self) -> "InteractionQuerySet":
        """Interactions with at least one active person; the others are treated as deleted with their people."""
        active = Participation.unscoped.rows().filter(interaction=models.OuterRef("pk"), person__deleted_at=None)
        return self.filter(models.Exists(active))

    def of_people(self, person_ids: object) -> "InteractionQuerySet":
        """Interactions in which any of these people took part, active or deleted."""
        participations = Participation.unscoped.rows().filter(interaction=models.OuterRef("pk"), person__in=person_ids)
        return self.filter(models.Exists(participations))


class Interaction(TrashModel):
    """One past or future interaction, `at` an instant, with one or more people (Participation).

    `counts_at` is the instant at which the day of a future interaction begins in the account's time zone. From then on
    it can be the last contact of its people (people.services.last_contact). Null: it counts already, or is deleted.
    """

    owner = owner_without_index()
    kind = models.CharField(max_length=7, choices=InteractionKind.choices)
    at = models.DateTimeField()
    title = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    notes = models.TextField(max_length=10_000, null=True, blank=True)  # noqa: DJ001 - as above
    counts_at = models.DateTimeField(null=True, blank=True, editable=False)

    FEED_TYPE = "interaction"
    QUIET_COLUMNS = frozenset({"counts_at"})

    unscoped = UnscopedManager["Interaction", InteractionQuerySet](InteractionQuerySet)
    objects = OwnedManager["Interaction", InteractionQuerySet](InteractionQuerySet)

    class Meta:
        constraints = [one_of(InteractionKind, "kind", name="interaction_kind_known")]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="interaction_feed"),
            models.Index(fields=["owner", "at", "id"], name="interaction_list"),
            models.Index(
                fields=["owner", "deleted_at"], name="interaction_trash", condition=models.Q(deleted_at__isnull=False)
            ),
            models.Index(fields=["counts_at"], name="interaction_ahead", condition=models.Q(counts_at__isnull=False)),
        ]


class Participation(OwnedModel):
    """One person in one interaction; `position` is the index in `personIds`.

    `at` is a copy of Interaction.at, so that a person's latest interaction is the last entry of an index.
    """

    owner = owner_without_index()
    interaction = models.ForeignKey(
        Interaction, on_delete=models.CASCADE, related_name="participations", db_index=False
    )
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="participations")
    position = models.PositiveSmallIntegerField()
    at = models.DateTimeField()

    unscoped = UnscopedManager["Participation", OwnedQuerySet["Participation"]](OwnedQuerySet)
    objects = OwnedManager["Participation", OwnedQuerySet["Participation"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["interaction", "person"], name="participation_once")]
        indexes = [models.Index(fields=["owner", "person", "at", "interaction"], name="participation_of_person")]
