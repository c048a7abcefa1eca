"""Suggestions of relationships that the user has accepted or dismissed, and that are not made again."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


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
