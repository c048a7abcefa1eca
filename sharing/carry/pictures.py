"""Pictures of shared people: files of the share, named by their content.

A document has the hash of its picture. The bytes are written to the store before the transaction in which a document
takes the hash, and read before the one in which a person takes the picture: no transaction is open while the storage is
asked. A batch that needs a picture which is not prepared leaves the photo as it is, names it here, and the copy stays
due. Files that no document has are removed by the purge.
"""

import datetime as dt
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from contacts_project.kernel.errors import DomainError
from people.photos.files import read_photo, upload_photo
from people.photos.names import photo_hash
from sharing.models import LogEntry, SharedPerson

log = logging.getLogger(__name__)

_MIN_STRAY_AGE = dt.timedelta(days=1)
_FOLDER = "shared"


@dataclass
class Pictures:
    """The pictures that one run of the carry has prepared, by hash, and those that it has to.

    `incoming`: bytes of the share that are stored for the account. `outgoing`: in the store of the share. `wanted_here`
    are hashes, `wanted_there` names of the account's files. `missing` are not to be had; `postponed`, because the
    storage did not answer: the copies `left_due` wait for a later run.
    """

    incoming: dict[str, bytes] = field(default_factory=dict)
    outgoing: set[str] = field(default_factory=set)
    wanted_here: set[str] = field(default_factory=set)
    wanted_there: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    postponed: set[str] = field(default_factory=set)
    left_due: set[UUID] = field(default_factory=set)

    @property
    def is_wanted(self) -> bool:
        return bool(self.wanted_here or self.wanted_there)

    def prepare(self, owner_id: UUID, share_id: UUID) -> None:
        """Load and store what is wanted. Must be called outside of transactions."""
        here, there = self.wanted_here, self.wanted_there
        self.wanted_here, self.wanted_there = set(), set()
        for token in sorted(here):
            self._load(owner_id, share_id, token)
        for name in sorted(there):
            self._store(share_id, name)

    def _load(self, owner_id: UUID, share_id: UUID, token: str) -> None:
        try:
            jpeg = read_picture(share_id, token)
            if jpeg is None:
                self.missing.add(token)
                return
            upload_photo(owner_id=owner_id, jpeg=jpeg)
            self.incoming[token] = jpeg
        except DomainError:  # the account may store no more
            self.missing.add(token)
        except OSError as error:
            log.warning("A picture of a share could not be read: %s", error)
            self.postponed.add(token)

    def _store(self, share_id: UUID, name: str) -> None:
        token = photo_hash(name)
        try:
            jpeg = read_photo(name)
            if jpeg is None:
                self.missing.add(token)
                return
            if read_picture(share_id, token) != jpeg:
                default_storage.save(_path(share_id, token), ContentFile(jpeg))
            self.outgoing.add(token)
        except OSError as error:
            log.warning("A picture could not be stored for a share: %s", error)
            self.postponed.add(token)


def read_picture(share_id: UUID, token: str) -> bytes | None:
    """The bytes of a picture of the share, or None if there is no such file."""
    try:
        with default_storage.open(_path(share_id, token)) as file:
            content: bytes = file.read()
            return content
    except FileNotFoundError:
        return None


def _path(share_id: UUID, token: str) -> str:
    return f"{_FOLDER}/{share_id.hex}/{token[:2]}/{token}.jpg"


def purge_pictures(*, now: dt.datetime) -> int:
    """Delete the files of shares that neither a document has nor an entry of the log, to which it may be set back, but
    for those of the last day; returns how many."""
    deleted = 0
    for share_id, paths in _stored():
        rows = SharedPerson.unscoped.rows().filter(share=share_id)
        former = LogEntry.unscoped.rows().filter(share=share_id, before__has_key="photo")
        photos = [*rows.values_list("fields__photo", flat=True), *former.values_list("before__photo", flat=True)]
        used = {f"{photo}.jpg" for photo in photos if photo}
        for path in paths:
            is_old = default_storage.get_modified_time(path) < now - _MIN_STRAY_AGE
            if is_old and path.rpartition("/")[2] not in used:
                default_storage.delete(path)
                deleted += 1
    return deleted


def _stored() -> Iterator[tuple[UUID, list[str]]]:
    """The paths of all files, by share."""
    for folder in _folders(_FOLDER):
        under = f"{_FOLDER}/{folder}"
        yield (
            UUID(hex=folder),
            [
                f"{under}/{part}/{name}"
                for part in _folders(under)
                for name in default_storage.listdir(f"{under}/{part}")[1]
            ],
        )


def _folders(path: str) -> list[str]:
    try:
        return list(default_storage.listdir(path)[0])
    except FileNotFoundError:
        return []
