"""Cuts an account's channels when the owner of its e-mail address takes the account over."""

from uuid import UUID

from notifications.models import CalendarFeed, Destination, PushSubscription


def disable_channels(owner_id: UUID) -> None:
    """Switch destinations off and delete devices and calendar feeds: somebody else may have set them up, and would
    otherwise go on receiving the account's data.
    """
    CalendarFeed.objects.owned_by(owner_id).delete()
    Destination.objects.owned_by(owner_id).update(enabled=False)
    PushSubscription.objects.owned_by(owner_id).delete()
