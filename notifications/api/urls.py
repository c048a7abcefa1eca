"""Routes of notifications, all below /api/."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import Failure, register_failures
from notifications.api.calendar_feeds import CalendarFeedViewSet
from notifications.api.destinations import DestinationViewSet
from notifications.api.links import ActionViewSet, UnsubscribeViewSet
from notifications.api.push import NotificationViewSet, PushKeyViewSet, PushSubscriptionViewSet
from notifications.api.reminders import DeliveryViewSet, ReminderViewSet
from notifications.api.serializers import DestinationSerializer
from notifications.models import Destination
from notifications.notices.actions import ActionExpiredError
from notifications.notices.unsubscribe import BadTokenError
from notifications.services.calendar_feeds import TooManyFeedsError
from notifications.services.destinations import (
    DuplicateUrlError,
    SecretMissingError,
    TooManyDestinationsError,
    TooManyDevicesError,
    UrlRefusedError,
)

register_failures(
    {
        ActionExpiredError: Failure(410, "expired"),
        BadTokenError: Failure(400, "invalid_token"),
        DuplicateUrlError: Failure(409, "duplicate"),
        SecretMissingError: Failure(400, "invalid"),
        TooManyDestinationsError: Failure(409),  # without a code: the specification gives it none
        TooManyDevicesError: Failure(409, "too_many_devices"),
        TooManyFeedsError: Failure(409, "too_many_feeds"),
        UrlRefusedError: Failure(400, codes=UrlRefusedError.CODES),
    }
)
describe_changes({Destination: DestinationSerializer})

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("notifications/deliveries", DeliveryViewSet, basename="delivery")
router.register("notifications/push/public-key", PushKeyViewSet, basename="push-key")
router.register("notifications/push", PushSubscriptionViewSet, basename="push-subscription")
router.register("notifications/endpoints", DestinationViewSet, basename="destination")
router.register("notifications", NotificationViewSet, basename="notification")
router.register("calendar-feeds", CalendarFeedViewSet, basename="calendar-feed")
router.register("reminders", ReminderViewSet, basename="reminder")
router.register("unsubscribe", UnsubscribeViewSet, basename="unsubscribe")

urlpatterns = [
    *router.urls,
    path("actions/<signed:token>", ActionViewSet.as_view({"get": "retrieve", "post": "create"})),
]
