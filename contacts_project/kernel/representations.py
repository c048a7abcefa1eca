"""Records as their GET returns them, with their ETag."""

import hashlib
from typing import Any, NamedTuple

from contacts_project.kernel.json import dumps


class Representation(NamedTuple):
    """The body of a record as its GET returns it (a dictionary or an orjson.Fragment), and the revision of its row.
    `in_feed` is what the change feed sends of it, where that is less.

    Read the revision together with the row, or before the rest of the body: then a body can be newer than its revision,
    but never older, and a client never keeps old data under a new ETag.
    """

    revision: int
    body: Any
    in_feed: Any = None

    @property
    def etag(self) -> str:
        """A strong validator: the revision that changed the record last, and a digest of its JSON.

        The digest covers what the body repeats from other records, such as the names of groups. Those can change
        without a new revision of this record.
        """
        return f'"{self.revision:x}-{hashlib.blake2b(dumps(self.body), digest_size=8).hexdigest()}"'
