"""`manage.py sync_carddav [--user EMAIL]`: syncs the address books that are due, or that of one account."""

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from carddav.models import RunTrigger
from carddav.services.schedule import sync_account, sync_due
from carddav.sync.lock import LockedError
from contacts_project.kernel.errors import MissingError
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Syncs everybody whose address book is due; with --user that account now. May be run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="EMAIL", help="the account with this address, due or not")

    def handle(self, *, user: str | None, **options: object) -> None:
        if user is None:
            receipt = sync_due(now=timezone.now(), trigger=RunTrigger.COMMAND)
            for message in receipt.shown_messages:
                self.stderr.write(str(message))
            self.stdout.write(f"{receipt.done} synced, {receipt.skipped} skipped, {receipt.errors} failed")
            return
        owner = User.objects.with_email(user).first()
        if owner is None:
            raise CommandError(f"There is no account with the address {user}.")
        try:
            run = sync_account(owner=owner, trigger=RunTrigger.COMMAND)
        except MissingError:
            raise CommandError("This account has no CardDAV connection.") from None
        except LockedError:
            raise CommandError("This account is being synced at the moment.") from None
        for message in run.messages:
            self.stderr.write(str(message))
        if run.code:
            raise CommandError(str(run.error))
        self.stdout.write(
            f"{run.imported} imported, {run.exported} exported, {run.updated_locally} updated here, "
            f"{run.updated_remotely} updated there, {run.conflicts} conflicts, {run.errors} errors"
        )
