"""`manage.py doctor [--deep]`: reports problems of this instance, and how to solve them."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import ERROR, WARNING, run_checks
from django.core.management.base import CommandError, CommandParser

from contacts_project.kernel.invariants import find_violations
from contacts_project.management.service_command import ServiceCommand
from contacts_project.operation import checks
from contacts_project.operation import invariants as _all_tables_invariants  # noqa: F401 - registers them
from contacts_project.operation.health import check_database, check_migrations


class Command(ServiceCommand):
    help = "Check the whole instance. Exits 1 if there are errors; warnings alone exit 0."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--deep", action="store_true", help="also check all data, which takes minutes")

    def handle(self, *, deep: bool, **options: object) -> None:
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        has_errors = False
        for severity, text, hint in self._findings(deep):
            has_errors |= severity == "ERROR"
            self.stdout.write(f"{severity}  {text}")
            if hint:
                self.stdout.write(f"{' ' * len(severity)}  {hint}")
        if has_errors:
            raise CommandError("There are errors: see above.")
        self.stdout.write("No errors.")

    def _findings(self, is_deep: bool) -> Iterator[tuple[str, str, str | None]]:
        """Yield severity, text and hint of each finding: the quick checks by severity, then those of `--deep`."""
        messages = [*run_checks(), *run_checks(tags=[checks.TAG], include_deployment_checks=True)]
        messages = [message for message in messages if not message.is_silenced()]
        for message in sorted(messages, key=lambda message: -message.level):
            severity = "ERROR" if message.level >= ERROR else "WARNING" if message.level >= WARNING else "INFO"
            yield severity, message.msg, message.hint
        # Without a database or its tables, which is reported above, there is no data to check.
        if is_deep and check_database().is_fit and check_migrations().is_fit:
            for violation in find_violations():
                examples = ", ".join(violation.examples) + (
                    ", ..." if violation.number > len(violation.examples) else ""
                )
                yield "ERROR", f"{violation.number} {violation.broken}: {examples}", violation.hint
