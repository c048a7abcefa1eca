"""`manage.py doctor [--deep]`: reports problems of this instance, and how to solve them."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import ERROR, WARNING, run_checks
from django.core.management.base import CommandError, CommandParser

from contacts_project.kernel.invariants import breaches
from contacts_project.management.service_command import ServiceCommand
from contacts_project.operation import checks
from contacts_project.operation import invariants as _all_tables_invariants  # noqa: F401 - registers them
from contacts_project.operation.health import check_database, check_migrations


class Command(ServiceCommand):
    help = "Looks at the whole instance. Exits 1 when something is wrong; warnings alone exit 0."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--deep", action="store_true", help="look at all data, too, which takes minutes")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        is_wrong = False
        for word, text, hint in self._findings(options["deep"]):
            is_wrong |= word == "WRONG"
            self.stdout.write(f"{word}  {text}")
            if hint:
                self.stdout.write(f"       {hint}")
        if is_wrong:
            raise CommandError("Something is wrong: see above.")
        self.stdout.write("Nothing is wrong.")

    def _findings(self, is_deep: bool) -> Iterator[tuple[str, str, str | None]]:
        """Return word, text and hint of each finding: those of the quick checks by severity, then those of `--deep`."""
        messages = [*run_checks(), *run_checks(tags=[checks.TAG], include_deployment_checks=True)]
        messages = [message for message in messages if not message.is_silenced()]
        for message in sorted(messages, key=lambda message: -message.level):
            word = "WRONG" if message.level >= ERROR else "CARE" if message.level >= WARNING else "NOTE"
            yield word, message.msg, message.hint
        # Without a database or its tables, which is reported above, there is no data to check.
        if is_deep and check_database().fit and check_migrations().fit:
            for breach in breaches():
                examples = ", ".join(breach.examples) + (", ..." if breach.number > len(breach.examples) else "")
                yield "WRONG", f"{breach.number} {breach.what}: {examples}", breach.hint
