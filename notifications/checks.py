"""What `manage.py check` and `doctor` say of notifications."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from notifications.vapid import public_key_of

HINT = "Run `manage.py vapid_keys` and put its lines into the environment, or unset both to switch push off."


@register()
def check_vapid_keys(**kwargs: Any) -> list[CheckMessage]:
    """The pair is whole and fits, or push is off."""
    public, private = settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY
    if not public and not private:
        return []
    if not (public and private):
        return [Error("Only one of VAPID_PUBLIC_KEY and VAPID_PRIVATE_KEY is set.", HINT, id="notifications.E001")]
    try:
        fits = public_key_of(private) == public.rstrip("=")
    except ValueError:
        return [Error("VAPID_PRIVATE_KEY cannot be read.", HINT, id="notifications.E002")]
    return (
        [] if fits else [Error("VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY.", HINT, id="notifications.E003")]
    )
