"""Maps each import source to the function that opens its files."""

import datetime as dt
from typing import Any

from accounts.models import User
from people.importing.sources.google import open_google
from people.importing.sources.monica import open_monica
from people.importing.sources.nametag import open_nametag
from people.importing.sources.outlook import open_outlook
from people.importing.sources.records import Source
from people.importing.sources.sheets import open_csv, open_linkedin
from people.vocabularies import ImportSource


def open_source(*, owner: User, upload: Any, now: dt.datetime) -> Source:
    """Open the file of an Upload with its source. Raises FieldError if the file does not fit the source."""
    if upload.source == ImportSource.CSV:
        return open_csv(owner, upload.file, upload.mapping, now)
    opener: Any = {
        ImportSource.GOOGLE: open_google,
        ImportSource.OUTLOOK: open_outlook,
        ImportSource.LINKEDIN: open_linkedin,
        ImportSource.MONICA: open_monica,
        ImportSource.NAMETAG: open_nametag,
    }[upload.source]
    source: Source = opener(owner, upload.file, now)
    return source
