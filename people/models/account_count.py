"""Stored row counts, which are read more often than they change."""

from django.conf import settings
from django.db import models


class AccountCount(models.Model):
    """The number of active rows (or bytes) of a kind and key in an account; only triggers write it (people.counts)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=36)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "kind", "key"], name="account_count_once")]
        # For sums over all accounts; kinds without keys have an empty key.
        indexes = [models.Index(fields=["kind", "number"], name="account_count_whole", condition=models.Q(key=""))]
