"""The row that is locked to decide whose an address is."""

from django.db import models


class RegistrationLock(models.Model):
    """One row for the instance: who updates it may count accounts, add one, and say whose an address is, before anybody
    else does. Locked before the rows of accounts, never after.
    """

    taken = models.BigIntegerField(default=0)

    @classmethod
    def take(cls) -> None:
        """Wait for the lock and keep it to the end of the transaction that is open."""
        if not cls.objects.filter(pk=1).update(taken=models.F("taken") + 1):
            cls.objects.get_or_create(pk=1)
            cls.objects.filter(pk=1).update(taken=models.F("taken") + 1)
