"""Models of notifications: targets of an account, schedules, and the ledger of deliveries."""

from notifications.models.deliveries import (
    AnswerState,
    Delivery,
    DeliveryState,
    DigestSchedule,
    Heartbeat,
    ReminderAnswer,
)
from notifications.models.destinations import CalendarFeed, Destination, DestinationType, PushSubscription

__all__ = [
    "AnswerState",
    "CalendarFeed",
    "Delivery",
    "DeliveryState",
    "Destination",
    "DestinationType",
    "DigestSchedule",
    "Heartbeat",
    "PushSubscription",
    "ReminderAnswer",
]
