"""The base classes of the service's commands."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User


class ServiceCommand(BaseCommand):
    """Skips Django's system checks, which load every view: a fifth of the start. `check` and `migrate` run them."""

    requires_system_checks: list[str] = []


class ImportCommand(ServiceCommand):
    """A command that imports a file into an account."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, metavar="EMAIL", help="the account")

    def account_and_file(self, email: str, path: Path) -> tuple[User, Path]:
        """The account and the file that the arguments name. Raises CommandError if either does not exist."""
        owner = User.objects.with_email(email).first()
        if owner is None:
            raise CommandError(f"There is no account {email}.")
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        return owner, path
