"""Counts that are read more often than they change."""

from django.conf import settings
from django.db import models


class AccountCount(models.Model):
    """How many active rows of one kind an account has, by key, or bytes; written by triggers alone (people.counts)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=36)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "kind", "key"], name="account_count_once")]
        # What is counted as a whole, to be added up over all accounts.
        indexes = [models.Index(fields=["kind", "number"], name="account_count_whole", condition=models.Q(key=""))]
