"""The checks of `manage.py doctor` for the geocoder and the photo storage."""

import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.session import configured_rules
from people.geocoding.gazetteer import unpack


@register("doctor", deploy=True)
def check_geocoder(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """GEOCODER_URL, if set, must be allowed by the outbound policy. No request is sent."""
    if not settings.GEOCODER_URL:
        return []
    try:
        configured_rules().check_url(settings.GEOCODER_URL)
    except OutboundError as error:
        hint = "Correct GEOCODER_URL, or see OUTBOUND_ALLOWED_NETWORKS and OUTBOUND_ALLOWED_PORTS."
        return [Error(f"The outbound policy refuses GEOCODER_URL: {error}", hint=hint, id="doctor.E050")]
    return []


@register("doctor", deploy=True)
def check_gazetteer(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """The gazetteer of towns must be unpacked, or be possible to unpack, which this does."""
    try:
        unpack()
    except OSError as error:
        hint = f"Give the service's user the right to write to {settings.DATA_DIR}, and 50 MB of space."
        return [Warning(f"The map shows no towns: {error.strerror or error}", hint=hint, id="doctor.W055")]
    return []


@register("doctor", deploy=True)
def check_photo_folder(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """The photo folder must be writable, or its nearest existing parent if it does not exist yet."""
    if not isinstance(default_storage, FileSystemStorage):
        return check_photo_store()
    folder = Path(settings.MEDIA_ROOT)
    while not folder.exists():
        folder = folder.parent
    if os.access(folder, os.W_OK | os.X_OK):
        return []
    hint = f"Give the service's user the right to write to {folder}."
    return [Error("Photos cannot be stored.", hint=hint, id="doctor.E051")]


def check_photo_store() -> list[CheckMessage]:
    """Check that the object store can save, read and delete an object."""
    name, content = f"probe/{uuid4().hex}", b"doctor"
    try:
        default_storage.save(name, ContentFile(content))
        with default_storage.open(name) as file:
            is_same = file.read() == content
        default_storage.delete(name)
    except OSError as error:
        hint = "Check PHOTO_STORAGE, the store, and the permissions of its key: read, write, delete and list."
        return [Error(f"Photos cannot be stored: {error.strerror or error}", hint=hint, id="doctor.E053")]
    hint = "Check what is between this machine and the store, such as a proxy."
    return [] if is_same else [Error("The store returns another object than was stored.", hint=hint, id="doctor.E054")]
