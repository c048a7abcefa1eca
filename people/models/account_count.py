"""Counts that are read more often than they change."""

from django.conf import settings
from django.db import models


class AccountCount(models.Model):
    """How many active rows of one kind an account has, by key; written by triggers alone (people.counts)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=36)
    number = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "kind", "key"], name="account_count_once")]
