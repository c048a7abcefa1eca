"""`manage.py doctor`: says what is not right with this instance, and how to mend it."""

from typing import Any

from django.conf import settings
from django.core.checks import ERROR, WARNING, run_checks
from django.core.management.base import BaseCommand, CommandError

from contacts_project.operation import checks


class Command(BaseCommand):
    help = "Looks at the whole instance. Exits 1 when something is wrong; warnings alone exit 0."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        found = [*run_checks(), *run_checks(tags=[checks.TAG], include_deployment_checks=True)]
        found = [message for message in found if not message.is_silenced()]
        for message in sorted(found, key=lambda message: -message.level):
            word = "WRONG" if message.level >= ERROR else "CARE" if message.level >= WARNING else "NOTE"
            self.stdout.write(f"{word}  {message.msg}")
            if message.hint:
                self.stdout.write(f"       {message.hint}")
        if any(message.level >= ERROR for message in found):
            raise CommandError("Something is wrong: see above.")
        self.stdout.write("Nothing is wrong.")
