"""Models of notifications: targets of an account, schedules, and the ledger of deliveries."""

from notifications.models.calendar_feed import CalendarFeed
from notifications.models.delivery import Delivery, DeliveryState
from notifications.models.destination import Destination, DestinationType
from notifications.models.digest_schedule import DigestSchedule
from notifications.models.heartbeat import Heartbeat
from notifications.models.push_subscription import PushSubscription
from notifications.models.reminder_answer import AnswerState, ReminderAnswer

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
