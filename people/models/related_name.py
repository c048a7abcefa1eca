"""Names of related people on vCards."""

from django.conf import settings
from django.db import models

from contacts_project.kernel.api.ids import new_id
from people.models.person import Person


class RelatedName(models.Model):
    """A related name on a person's card; the person is the `type_name` of the named one (people.related.cards).

    people.related.rows derives these rows from Person.card_lines and updates them together. A row keeps its id as long
    as a line contains the name.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="related_names")
    name = models.CharField(max_length=200)
    type_name = models.CharField(max_length=20)

    class Meta:
        indexes = [models.Index(fields=["owner", "id"], name="related_name_order")]
