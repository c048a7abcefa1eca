"""Routes of notifications, all below /api/."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from notifications.api.actions import ActionViewSet
from notifications.api.calendar_feeds import CalendarFeedViewSet
from notifications.api.destinations import DestinationViewSet
from notifications.api.errors import FAILURES
from notifications.api.push import NotificationViewSet, PushKeyViewSet, PushSubscriptionViewSet
from notifications.api.reminders import DeliveryViewSet, ReminderViewSet
from notifications.api.serializers import DestinationSerializer
from notifications.api.unsubscribe import UnsubscribeViewSet
from notifications.models import Destination

register_failures(FAILURES)
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
