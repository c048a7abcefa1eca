"""The files of photos, with their sizes."""

from django.conf import settings
from django.db import models


class StoredPhoto(models.Model):
    """One stored file of an account, so that its bytes are known without asking the storage (people.photos.files)."""

    name = models.CharField(max_length=200, primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    size = models.PositiveIntegerField()
