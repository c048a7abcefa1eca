"""`manage.py backup FILE`: writes the whole instance to one file. It can keep serving meanwhile."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import Error, connection
from django.template.defaultfilters import filesizeformat

from contacts_project.backup.container import BackupError
from contacts_project.backup.writer import write_backup
from contacts_project.kernel.database.migrations import NewerDatabaseError, check_not_newer
from contacts_project.kernel.errors import UnavailableError
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Write database and photos, as they are at one moment, to a new FILE; encrypted where BACKUP_KEY is set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a name that no file has yet")

    def handle(self, *, file: Path, **options: object) -> None:
        try:
            check_not_newer(connection)  # a backup without what this version does not know of would be none
            totals = write_backup(file, key=settings.BACKUP_KEY)
        except (BackupError, UnavailableError, NewerDatabaseError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror or error}. There is no backup.") from None
        except Error as error:
            raise CommandError(f"The database failed: {str(error).splitlines()[0]}. There is no backup.") from None
        if totals.missing_photos:
            text = f"WARNING  {totals.missing_photos} photos are missing or damaged: the backup does not contain them."
            self.stderr.write(text)
        kind = "encrypted" if settings.BACKUP_KEY else "not encrypted"
        self.stdout.write(f"{file}: {totals}; {filesizeformat(file.stat().st_size)}, {kind}.")
