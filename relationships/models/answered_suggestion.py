"""Suggestions of relationships that the user has answered, so that they are never made again."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


class AnsweredSuggestion(OwnedModel):
    """`person` as `type_name` of somebody: accepted, or dismissed. Its id is that of the suggestion.

    `named` is what the card calls the other one (`""`: no card does), `related_person` who that was, where that was
    known. What is suggested anew is compared with these, whatever its id is by then.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    related_person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    named = models.CharField(max_length=200, blank=True)
    type_name = models.CharField(max_length=20)
    accepted = models.BooleanField()

    unscoped = UnscopedManager["AnsweredSuggestion", OwnedQuerySet["AnsweredSuggestion"]](OwnedQuerySet)
    objects = OwnedManager["AnsweredSuggestion", OwnedQuerySet["AnsweredSuggestion"]](OwnedQuerySet)
