"""When recurring work last ran, so that health can tell a working scheduler from a silent one."""

import datetime as dt

from django.db import models


class Heartbeat(models.Model):
    """One kind of recurring work, and when it last ran to its end. Belongs to the instance, not to an account."""

    name = models.CharField(max_length=40, primary_key=True)
    beat_at = models.DateTimeField()


def note_beat(name: str, now: dt.datetime) -> None:
    """Record that `name` has just run to its end."""
    Heartbeat.objects.update_or_create(name=name, defaults={"beat_at": now})


def last_beat(name: str) -> dt.datetime | None:
    """When `name` last ran to its end; None before its first run."""
    return Heartbeat.objects.filter(name=name).values_list("beat_at", flat=True).first()
