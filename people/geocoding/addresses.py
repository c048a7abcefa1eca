"""Between the address entries of people and the rows of the geocoder: noting what is new, copying what is known."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership.account_lock import account_lock, account_write
from people.models import GeocodedAddress, Person
from people.signals import addresses_noted
from people.vocabularies import GeocodeState

_PARTS = ("streetLine1", "streetLine2", "postalCode", "locality", "region", "country")
_BATCH = 500
# As many as a person has; an import asks for each number of texts once, and its statement would not be used again.
_FEW = 10
_BY_KEY = CompiledQuery(lambda owner_id, keys: GeocodedAddress.objects.owned_by(owner_id).filter(key__in=keys))


def address_text(entry: Mapping[str, Any]) -> str:
    """An address entry in one line, as a geocoder is asked for it; empty when it says nothing of a place."""
    return ", ".join(" ".join(str(entry[part]).split()) for part in _PARTS if entry.get(part))


def address_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def note_addresses(owner_id: UUID, people: Iterable[Person], *, is_geocoding: bool | None) -> None:
    """Put what is known of their places into the people's address entries, and what is not on the geocoder's list.

    Inside account_write, before the people are saved. An address that is new waits (pending) where the account has
    geocoding enabled (`is_geocoding`; None: not known), else it is skipped.
    """
    entries = [(entry, address_text(entry)) for person in people for entry in person.addresses]
    texts = {address_key(text): text for _, text in entries if text}
    rows = _rows(owner_id, texts, is_geocoding=is_geocoding) if texts else {}
    for entry, text in entries:
        _fill(entry, rows.get(text))


def copy_results(owner_id: UUID) -> int:
    """Copy what changed since the last time into the account's people; returns how many changed."""
    uncopied = GeocodedAddress.objects.owned_by(owner_id).filter(is_copied=False)
    if not uncopied.exists():
        return 0
    with account_write(owner_id):
        rows = {row.text: row for row in uncopied}
        changed = []
        for person in people_with_addresses(owner_id):
            fills = [_fill(entry, rows[text]) for entry in person.addresses if (text := address_text(entry)) in rows]
            if any(fills):
                changed.append(person)
        Person.objects.owned_by(owner_id).bulk_update(changed, ["addresses"], batch_size=_BATCH)
        GeocodedAddress.objects.owned_by(owner_id).filter(pk__in=[row.pk for row in rows.values()]).update(
            is_copied=True
        )
    return len(changed)


def drop_unused(owner_id: UUID, texts: Iterable[str]) -> set[str]:
    """Of the texts, those that still stand in an active person; the rows of the others are removed unasked."""
    candidates = set(texts)
    if not candidates - texts_in_use(owner_id):
        return candidates
    with account_lock(owner_id):
        used = candidates & texts_in_use(owner_id)
        keys = [address_key(text) for text in candidates - used]
        GeocodedAddress.objects.owned_by(owner_id).filter(key__in=keys).delete()
    return used


def texts_in_use(owner_id: UUID) -> set[str]:
    """The address texts of an account's active people."""
    return {address_text(entry) for person in people_with_addresses(owner_id) for entry in person.addresses}


def people_with_addresses(owner_id: UUID) -> Iterable[Person]:
    rows = Person.objects.owned_by(owner_id).active().exclude(addresses=[])
    return rows.only("id", "addresses").iterator(chunk_size=_BATCH)


def _rows(owner_id: UUID, texts: Mapping[str, str], *, is_geocoding: bool | None) -> dict[str, GeocodedAddress]:
    """The rows of the texts, by text; those that are missing are made."""
    if len(texts) <= _FEW:
        rows = _BY_KEY.instances(owner_id=owner_id, keys=list(texts))
    else:
        rows = list(GeocodedAddress.objects.owned_by(owner_id).filter(key__in=texts))
    missing = texts.keys() - {row.key for row in rows}
    if missing:
        enabled = is_geocoding
        if enabled is None:
            enabled = User.objects.filter(pk=owner_id, geocoding_enabled=True).exists()
        state = GeocodeState.PENDING if enabled else GeocodeState.SKIPPED
        now = timezone.now()
        rows += GeocodedAddress.objects.bulk_create(
            [_new_row(owner_id, key, text, state, now) for key, text in texts.items() if key in missing],
            batch_size=_BATCH,
        )
        if enabled and settings.GEOCODER_URL:
            transaction.on_commit(lambda: addresses_noted.send(sender=GeocodedAddress, owner_id=owner_id), robust=True)
    return {row.text: row for row in rows}


def _new_row(owner_id: UUID, key: str, text: str, state: str, now: dt.datetime) -> GeocodedAddress:
    return GeocodedAddress(owner_id=owner_id, key=key, text=text, state=state, next_try_at=now)


def _fill(entry: dict[str, Any], row: GeocodedAddress | None) -> bool:
    """Write the row's findings into the entry; returns whether they are other than those that stood there."""
    found = {
        "latitude": row.latitude if row else None,
        "longitude": row.longitude if row else None,
        "geocodeStatus": row.state if row else None,
    }
    if all(entry.get(key, _ABSENT) == value for key, value in found.items()):
        return False
    entry.update(found)
    return True


_ABSENT = object()
