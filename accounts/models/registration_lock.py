"""The lock for registrations and for the ownership of addresses."""

from django.db import models


class RegistrationLock(models.Model):
    """One row for the whole instance. With its lock, a transaction may count accounts, add one, or assign addresses.

    Must be locked before any account row, never after, to avoid deadlocks.
    """

    taken = models.BigIntegerField(default=0)

    @classmethod
    def acquire(cls) -> None:
        """Wait for the lock and hold it until the open transaction ends."""
        # The row is created on first use.
        if not cls.objects.filter(pk=1).update(taken=models.F("taken") + 1):
            cls.objects.get_or_create(pk=1)
            cls.objects.filter(pk=1).update(taken=models.F("taken") + 1)
