"""`manage.py purge_deleted [--now ISO]`: runs the daily purge."""

from django.core.management.base import CommandParser

from contacts_project.management.service_command import ServiceCommand, add_now_option, parse_now
from notifications.ledger import purge_history
from people.trash import purge_deleted
from sharing.services.purge import purge_shares


class Command(ServiceCommand):
    help = "Remove for good what was deleted longer ago than the retention period."

    def add_arguments(self, parser: CommandParser) -> None:
        add_now_option(parser)

    def handle(self, *, now: str | None, **options: object) -> None:
        moment = parse_now(now)
        removed = {**purge_deleted(now=moment), **purge_shares(now=moment), "deliveries": purge_history(now=moment)}
        self.stdout.write(", ".join(f"{name}: {count}" for name, count in removed.items()))
