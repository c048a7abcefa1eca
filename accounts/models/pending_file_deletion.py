"""Stored files whose account is gone."""

from django.db import models
from django.utils import timezone


class PendingFileDeletion(models.Model):
    """A file on Django's storage that nothing names any more; the row goes with the file."""

    path = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
