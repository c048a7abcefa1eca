"""Preferences of an account, and the news of their change."""

from typing import Any

from django.db import transaction

from accounts.models import User
from accounts.signals import preferences_changed
from contacts_project.kernel.ownership.account_lock import account_write

# What decides when a reminder is due: after a change every next reminder of the account is computed anew.
_MOVES_REMINDERS = {
    "time_zone",
    "reminder_hour",
    "leap_day_rule",
    "default_reminder_lead_days",
    "weekly_digest_enabled",
    "weekly_digest_weekday",
}


def change_preferences(*, user: User, values: dict[str, Any]) -> User:
    """Store `values` (model field names); returns the account as stored. What stays the same is no news."""
    with account_write(user):
        fresh = User.objects.get(pk=user.pk)
        changed = {name for name, value in values.items() if getattr(fresh, name) != value}
        if not changed:
            return fresh
        for name in changed:
            setattr(fresh, name, values[name])
        if changed & _MOVES_REMINDERS:
            fresh.reminders_stale = True
        fresh.save(update_fields=[*changed, "reminders_stale", "updated_at"])
        news = {"user_id": fresh.pk, "fields": changed}
        transaction.on_commit(lambda: preferences_changed.send(sender=User, **news), robust=True)
    return fresh
