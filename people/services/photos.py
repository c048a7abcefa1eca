"""Sets and removes the photos of people and of the account."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person
from people.photos.files import confirm_upload, delete_files, upload_photo
from people.photos.images import make_photo
from people.signals import announce_change


def set_person_photo(*, owner_id: UUID, person_id: UUID, picture: bytes, now: dt.datetime) -> str:
    """Make `picture` the photo of an active person; returns the file name. Raises PictureRefusedError, MissingError."""
    # Decoding and uploading happen without the account lock, because they take long. The person is looked up before, so
    # that nothing is uploaded for an unknown one, and again under the lock.
    jpeg = make_photo(picture)
    _load_person(owner_id, person_id)
    upload_photo(owner_id=owner_id, jpeg=jpeg)
    with account_write(owner_id):
        person = _load_person(owner_id, person_id)
        name = confirm_upload(owner_id=owner_id, jpeg=jpeg)
        _set_photo_of_person(person, name, now)
    return name


def remove_person_photo(*, owner_id: UUID, person_id: UUID, now: dt.datetime) -> None:
    """Remove the photo of an active person. Raises MissingError."""
    with account_write(owner_id):
        _set_photo_of_person(_load_person(owner_id, person_id), None, now)


def set_user_photo(*, user: User, picture: bytes) -> str:
    """Make `picture` the account's own photo; returns the file name. Raises PictureRefusedError."""
    jpeg = make_photo(picture)
    upload_photo(owner_id=user.pk, jpeg=jpeg)
    with account_write(user):
        name = confirm_upload(owner_id=user.pk, jpeg=jpeg)
        _set_photo_of_user(user, name)
    return name


def remove_user_photo(*, user: User) -> None:
    """Remove the account's own photo."""
    with account_write(user):
        _set_photo_of_user(user, None)


def _load_person(owner_id: UUID, person_id: UUID) -> Person:
    return Person.objects.owned_by(owner_id).active().only("photo", "owner_id").find(person_id)


def _set_photo_of_person(person: Person, name: str | None, now: dt.datetime) -> None:
    if person.photo == name:
        return
    rows = Person.objects.owned_by(person.owner_id).filter(pk=person.pk)
    rows.update(photo=name, updated_at=now)
    delete_files([person.photo])
    announce_change(person.owner_id, [person.pk])


def _set_photo_of_user(user: User, name: str | None) -> None:
    fresh = User.objects.get(pk=user.pk)
    if fresh.photo == name:
        return
    before, fresh.photo = fresh.photo, name
    fresh.save(update_fields=["photo", "updated_at"])
    delete_files([before])
