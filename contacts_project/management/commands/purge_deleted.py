"""`manage.py purge_deleted`: the daily purge, now or as of another time."""

from typing import Any

from contacts_project.management.now_option import add_now, time_of
from contacts_project.management.service_command import ServiceCommand
from notifications.services.history import purge_history
from people.trash.purge import purge_deleted


class Command(ServiceCommand):
    help = "Remove for good what was deleted longer ago than the retention period."

    def add_arguments(self, parser: Any) -> None:
        add_now(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        now = time_of(options)
        removed = {**purge_deleted(now=now), "deliveries": purge_history(now=now)}
        self.stdout.write(", ".join(f"{name}: {count}" for name, count in removed.items()))
