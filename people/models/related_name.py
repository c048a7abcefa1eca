"""Whom the card of a person names as related."""

from django.conf import settings
from django.db import models

from contacts_project.kernel.api.ids import new_id
from people.models.person import Person


class RelatedName(models.Model):
    """A name that a card relates to its person, who is `type_name` of the one named (people.related.cards).

    Follows from Person.card_lines, and is rewritten with them by people.related.rows alone. A row stays, with its id,
    as long as a line says so.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="related_names")
    name = models.CharField(max_length=200)
    type_name = models.CharField(max_length=20)

    class Meta:
        indexes = [models.Index(fields=["owner", "id"], name="related_name_order")]
