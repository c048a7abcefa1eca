"""`manage.py import_contacts --user EMAIL --source S FILE`: imports a file of another product."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from accounts.vocabularies import DateFormat
from contacts_project.kernel.errors import FieldError
from contacts_project.management.service_command import ImportCommand
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED
from people.importing.runs import FileImport, ImportFile
from people.importing.sources.tables import read_options
from people.vocabularies import UPLOAD_SOURCES


class Command(ImportCommand):
    help = "Imports contacts from a file of another product into an account. What is equal already is skipped."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--source", required=True, choices=UPLOAD_SOURCES)
        parser.add_argument("--mapping", default="", metavar="JSON", help="for csv: { column: field }")
        parser.add_argument("--encoding", default="", help="of a table; found if left out")
        parser.add_argument(
            "--delimiter", default="", metavar="MARK", help="comma, semicolon, tab or pipe; found if left out"
        )
        parser.add_argument("--date-order", default="", choices=["", *DateFormat.values], help="found if left out")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, write nothing")

    def handle(self, *, user: str, file: Path, **options: Any) -> None:
        owner, path = self.account_and_file(user, file)
        try:
            self._import(owner, path, options)
        except FieldError as error:
            raise CommandError(str(error)) from error

    def _import(self, owner: User, path: Path, options: dict[str, Any]) -> None:
        is_dry = options["dry_run"]
        with self.progress(path) as (source, bar):
            upload = ImportFile(
                source=options["source"],
                file=source,
                name=path.name,
                mapping=options["mapping"],
                options=read_options(
                    encoding=options["encoding"], delimiter=options["delimiter"], date_order=options["date_order"]
                ),
                remind=options["remind"],
            )
            run = FileImport(owner=owner, upload=upload, now=timezone.now(), is_dry=is_dry)
            for outcome in run.run():
                for message in outcome.messages(run.source.record_noun) if outcome.status != SKIPPED else ():
                    bar.write(str(message), file=self.stderr)
            for kind in run.left_out:
                bar.write(f"{kind.name}: {kind.remarks[0]}", file=self.stderr)
        summary = ", ".join(f"{run.counts[status]} {status}" for status in (IMPORTED, UPDATED, SKIPPED))
        self.stdout.write(f"{summary}, {run.counts[ERROR]} errors")
        if is_dry:
            self.stdout.write("Nothing was written: this was a dry run.")
        elif run.import_id:
            self.stdout.write(f"Import {run.import_id}")
        if run.counts[ERROR] and run.counts[ERROR] == run.counts.total():
            raise CommandError("Nothing could be imported.")
