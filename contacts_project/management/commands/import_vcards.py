"""`manage.py import_vcards FILE --user EMAIL`: imports a file of vCards."""

from pathlib import Path

from django.core.management.base import CommandError
from django.utils import timezone

from contacts_project.management.service_command import ImportCommand
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED
from people.importing.runs import VCardImport
from people.vcard import read_cards
from people.vcard.files import split_cards


class Command(ImportCommand):
    help = "Imports a file of vCards (2.1, 3.0, 4.0) into an account. Running it again changes nothing."

    def handle(self, *, user: str, file: Path, remind: str | None, **options: object) -> None:
        owner, path = self.account_and_file(user, file)
        run = VCardImport(owner=owner, file_name=path.name, now=timezone.now(), remind=remind)
        with self.progress(path) as (source, bar):
            total = sum(1 for _ in split_cards(source))
            source.seek(0)
            for outcome in run.run(read_cards(source), total):
                if outcome.status == ERROR:
                    bar.write(str(outcome.message()), file=self.stderr)
        counts = run.counts
        if not counts:
            raise CommandError(f"There is no vCard in {path}.")
        summary = ", ".join(f"{counts[status]} {status}" for status in (IMPORTED, UPDATED, SKIPPED))
        self.stdout.write(f"{summary}, {counts[ERROR]} errors")
        if run.import_id:
            self.stdout.write(f"Import {run.import_id}")
        if counts[ERROR] and counts[ERROR] == counts.total():
            raise CommandError("No card could be imported.")
