"""Maps each import source to the function that opens its files."""

import datetime as dt
from collections.abc import Callable
from typing import Any, BinaryIO

from accounts.models import User
from people.importing.sources.google import open_google
from people.importing.sources.monica import open_monica
from people.importing.sources.nametag import open_nametag
from people.importing.sources.outlook import open_outlook
from people.importing.sources.records import Source
from people.importing.sources.sheets import open_csv, open_linkedin
from people.importing.sources.tables import TableOptions
from people.vocabularies import ImportSource

_TABLE_OPENERS: dict[str, Callable[[User, BinaryIO, dt.datetime, TableOptions], Source]] = {
    ImportSource.GOOGLE: open_google,
    ImportSource.OUTLOOK: open_outlook,
    ImportSource.LINKEDIN: open_linkedin,
}
_DOCUMENT_OPENERS: dict[str, Callable[[User, BinaryIO, dt.datetime], Source]] = {
    ImportSource.MONICA: open_monica,
    ImportSource.NAMETAG: open_nametag,
}


def open_source(*, owner: User, upload: Any, now: dt.datetime) -> Source:
    """Open the file of an Upload with its source. Raises FieldError if the file does not fit the source."""
    if upload.source == ImportSource.CSV:
        return open_csv(owner, upload.file, upload.mapping, now, upload.options)
    if open_table := _TABLE_OPENERS.get(upload.source):
        return open_table(owner, upload.file, now, upload.options)
    return _DOCUMENT_OPENERS[upload.source](owner, upload.file, now)
