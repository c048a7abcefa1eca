"""`manage.py restore FILE [--verify]`: restores a backup into an empty instance, or only verifies the file."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from contacts_project.backup.container import BackupError
from contacts_project.backup.restorer import restore, verify
from contacts_project.kernel.errors import UnavailableError
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Fill this instance, which must be migrated and have no accounts, from a backup of either database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="made by manage.py backup")
        parser.add_argument("--verify", action="store_true", help="only read and check the file; changes nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        action = verify if options["verify"] else restore
        try:
            verified = action(path, key=settings.BACKUP_KEY)
        except (BackupError, UnavailableError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or path}: {error.strerror or error}. Nothing was changed.") from None
        if not verified.header.fits_secret_key:
            self.stderr.write(
                "WARNING  SECRET_KEY is not that of the backup: links in sent mails and recovery codes will not work."
            )
        word = "whole" if options["verify"] else "restored"
        header = verified.header
        self.stdout.write(f"{path} is {word}: {verified.totals}; made at {header.made_at} by version {header.version}.")
