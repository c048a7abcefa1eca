"""`manage.py upgrade_backup OLD NEW`: run by `restore` for an older backup, with a temporary database."""

from pathlib import Path

from django.core.management.base import CommandError, CommandParser

from contacts_project.backup.container import BackupError
from contacts_project.backup.restorer import upgrade_file
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Used by restore: rewrite an older backup in the format of this version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("old", type=Path)
        parser.add_argument("new", type=Path)

    def handle(self, *, old: Path, new: Path, **options: object) -> None:
        try:
            upgrade_file(old, new)
        except BackupError as error:
            raise CommandError(str(error)) from None
