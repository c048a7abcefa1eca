"""Cuts an account's channels when the owner of its e-mail address takes the account over."""

from accounts.models import User
from notifications.models import CalendarFeed, Destination, PushSubscription


def disable_channels(user: User) -> None:
    """Switch destinations off and delete devices and calendar feeds: somebody else may have set them up, and would
    otherwise go on receiving the account's data.
    """
    CalendarFeed.objects.owned_by(user).delete()
    Destination.objects.owned_by(user).update(enabled=False)
    PushSubscription.objects.owned_by(user).delete()
