"""`manage.py install_triggers`: puts the owner triggers back (every migration run does so by itself)."""

from typing import Any

from django.core.management.base import BaseCommand

from contacts_project.kernel.ownership.triggers import install_owner_triggers


class Command(BaseCommand):
    help = "(Re)creates the triggers that refuse rows pointing at another account's rows."

    def handle(self, *args: Any, **options: Any) -> None:
        install_owner_triggers(plan=["by hand"])
