"""What becomes of an account's channels when it comes to its address's owner."""

from accounts.models import User
from notifications.models import CalendarFeed, Destination, PushSubscription


def disable_channels(user: User) -> None:
    """Nothing goes any more to where somebody else may have wanted it: destinations are off, devices and
    the addresses of calendars forgotten."""
    CalendarFeed.objects.owned_by(user).delete()
    Destination.objects.owned_by(user).update(enabled=False)
    PushSubscription.objects.owned_by(user).delete()
