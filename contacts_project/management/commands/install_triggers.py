"""`manage.py install_triggers`: puts the triggers of the database back (every migration run does so by itself)."""

from typing import Any

from django.core.management.base import BaseCommand

from contacts_project.kernel.database.triggers import install_triggers


class Command(BaseCommand):
    help = "(Re)creates the triggers that compare the owners of linked rows and keep the counts of accounts."

    def handle(self, *args: Any, **options: Any) -> None:
        install_triggers(plan=["by hand"])
