"""Stored photos: files named by their owner and content, on Django's storage.

A photo is made outside any transaction (people.photos.images), announced by a row of its own, stored without any lock,
and then named in the write of its person. A file goes after commit, only when no row names it any more: that is looked
at and noted under the account's lock, and the file deleted behind it. What is killed between two of these is swept.
"""

import datetime as dt
import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from contacts_project.kernel.ownership.recheck import still_broken
from contacts_project.kernel.storage import PART_SUFFIX, StorageUnavailableError
from people.models import Person, StoredPhoto
from people.photos.images import PictureRefusedError, make_photo

__all__ = [
    "PictureRefusedError",
    "delete_files",
    "is_photo_name",
    "make_photo",
    "name_photo",
    "paths_of",
    "photo_hash",
    "photo_name",
    "photos_of",
    "put_photo",
    "read_photo",
    "register_use",
    "store_photo",
    "sweep_files",
    "upload_photo",
]

_NAME = re.compile(r"[0-9a-f]{40}-[0-9a-f]{32}\.jpg")
_SWEPT_WITHIN = dt.timedelta(days=2)
# Longer than a store may take for an answer (kernel.object_storage).
_STORING, _DELETING = dt.timedelta(minutes=10), dt.timedelta(minutes=1)
_AT_ONCE = 50
_LOOKS, _SECONDS_BETWEEN = 20, 0.25

FileUse = Callable[[UUID, set[str]], set[str]]


def upload_photo(*, owner_id: UUID, jpeg: bytes) -> str:
    """Store what make_photo made, outside of transactions; `name_photo` follows within the write of who has it.

    The same picture of the same account is one file. One that was damaged since is written anew. Raises
    StorageUnavailableError and what else a disk may raise, AccountGoneError.
    """
    name = photo_name(owner_id, jpeg)
    is_new = _announce(owner_id, name, len(jpeg))
    try:
        put_photo(name, jpeg)
    except OSError:
        if is_new:
            StoredPhoto.objects.filter(pk=name).delete()
        raise
    return name


def _announce(owner_id: UUID, name: str, size: int) -> bool:
    """Let nobody delete the file while it is stored; whether it is new. Waits for one who deletes it this moment."""
    for look in range(_LOOKS):
        if look:
            time.sleep(_SECONDS_BETWEEN)
        with account_lock(owner_id):
            now = timezone.now()
            if not StoredPhoto.objects.filter(pk=name, is_going=True, busy_until__gt=now).exists():
                values = {"owner_id": owner_id, "size": size, "is_going": False, "busy_until": now + _STORING}
                return StoredPhoto.objects.update_or_create(name=name, defaults=values)[1]
    raise StorageUnavailableError(_GOING)


_GOING = "The same picture is being deleted this moment. Try again in a minute."


def name_photo(*, owner_id: UUID, jpeg: bytes) -> str:
    """The file name of what `upload_photo` has stored, for the row. Inside account_write, before the row's write."""
    name = photo_name(owner_id, jpeg)
    # Where somebody has deleted it meanwhile it is stored again: its row is gone, or going.
    if StoredPhoto.objects.filter(pk=name, is_going=False).update(busy_until=None):
        return name
    return store_photo(owner_id=owner_id, jpeg=jpeg)


def store_photo(*, owner_id: UUID, jpeg: bytes) -> str:
    """Store what make_photo made, and return the file name for the row. Inside account_write: for storages that answer
    at once, and where nobody else waits."""
    name = photo_name(owner_id, jpeg)
    if StoredPhoto.objects.filter(pk=name, is_going=True, busy_until__gt=timezone.now()).exists():
        raise StorageUnavailableError(_GOING)
    put_photo(name, jpeg)
    StoredPhoto.objects.filter(pk=name, is_going=True).update(is_going=False, busy_until=None)
    _note_sizes(owner_id, {name: len(jpeg)})
    return name


def _note_sizes(owner_id: UUID, sizes: Mapping[str, int]) -> None:
    rows = [StoredPhoto(name=name, owner_id=owner_id, size=size) for name, size in sizes.items()]
    StoredPhoto.objects.bulk_create(rows, ignore_conflicts=True)


def read_photo(name: str) -> bytes | None:
    """The stored file's bytes, None when it is not there."""
    try:
        with default_storage.open(_path(name)) as file:
            content: bytes = file.read()
            return content
    except FileNotFoundError:
        return None


def put_photo(name: str, jpeg: bytes) -> None:
    """Store a photo under the name that it had elsewhere, unless it is there."""
    if read_photo(name) != jpeg:
        default_storage.save(_path(name), ContentFile(jpeg))


def is_photo_name(name: str) -> bool:
    """Whether photos are stored under such names."""
    return _NAME.fullmatch(name) is not None


def photo_name(owner_id: UUID, jpeg: bytes) -> str:
    """The name under which the account stores this photo: of its content and its owner."""
    return f"{content_hash(jpeg)}-{owner_id.hex}.jpg"


def content_hash(jpeg: bytes) -> str:
    """The hash that the file name of a photo carries."""
    return hashlib.sha256(jpeg).hexdigest()[:40]


def photo_hash(name: str) -> str:
    """The content's hash, as the file name carries it."""
    return name.partition("-")[0]


def delete_files(names: Iterable[str | None]) -> None:
    """Delete files after commit (at once outside a transaction), but for those that a row still names."""
    by_owner: dict[UUID, set[str]] = defaultdict(set)
    for name in names:
        if name:
            by_owner[owner_of(name)].add(name)
    for owner_id, owned in by_owner.items():
        _delete_on_commit(owner_id, owned)


def _delete_on_commit(owner_id: UUID, names: set[str]) -> None:
    transaction.on_commit(lambda: _delete_unused(owner_id, names), robust=True)


def _delete_unused(owner_id: UUID, names: set[str]) -> None:
    # Few at a time, so that they are gone while their rows say that somebody is at it.
    ordered = sorted(names)
    for start in range(0, len(ordered), _AT_ONCE):
        _delete_few(owner_id, set(ordered[start : start + _AT_ONCE]))


def _delete_few(owner_id: UUID, names: set[str]) -> None:
    try:
        with account_lock(owner_id):
            now = timezone.now()
            used = {name for use in _uses for name in use(owner_id, names)}
            busy = StoredPhoto.objects.filter(name__in=names, busy_until__gt=now).values_list("name", flat=True)
            going = names.difference(used, busy)
            # Noted under the account's lock: who stores the same picture waits until the file is gone.
            StoredPhoto.objects.bulk_create(
                [
                    StoredPhoto(name=name, owner_id=owner_id, size=0, is_going=True, busy_until=now + _DELETING)
                    for name in sorted(going)
                ],
                update_conflicts=True,
                unique_fields=["name"],
                update_fields=["is_going", "busy_until"],
            )
    except AccountGoneError:
        going = names
    _delete(going)


def _delete(names: set[str]) -> None:
    for name in names:
        default_storage.delete(_path(name))
    StoredPhoto.objects.filter(Q(is_going=True) | Q(busy_until=None), name__in=names).delete()


def _path(name: str) -> str:
    return f"photos/{name[:2]}/{name}"


def _used_by_people(owner_id: UUID, names: set[str]) -> set[str]:
    rows = Person.objects.owned_by(owner_id).filter(photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


def _used_by_user(owner_id: UUID, names: set[str]) -> set[str]:
    rows = User.objects.filter(pk=owner_id, photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


_uses: list[FileUse] = [_used_by_people, _used_by_user]


def register_use(use: FileUse) -> None:
    """Keep the files that rows of another app name: `use` gives, of some names of an account, those that it needs."""
    _uses.append(use)


def sweep_files(*, now: dt.datetime) -> int:
    """Delete files that no row names, such as a crash between commit and deletion leaves; returns how many.

    Files of the last day are left alone: the row of one that was just stored may not be committed yet. But those that
    somebody began to store or delete, and did not finish, are known by their rows.
    """
    by_owner: dict[UUID, set[str]] = defaultdict(set)
    strays = 0
    for path in _stored_paths():
        name = path.rpartition("/")[2]
        if default_storage.get_modified_time(path) >= now - dt.timedelta(days=1):
            continue
        if _NAME.fullmatch(name):
            by_owner[owner_of(name)].add(name)
        elif name.endswith(PART_SUFFIX):  # its writer was killed
            default_storage.delete(path)
            strays += 1
    expired = StoredPhoto.objects.filter(busy_until__lt=now).values_list("owner_id", "name")
    for owner_id, name in expired:
        by_owner[owner_id].add(name)
    for owner_id, names in by_owner.items():
        unused = names - {name for use in _uses for name in use(owner_id, names)}
        strays += len(unused)
        if unused:
            _delete_unused(owner_id, unused)
        _count_in(owner_id, names - unused)
        StoredPhoto.objects.filter(name__in=names - unused, busy_until__lt=now).update(busy_until=None)
    return strays


def _count_in(owner_id: UUID, names: set[str]) -> None:
    """Note the sizes of files that were stored before sizes were noted."""
    known = StoredPhoto.objects.filter(owner_id=owner_id).values_list("name", flat=True)
    if new := names.difference(known):
        with suppress(AccountGoneError), account_lock(owner_id):
            _note_sizes(owner_id, {name: default_storage.size(_path(name)) for name in new})


def owner_of(name: str) -> UUID:
    """The account that a file belongs to, as its name says."""
    return UUID(hex=name.partition("-")[2].removesuffix(".jpg"))


def faulty_files(*, now: dt.datetime) -> Iterator[tuple[str, str]]:
    """The names of files that are not as their rows say, each with what is wrong; one folder at a time."""
    for number in range(256):
        folder = f"{number:02x}"
        names, rows = set(_names_in(folder)), _sizes_in(folder)
        suspects = [(owner_of(name), name) for name, size in rows.items() if not _is_stored(name, size, names)]
        missing = still_broken(suspects, _broken_files)
        yield from ((str(name), "missing or damaged") for name in missing)
        for name in names - rows.keys():
            # The row of one that was just stored may not be committed yet; the daily sweep takes what a crash left.
            if default_storage.get_modified_time(_path(name)) < now - _SWEPT_WITHIN:
                yield name, "of no row"


def _broken_files(owner_id: UUID, names: list[object]) -> Iterator[object]:
    rows = StoredPhoto.objects.filter(owner_id=owner_id, name__in=names, busy_until=None)
    for name, size in rows.values_list("name", "size"):
        if not default_storage.exists(_path(name)) or default_storage.size(_path(name)) != size:
            yield name


def _is_stored(name: str, size: int, names: Collection[str]) -> bool:
    """Whether there is such a file; on a disk, of its size too: objects elsewhere are whole."""
    on_disk = isinstance(default_storage, FileSystemStorage)  # a proxy, which is what it stands for
    return name in names and (not on_disk or default_storage.size(_path(name)) == size)


def _sizes_in(folder: str) -> dict[str, int]:
    rows = StoredPhoto.objects.filter(name__gte=folder, name__lt=f"{folder}g", busy_until=None)
    return dict(rows.values_list("name", "size"))


def _names_in(folder: str) -> list[str]:
    try:
        names = default_storage.listdir(f"photos/{folder}")[1]
    except FileNotFoundError:
        return []
    return [name for name in names if is_photo_name(name)]


def _stored_paths() -> Iterator[str]:
    try:
        folders = default_storage.listdir("photos")[0]
    except FileNotFoundError:
        return
    for folder in folders:
        for name in default_storage.listdir(f"photos/{folder}")[1]:
            yield f"photos/{folder}/{name}"


def photos_of(user: User) -> list[str]:
    """The paths of all photos of an account, for its deletion."""
    rows = Person.objects.owned_by(user).exclude(photo=None).values_list("photo", flat=True)
    return paths_of({*rows, user.photo})


def paths_of(names: Iterable[str | None]) -> list[str]:
    """Where the files are."""
    return [_path(name) for name in names if name]
