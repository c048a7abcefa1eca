"""Routes of notifications, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from contacts_project.kernel.api.errors import register_failures
from notifications.api.destinations import DestinationDetail, DestinationList, DestinationTest
from notifications.api.errors import FAILURES
from notifications.api.push import (
    ChannelSummary,
    EmailSwitch,
    PushPublicKey,
    PushSubscribe,
    PushSubscriptionDetail,
    PushSubscriptionList,
)
from notifications.api.reminders import DeliveriesView, UpcomingRemindersView
from notifications.api.unsubscribe import Unsubscribe

register_failures(FAILURES)

urlpatterns: list[URLPattern | URLResolver] = [
    path("notifications/channels", ChannelSummary.as_view()),
    path("notifications/deliveries", DeliveriesView.as_view()),
    path("notifications/email", EmailSwitch.as_view()),
    path("notifications/push/public-key", PushPublicKey.as_view()),
    path("notifications/push/subscribe", PushSubscribe.as_view()),
    path("notifications/push/subscriptions", PushSubscriptionList.as_view()),
    path("notifications/push/subscriptions/<str:subscription_id>", PushSubscriptionDetail.as_view()),
    path("notifications/endpoints", DestinationList.as_view()),
    path("notifications/endpoints/<str:destination_id>", DestinationDetail.as_view()),
    path("notifications/endpoints/<str:destination_id>/test", DestinationTest.as_view()),
    path("reminders/upcoming", UpcomingRemindersView.as_view()),
    path("unsubscribe", Unsubscribe.as_view()),
]
