"""When recurring work last ran, by which the health check sees whether the scheduler works."""

import datetime as dt

from django.db import models


class Heartbeat(models.Model):
    """One kind of recurring work, and when it last completed. Belongs to the instance, not to an account."""

    name = models.CharField(max_length=40, primary_key=True)
    beat_at = models.DateTimeField()


def record_heartbeat(name: str, now: dt.datetime) -> None:
    """Record that `name` has just completed."""
    Heartbeat.objects.update_or_create(name=name, defaults={"beat_at": now})


def last_heartbeat(name: str) -> dt.datetime | None:
    """When `name` last completed; None before its first run."""
    return Heartbeat.objects.filter(name=name).values_list("beat_at", flat=True).first()
