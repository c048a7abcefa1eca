"""Stored photos: files named by their owner and content, on Django's storage.

An upload has four steps: encode the photo outside of transactions (people.photos.images), mark its StoredPhoto row as
busy under the account lock, store the file without any lock, reference it in the write of its person. A file is deleted
after commit, if no row references it any more: this is checked and marked under the account lock, and the file is
deleted after the lock is released. The daily sweep removes what a killed process leaves between two steps.
"""

import datetime as dt
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
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, still_broken
from contacts_project.kernel.storage import PART_SUFFIX, StorageUnavailableError
from people.models import Person, StoredPhoto
from people.models.account_counts import add_bytes
from people.photos.names import is_photo_name, photo_name

# The sweep keeps younger files without a row: the transaction that will reference them may not be committed yet.
_MIN_STRAY_AGE = dt.timedelta(days=1)
# The doctor reports older files without a row: by then a daily sweep should have removed them.
_MAX_STRAY_AGE = dt.timedelta(days=2)
# Longer than a store may take for a response (kernel.object_storage).
_MAX_UPLOAD_TIME, _MAX_DELETION_TIME = dt.timedelta(minutes=10), dt.timedelta(minutes=1)
_DELETION_BATCH_SIZE = 50
_MAX_ATTEMPTS, _RETRY_SECONDS = 20, 0.25
_BEING_DELETED = "The same picture is being deleted this moment. Try again in a minute."

FindReferenced = Callable[[UUID, set[str]], set[str]]
"""Returns those of these file names of an account that rows still reference."""


def upload_photo(*, owner_id: UUID, jpeg: bytes) -> str:
    """Store the result of make_photo and return its file name. Must be called outside of transactions.

    The write of the row that references the file then calls `confirm_upload`. The same picture of the same account is
    one file; a damaged file is written again. Raises AccountGoneError, StorageUnavailableError and other OSErrors.
    """
    name = photo_name(owner_id, jpeg)
    is_new = _mark_uploading(owner_id, name, len(jpeg))
    try:
        put_photo(name, jpeg)
    except OSError:
        if is_new:
            StoredPhoto.objects.filter(pk=name).delete()
        raise
    return name


def _mark_uploading(owner_id: UUID, name: str, size: int) -> bool:
    """Protect the file from deletion while it is stored; returns whether its row is new.

    Waits while the file is being deleted. Raises StorageUnavailableError if that takes too long, StorageLimitError.
    """
    for attempt in range(_MAX_ATTEMPTS):
        if attempt:
            time.sleep(_RETRY_SECONDS)
        with account_lock(owner_id):
            now = timezone.now()
            if not StoredPhoto.objects.filter(pk=name, is_being_deleted=True, busy_until__gt=now).exists():
                values = {
                    "owner_id": owner_id,
                    "size": size,
                    "is_being_deleted": False,
                    "busy_until": now + _MAX_UPLOAD_TIME,
                }
                is_new = StoredPhoto.objects.update_or_create(name=name, defaults=values)[1]
                if is_new:
                    add_bytes(owner_id, 0)
                return is_new
    raise StorageUnavailableError(_BEING_DELETED)


def confirm_upload(*, owner_id: UUID, jpeg: bytes) -> str:
    """End an upload; returns the file name for the row.

    Must be called inside account_write, before the row is saved.
    """
    name = photo_name(owner_id, jpeg)
    if StoredPhoto.objects.filter(pk=name, is_being_deleted=False).update(busy_until=None):
        return name
    # The file was deleted after the upload, or is being deleted: store it again.
    return store_photo(owner_id=owner_id, jpeg=jpeg)


def store_photo(*, owner_id: UUID, jpeg: bytes) -> str:
    """Store the result of make_photo at once, and return the file name for the row.

    Must be called inside account_write. The account is locked while the storage works; where others may wait for the
    lock, use `upload_photo` instead. Raises StorageUnavailableError and other OSErrors.
    """
    name = photo_name(owner_id, jpeg)
    if StoredPhoto.objects.filter(pk=name, is_being_deleted=True, busy_until__gt=timezone.now()).exists():
        raise StorageUnavailableError(_BEING_DELETED)
    put_photo(name, jpeg)
    StoredPhoto.objects.filter(pk=name, is_being_deleted=True).update(is_being_deleted=False, busy_until=None)
    _insert_rows(owner_id, {name: len(jpeg)})
    add_bytes(owner_id, 0)
    return name


def _insert_rows(owner_id: UUID, sizes: Mapping[str, int]) -> None:
    rows = [StoredPhoto(name=name, owner_id=owner_id, size=size) for name, size in sizes.items()]
    StoredPhoto.objects.bulk_create(rows, ignore_conflicts=True)


def read_photo(name: str) -> bytes | None:
    """The content of a stored file, or None if it does not exist."""
    try:
        with default_storage.open(_path(name)) as file:
            content: bytes = file.read()
            return content
    except FileNotFoundError:
        return None


def put_photo(name: str, jpeg: bytes) -> None:
    """Write a file under this name, unless it exists with this content."""
    if read_photo(name) != jpeg:
        default_storage.save(_path(name), ContentFile(jpeg))


def delete_files(names: Iterable[str | None]) -> None:
    """Delete files after commit (at once outside a transaction), except those that a row still references."""
    by_owner: dict[UUID, set[str]] = defaultdict(set)
    for name in names:
        if name:
            by_owner[_owner_id_of(name)].add(name)
    for owner_id, owned in by_owner.items():
        _delete_on_commit(owner_id, owned)


def _delete_on_commit(owner_id: UUID, names: set[str]) -> None:
    # Not in the loop of delete_files, whose variables a lambda would read when the transaction ends. A lambda, not a
    # partial: a robust callback that fails is logged by its __qualname__.
    transaction.on_commit(lambda: _delete_unused(owner_id, names), robust=True)


def _delete_unused(owner_id: UUID, names: set[str]) -> None:
    # In batches, so that each is deleted within the time for which its rows are marked as busy.
    ordered = sorted(names)
    for start in range(0, len(ordered), _DELETION_BATCH_SIZE):
        _delete_batch(owner_id, set(ordered[start : start + _DELETION_BATCH_SIZE]))


def _delete_batch(owner_id: UUID, names: set[str]) -> None:
    try:
        with account_lock(owner_id):
            now = timezone.now()
            busy = StoredPhoto.objects.filter(name__in=names, busy_until__gt=now).values_list("name", flat=True)
            unused = names.difference(_find_referenced(owner_id, names), busy)
            # Marked under the account lock, so that an upload of the same picture waits until the file is deleted.
            StoredPhoto.objects.bulk_create(
                [
                    StoredPhoto(
                        name=name, owner_id=owner_id, size=0, is_being_deleted=True, busy_until=now + _MAX_DELETION_TIME
                    )
                    for name in sorted(unused)
                ],
                update_conflicts=True,
                unique_fields=["name"],
                update_fields=["is_being_deleted", "busy_until"],
            )
    except AccountGoneError:
        unused = names
    for name in unused:
        default_storage.delete(_path(name))
    # Not the row of an upload that has begun meanwhile.
    StoredPhoto.objects.filter(Q(is_being_deleted=True) | Q(busy_until=None), name__in=unused).delete()


def _path(name: str) -> str:
    return f"photos/{name[:2]}/{name}"


def _find_referenced(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of these file names that a row of the account references."""
    return {name for find in _reference_finders for name in find(owner_id, names)}


def _find_referenced_by_people(owner_id: UUID, names: set[str]) -> set[str]:
    rows = Person.objects.owned_by(owner_id).filter(photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


def _find_referenced_by_user(owner_id: UUID, names: set[str]) -> set[str]:
    rows = User.objects.filter(pk=owner_id, photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


_reference_finders: list[FindReferenced] = [_find_referenced_by_people, _find_referenced_by_user]


def register_reference_finder(find: FindReferenced) -> None:
    """Keep the files that rows of another app reference. Called once per app, from AppConfig.ready()."""
    _reference_finders.append(find)


def sweep_files(*, now: dt.datetime) -> int:
    """Delete files that no row references, such as a crash between commit and deletion leaves; returns how many.

    Files of the last day are kept, except those whose upload or deletion was begun and has exceeded its time.
    """
    by_owner: dict[UUID, set[str]] = defaultdict(set)
    deleted = 0
    for path in _stored_paths():
        name = path.rpartition("/")[2]
        if default_storage.get_modified_time(path) >= now - _MIN_STRAY_AGE:
            continue
        if is_photo_name(name):
            by_owner[_owner_id_of(name)].add(name)
        elif name.endswith(PART_SUFFIX):  # its writer was killed
            default_storage.delete(path)
            deleted += 1
    expired = StoredPhoto.objects.filter(busy_until__lt=now).values_list("owner_id", "name")
    for owner_id, name in expired:
        by_owner[owner_id].add(name)
    for owner_id, names in by_owner.items():
        unused = names - _find_referenced(owner_id, names)
        deleted += len(unused)
        if unused:
            _delete_unused(owner_id, unused)
        _insert_missing_rows(owner_id, names - unused)
        StoredPhoto.objects.filter(name__in=names - unused, busy_until__lt=now).update(busy_until=None)
    return deleted


def _insert_missing_rows(owner_id: UUID, names: set[str]) -> None:
    """Insert the rows of files from before there were rows for files."""
    existing = StoredPhoto.objects.filter(owner_id=owner_id).values_list("name", flat=True)
    if missing := names.difference(existing):
        with suppress(AccountGoneError), account_lock(owner_id):
            _insert_rows(owner_id, {name: default_storage.size(_path(name)) for name in missing})


def _owner_id_of(name: str) -> UUID:
    """The id of the account that a file belongs to, from its name."""
    return UUID(hex=name.partition("-")[2].removesuffix(".jpg"))


def find_faulty_files(*, now: dt.datetime) -> Iterator[tuple[str, str]]:
    """Yield the files that differ from their rows, as (name, fault).

    Reads the storage and the rows by folder, so that one 256th of the names is in memory.
    """
    for number in range(256):
        folder = f"{number:02x}"
        names = set(_list_names(folder))
        # "g" sorts after every hexadecimal digit: the range contains all names that begin with the folder's.
        rows = StoredPhoto.objects.filter(name__gte=folder, name__lt=f"{folder}g", busy_until=None)
        sizes = dict(rows.values_list("name", "size"))
        suspects = [(_owner_id_of(name), name) for name, size in sizes.items() if not _is_intact(name, size, names)]
        missing = still_broken(suspects, _find_broken)
        yield from ((str(name), "missing or damaged") for name in missing)
        for name in names - sizes.keys():
            if default_storage.get_modified_time(_path(name)) < now - _MAX_STRAY_AGE:
                yield name, "of no row"


def _find_broken(owner_id: UUID, names: list[object]) -> Iterator[object]:
    rows = StoredPhoto.objects.filter(owner_id=owner_id, name__in=names, busy_until=None)
    for name, size in rows.values_list("name", "size"):
        if not default_storage.exists(_path(name)) or default_storage.size(_path(name)) != size:
            yield name


def _is_intact(name: str, size: int, names: Collection[str]) -> bool:
    """Whether the file is among the `names` of its folder and, on a disk, has this size."""
    # isinstance works although default_storage is a lazy proxy. An object store stores an object whole or not at all,
    # so its size needs no request.
    is_on_disk = isinstance(default_storage, FileSystemStorage)
    return name in names and (not is_on_disk or default_storage.size(_path(name)) == size)


def _list_names(folder: str) -> list[str]:
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


def account_photo_paths(owner_id: UUID) -> list[str]:
    """The storage paths of all photos of an account, for its deletion."""
    of_people = Person.objects.owned_by(owner_id).values_list("photo", flat=True)
    of_owner = User.objects.filter(pk=owner_id).values_list("photo", flat=True)
    return photo_paths({*of_people.exclude(photo=None), *of_owner})


def photo_paths(names: Iterable[str | None]) -> list[str]:
    """The storage paths of these files."""
    return [_path(name) for name in names if name]
