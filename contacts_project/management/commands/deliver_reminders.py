"""`manage.py deliver_reminders`: plans and sends due reminders once, as the worker does each minute."""

from django.core.management.base import CommandParser
from django.utils import timezone

from contacts_project.management.service_command import ServiceCommand, add_now_option, parse_now
from notifications.channels.endpoint import send_disabled_notices
from notifications.models import DeliveryState
from notifications.models.deliveries import record_heartbeat
from notifications.services.dispatch import reschedule_stale, scan_reminders, send_due
from notifications.services.sender import SendResult


class Command(ServiceCommand):
    help = "Plans and sends every reminder that is due, and tries again what is waiting. May be run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        add_now_option(parser)

    def handle(self, *, now: str | None, **options: object) -> None:
        moment = parse_now(now)
        reschedule_stale(now=timezone.now())
        planned = scan_reminders(now=moment)
        counts = send_due(now=moment)
        counts[SendResult.SKIPPED] += planned[DeliveryState.SKIPPED]  # those that are too late or have no channel
        send_disabled_notices()
        if not now:
            # For instances without a worker, where cron runs this command: health checks look at the heartbeat.
            record_heartbeat("due_scan", moment)
        shown = [result for result in SendResult if result is not SendResult.DEFERRED or counts[result]]
        ended = ", ".join(f"{counts[result]} {result}" for result in shown)
        self.stdout.write(f"{planned.total()} planned, {ended} by another run")
