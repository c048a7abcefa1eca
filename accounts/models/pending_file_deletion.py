"""Stored files of deleted accounts."""

from django.db import models
from django.utils import timezone


class PendingFileDeletion(models.Model):
    """A file on Django's storage that no row refers to any more. The row is deleted after the file."""

    path = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
