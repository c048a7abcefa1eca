"""The files of photos, with their sizes."""

from django.conf import settings
from django.db import models


class StoredPhoto(models.Model):
    """One stored file of an account, so that its bytes are known without asking the storage (people.photos.files).

    Until `busy_until` somebody stores the file, without the account's lock, or deletes it (`is_going`).
    """

    name = models.CharField(max_length=200, primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    size = models.PositiveIntegerField()
    busy_until = models.DateTimeField(null=True, blank=True)
    is_going = models.BooleanField(default=False)
