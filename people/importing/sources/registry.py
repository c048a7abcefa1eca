"""Which source opens which file."""

import datetime as dt
from collections.abc import Iterator
from typing import Any, Protocol

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from people.importing.sources.drafts import RecordResult
from people.importing.sources.google import open_google
from people.importing.sources.outlook import open_outlook
from people.importing.sources.sheets import open_csv, open_linkedin
from people.vocabularies import ImportSource


class Source(Protocol):
    """A file, open. `what` is what its records are called."""

    what: str

    def people(self) -> Iterator[RecordResult]:
        """Its people as cards, one at a time."""


def open_source(*, owner: User, upload: Any, now: dt.datetime) -> Source:
    """The file of an Upload by its source. Raises FieldError where it is none of that."""
    if upload.source == ImportSource.CSV:
        return open_csv(owner, upload.file, upload.mapping, now)
    openers = {
        ImportSource.GOOGLE: open_google,
        ImportSource.OUTLOOK: open_outlook,
        ImportSource.LINKEDIN: open_linkedin,
    }
    if upload.source not in openers:
        raise MissingError
    return openers[upload.source](owner, upload.file, now)
