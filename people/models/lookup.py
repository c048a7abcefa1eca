"""One indexed table for finding people by what identifies them."""

from django.conf import settings
from django.db import models

from people.models.person import Person


class LookupKey(models.Model):
    """A normalised e-mail, phone or name key of a person; rewritten in the transaction that writes the person.

    Read by duplicates, vCard import and sync. What the four kinds hold is said in people.duplicates.keys, which makes
    the keys; rows are written by people.lookup alone.
    """

    EMAIL, PHONE, NAME, BLOCK = 1, 2, 3, 4

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="lookup_keys")
    kind = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=320)

    class Meta:
        indexes = [models.Index(fields=["owner", "kind", "key", "person"], name="lookup_key")]
