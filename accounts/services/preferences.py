"""Changes of preferences, with the signal about them."""

from django.db import transaction

from accounts.models import User
from accounts.signals import preferences_changed
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write

# These decide when a reminder is due. After a change, all of the account's next reminders are computed again.
_REMINDER_PREFERENCES = {
    "time_zone",
    "reminder_hour",
    "leap_day_rule",
    "default_reminder_lead_days",
    "weekly_digest_enabled",
    "weekly_digest_weekday",
}


def change_preferences(*, user: User, values: JsonObject) -> User:
    """Store `values` (by model field name); returns the stored account. Sends `preferences_changed` if any differs."""
    with account_write(user):
        fresh = User.objects.get(pk=user.pk)
        changed = {name for name, value in values.items() if getattr(fresh, name) != value}
        if not changed:
            return fresh
        for name in changed:
            setattr(fresh, name, values[name])
        if changed & _REMINDER_PREFERENCES:
            # Only a flag: the minutely scan computes them, which takes too long under the lock.
            fresh.reminders_stale = True
        fresh.save(update_fields=[*changed, "reminders_stale", "updated_at"])
        arguments = {"user_id": fresh.pk, "fields": changed}
        transaction.on_commit(lambda: preferences_changed.send(sender=User, **arguments), robust=True)
    return fresh
