"""When an account's next weekly digest is due."""

from django.conf import settings
from django.db import models


class DigestSchedule(models.Model):
    """One account with the digest switched on: when the next digest is due, and its day in the account's time zone."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+")
    next_due_at = models.DateTimeField(db_index=True)
    next_on = models.DateField()
