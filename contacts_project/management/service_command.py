"""What the commands share: their base classes, the option `--now`, and a progress bar."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error
from django.utils import timezone
from tqdm import tqdm

from accounts.models import User
from accounts.vocabularies import DateReminders
from contacts_project.kernel.errors import is_unavailable


def add_now_option(parser: CommandParser) -> None:
    parser.add_argument("--now", metavar="ISO", help="Run as if it were this moment (UTC unless it has an offset).")


def parse_now(text: str | None) -> dt.datetime:
    """Return the time of the option, else the current time. Raises CommandError."""
    if not text:
        return timezone.now()
    try:
        now = dt.datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--now {text}: not an ISO 8601 moment, such as 2026-05-04T09:00:00Z.") from None
    return now if now.tzinfo else now.replace(tzinfo=dt.UTC)


def account_of(email: str) -> User:
    """The account that an argument names. Raises CommandError."""
    owner = User.objects.with_email(email).first()
    if owner is None:
        raise CommandError(f"There is no account {email}.")
    return owner


class ServiceCommand(BaseCommand):
    """Skips Django's system checks, which load every view: a fifth of the start. `check` and `migrate` run them."""

    requires_system_checks: list[str] = []


class ImportCommand(ServiceCommand):
    """A command that imports a file into an account."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, metavar="EMAIL", help="the account")
        parser.add_argument(
            "--remind", choices=DateReminders.values, help="which new dates; as the account prefers if left out"
        )

    def account_and_file(self, email: str, path: Path) -> tuple[User, Path]:
        """The account and the file that the arguments name. Raises CommandError if either does not exist."""
        owner = account_of(email)
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        return owner, path

    @contextmanager
    def progress(self, path: Path) -> "Iterator[tuple[BinaryIO, tqdm[NoReturn]]]":
        """The open file, and its progress bar. Raises CommandError if the database does not answer meanwhile."""
        try:
            with (
                path.open("rb") as file,
                tqdm(total=path.stat().st_size, unit="B", unit_scale=True, desc="Importing", file=self.stderr) as bar,
            ):
                yield cast("BinaryIO", ProgressFile(file, bar)), bar
        except Error as error:
            if not is_unavailable(error):
                raise
            raise CommandError(f"Nothing was imported: {error}. Try again in a few seconds.") from error


class ProgressFile:
    """Wraps a binary file. The progress bar, of tqdm, shows the position in it, also after a seek."""

    def __init__(self, file: BinaryIO, bar: "tqdm[NoReturn]") -> None:
        self.file, self.bar = file, bar

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.bar.update(self.file.tell() - self.bar.n)
        return data

    def seek(self, position: int) -> int:
        return self.file.seek(position)
