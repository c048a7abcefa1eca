"""`manage.py send_digests`: plans and sends the weekly digests that are due."""

from django.core.management.base import CommandParser
from django.utils import timezone

from contacts_project.management.service_command import ServiceCommand, add_now_option, parse_now
from notifications.models import DeliveryState
from notifications.notices.notice import NoticeKind
from notifications.services.dispatch import reschedule_stale, scan_all_digests, send_due
from notifications.services.sender import SendResult


class Command(ServiceCommand):
    help = "Send every weekly digest that is due, one per account and ISO week. May be run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        add_now_option(parser)

    def handle(self, *, now: str | None, **options: object) -> None:
        moment = parse_now(now)
        reschedule_stale(now=timezone.now())
        planned = scan_all_digests(now=moment)
        counts = send_due(now=moment, kinds=[NoticeKind.DIGEST])
        skipped = counts[SendResult.SKIPPED] + planned[DeliveryState.SKIPPED]
        self.stdout.write(
            f"{planned.total()} planned, {counts[SendResult.SENT]} sent, {counts[SendResult.FAILED]} failed, "
            f"{skipped} skipped"
        )
