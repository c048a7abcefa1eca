"""Connects the address entries of people with the geocoder's rows: enqueues new addresses, copies results back."""

import hashlib
from collections.abc import Iterable, Mapping
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import account_lock, account_write
from people.models import GeocodedAddress, Person
from people.signals import addresses_enqueued
from people.vocabularies import GeocodeState

_ABSENT = object()
_TEXT_KEYS = ("streetLine1", "streetLine2", "postalCode", "locality", "region", "country")
_BATCH_SIZE = 500


def address_text(entry: JsonMapping) -> str:
    """An address entry in one line, as it is sent to the geocoder; empty if the entry contains only its type."""
    return ", ".join(" ".join(str(entry[part]).split()) for part in _TEXT_KEYS if entry.get(part))


def address_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def enqueue_addresses(owner_id: UUID, people: Iterable[Person], *, is_geocoding: bool | None) -> None:
    """Copy known results into the people's address entries, and enqueue the addresses that are new.

    Must be called inside account_write, before the people are saved. The row of a new address is pending if the account
    has geocoding enabled, else skipped. `is_geocoding` is that preference; None if the caller has not loaded it.
    """
    entries = [(entry, address_text(entry)) for person in people for entry in person.addresses]
    texts = {address_key(text): text for _, text in entries if text}
    rows = _get_or_create_rows(owner_id, texts, is_geocoding=is_geocoding) if texts else {}
    for entry, text in entries:
        _copy_result(entry, rows.get(text))


def copy_results(owner_id: UUID) -> int:
    """Copy the results that were not copied yet into the account's people; returns how many people changed."""
    uncopied = GeocodedAddress.objects.owned_by(owner_id).filter(is_copied=False)
    if not uncopied.exists():
        return 0
    with account_write(owner_id):
        rows = {row.text: row for row in uncopied}
        changed = []
        for person in _people_with_addresses(owner_id):
            # A list, since any() of a generator would stop at the first change.
            changes = [
                _copy_result(entry, rows[text]) for entry in person.addresses if (text := address_text(entry)) in rows
            ]
            if any(changes):
                changed.append(person)
        Person.objects.owned_by(owner_id).bulk_update(changed, ["addresses"])
        GeocodedAddress.objects.owned_by(owner_id).filter(pk__in=[row.pk for row in rows.values()]).update(
            is_copied=True
        )
    return len(changed)


def delete_unused_addresses(owner_id: UUID, texts: Iterable[str]) -> set[str]:
    """Delete the rows of those texts that no active person has any more; returns the texts that are in use."""
    candidates = set(texts)
    if not candidates - _texts_in_use(owner_id):
        return candidates
    # Read again under the lock: meanwhile a person may have got one of these addresses.
    with account_lock(owner_id):
        used = candidates & _texts_in_use(owner_id)
        keys = [address_key(text) for text in candidates - used]
        GeocodedAddress.objects.owned_by(owner_id).filter(key__in=keys).delete()
    return used


def _texts_in_use(owner_id: UUID) -> set[str]:
    """The address texts of an account's active people."""
    return {address_text(entry) for person in _people_with_addresses(owner_id) for entry in person.addresses}


def _people_with_addresses(owner_id: UUID) -> Iterable[Person]:
    rows = Person.objects.owned_by(owner_id).active().exclude(addresses=[])
    return rows.only("id", "addresses").iterator(chunk_size=_BATCH_SIZE)


def _get_or_create_rows(
    owner_id: UUID, texts: Mapping[str, str], *, is_geocoding: bool | None
) -> dict[str, GeocodedAddress]:
    """The rows of the texts (by key), by text; missing ones are created."""
    rows = list(GeocodedAddress.objects.owned_by(owner_id).filter(key__in=texts))
    missing = texts.keys() - {row.key for row in rows}
    if missing:
        enabled = is_geocoding
        if enabled is None:
            enabled = User.objects.filter(pk=owner_id, geocoding_enabled=True).exists()
        state = GeocodeState.PENDING if enabled else GeocodeState.SKIPPED
        now = timezone.now()
        rows += GeocodedAddress.objects.bulk_create(
            [
                GeocodedAddress(owner_id=owner_id, key=key, text=texts[key], state=state, next_try_at=now)
                for key in texts
                if key in missing
            ],
            batch_size=_BATCH_SIZE,
        )
        if enabled and settings.GEOCODER_URL:
            transaction.on_commit(
                lambda: addresses_enqueued.send(sender=GeocodedAddress, owner_id=owner_id), robust=True
            )
    return {row.text: row for row in rows}


def _copy_result(entry: JsonObject, row: GeocodedAddress | None) -> bool:
    """Copy the row's result into the entry, None for each key without a row; returns whether the entry changed."""
    result = {
        "latitude": row.latitude if row else None,
        "longitude": row.longitude if row else None,
        "geocodeStatus": row.state if row else None,
    }
    if all(entry.get(key, _ABSENT) == value for key, value in result.items()):
        return False
    entry.update(result)
    return True
