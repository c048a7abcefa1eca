"""Stored photo files and their sizes."""

from django.conf import settings
from django.db import models


class StoredPhoto(models.Model):
    """One photo file of an account, so that its size is known without a request to the storage (people.photos.files).

    Until `busy_until` a process is uploading the file without the account lock, or deleting it (`is_being_deleted`).
    """

    name = models.CharField(max_length=200, primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    size = models.PositiveIntegerField()
    busy_until = models.DateTimeField(null=True, blank=True)
    is_being_deleted = models.BooleanField(default=False)
