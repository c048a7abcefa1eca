"""`manage.py restore FILE [--verify] [--plain]`: restores a backup into an empty instance, or verifies the file."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from contacts_project.backup.container import BackupError
from contacts_project.backup.restorer import restore as restore_file
from contacts_project.backup.restorer import verify as verify_file
from contacts_project.kernel.errors import UnavailableError
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Fill this instance, which must have no accounts, from a backup of either database. Creates the tables."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="made by manage.py backup")
        parser.add_argument("--verify", action="store_true", help="only read and check the file; changes nothing")
        parser.add_argument(
            "--plain", action="store_true", help="take a file that is not encrypted although BACKUP_KEY is set"
        )

    def handle(self, *, file: Path, plain: bool, verify: bool, **options: object) -> None:
        action = verify_file if verify else restore_file
        try:
            verified = action(file, key=settings.BACKUP_KEY, allow_plain=plain)
        except (BackupError, UnavailableError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror or error}. Nothing was changed.") from None
        if not verified.header.fits_secret_key:
            self.stderr.write(
                "WARNING  SECRET_KEY is not that of the backup: links in sent mails and recovery codes will not work."
            )
        word = "whole" if verify else "restored"
        header = verified.header
        self.stdout.write(f"{file} is {word}: {verified.totals}; made at {header.made_at} by version {header.version}.")
