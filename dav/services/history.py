"""Values that devices removed or replaced: kept for 30 days, and brought back one by one."""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from dav.authentication import Credentials
from dav.cards.device_edit import DeviceEdit, removed_lines
from dav.models import ReplacedValue
from people.contents.contact import LocalContact, load_local_contact, write_fields
from people.contents.fields import ENTRY_FIELDS, SCALARS
from people.entries import pair_entries
from people.models import Person
from people.photos.files import delete_files
from people.services.person_writer import PersonWriter
from people.vcard import CardText

RETENTION = dt.timedelta(days=30)
#: The values of one device that are kept; beyond that the oldest give way.
MAX_VALUES = 20_000
PHOTO = "photo"


def record_replaced(
    device: Credentials, contact: LocalContact, edit: DeviceEdit, changed: Collection[str], *, current: CardText
) -> None:
    """Keep what the device's edit takes from the person. Must be called inside the write, before it."""
    lost = [*_lost_values(contact, edit, changed), *((name, line) for name, line in removed_lines(edit, current))]
    _keep(
        device,
        [
            ReplacedValue(
                owner=device.owner, token=device.token, person=contact.person, property=name[:100], value=value
            )
            for name, value in lost
        ],
    )


def record_left_groups(device: Credentials, person_ids: Collection[UUID], group: str) -> None:
    """Keep that the device took these people out of a group."""
    _keep(
        device,
        [
            ReplacedValue(owner=device.owner, token=device.token, person_id=person_id, property="groups", value=group)
            for person_id in person_ids
        ],
    )


def _keep(device: Credentials, values: Sequence[ReplacedValue]) -> None:
    """Store the values; beyond MAX_VALUES of the device the oldest give way, with their photos."""
    if not values:
        return
    ReplacedValue.objects.bulk_create(values)
    of_device = {"owner_id": device.owner.pk, "token_id": device.token.pk}
    dropped: list[ReplacedValue] = _oldest.instances(**of_device, kept=MAX_VALUES)
    if dropped:
        rows = ReplacedValue.objects.owned_by(device.owner).filter(token=device.token)
        rows.filter(pk__in=[row.pk for row in dropped]).delete()
        delete_files(row.value for row in dropped if row.property == PHOTO)


@compiled_query
def _oldest(owner_id: UUID, token_id: UUID, kept: int) -> Rows:
    rows = ReplacedValue.objects.owned_by(owner_id).filter(token=token_id)
    return rows.order_by("-created_at", "-id")[kept:]


def _lost_values(contact: LocalContact, edit: DeviceEdit, changed: Collection[str]) -> Iterator[tuple[str, Any]]:
    for name in sorted(changed):
        old = contact.fields[name]
        if name == PHOTO:
            if contact.person.photo:
                yield PHOTO, contact.person.photo
        elif name in SCALARS:
            if old:
                yield name, old
        else:
            new = edit.fields[name]
            yield from ((name, entry) for entry in _without_counterpart(name, old, new))


def _without_counterpart(name: str, old: list[Any], new: list[Any]) -> Iterator[Any]:
    """The former entries that are not among the new ones, with all their parts."""
    if not old or not isinstance(old[0], dict):
        yield from (value for value in old if value not in new)
        return
    positions = pair_entries(ENTRY_FIELDS[name].card, new, old)
    kept = {
        position
        for position, entry in zip(positions, new, strict=True)
        if position is not None and old[position] == entry
    }
    yield from (entry for position, entry in enumerate(old) if position not in kept)


def restore_replaced(*, owner: User, token_id: UUID, replaced_id: UUID, now: dt.datetime) -> Person:
    """Bring one value back: a single value as it was, an entry beside the present ones. Raises MissingError.

    A date of a predefined type takes the place of the present one, whose id and reminders stay.
    """
    with account_write(owner) as write:
        rows = ReplacedValue.objects.owned_by(owner).filter(created_at__gt=now - RETENTION)
        row = rows.filter(token=token_id, pk=replaced_id, person__deleted_at=None).first()
        if row is None:
            raise MissingError
        contact = load_local_contact(owner, row.person_id)
        person, name = contact.person, row.property
        if name == PHOTO:
            former, person.photo, person.updated_at = person.photo, row.value, write.now
            person.save(update_fields=["photo", "updated_at"])
            delete_files([former])
        elif name in SCALARS:
            write_fields(owner, write, contact, {**contact.fields, name: row.value}, {name}, None)
        elif name in ENTRY_FIELDS:
            present = contact.fields[name]
            if row.value not in present:
                others = [entry for entry in present if not _excludes(name, entry, row.value)]
                write_fields(owner, write, contact, {**contact.fields, name: [*others, row.value]}, {name}, None)
        elif all(line["line"] != row.value for line in person.card_lines):
            writer = PersonWriter(owner, write, write.now)
            writer.edit(person)
            person.card_lines = [*person.card_lines, {"line": row.value}]
            writer.flush()
        row.delete()
    return person


def _excludes(name: str, entry: Any, former: Any) -> bool:
    """Whether a person cannot have both: a date of each predefined type is there once."""
    return name == "importantDates" and former["type"] is not None and entry["type"] == former["type"]


def purge_replaced(owner_id: UUID, now: dt.datetime) -> int:
    """Remove what is older than 30 days; returns the number of values."""
    rows = ReplacedValue.objects.owned_by(owner_id).filter(created_at__lte=now - RETENTION)
    photos = list(rows.filter(property=PHOTO).values_list("value", flat=True))
    deleted = rows.delete()[0]
    delete_files(photos)
    return deleted


def owners_with_old_values(now: dt.datetime) -> set[UUID]:
    rows = ReplacedValue.unscoped.rows().filter(created_at__lte=now - RETENTION)
    return set(rows.values_list("owner_id", flat=True).distinct())
