"""Cards that devices delete: recorded under their names, brought back at once, and told to the owner if it is many."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import OwnedQuerySet, retention_cutoff
from contacts_project.kernel.texts import Text
from dav.authentication import Credentials
from dav.models import Device, DeviceDeletion, SelectedCard
from dav.preconditions import Conditions
from dav.resources.book import BookResource
from dav.resources.uris import member_path
from dav.selection import has_selection
from dav.services.card_write import device_write, find_member
from dav.services.refusals import forget_refusal
from dav.signals import many_deleted
from people.mentions import may_be_mentioned
from people.models import Group, Person
from people.services.groups import delete_group, restore_group
from people.services.people import delete_people, restore_person

_WINDOW = dt.timedelta(hours=1)
_MANY, _SHARE = 5, 0.2
_BATCH_SIZE = 100


@dataclass
class UndoReport:
    """How many records came back, and those that could not: (kind, id, name, why)."""

    restored: int = 0
    kept: list[tuple[str, UUID, str, Text]] = field(default_factory=list)


def delete_card(*, book: BookResource, name: str, conditions: Conditions) -> None:
    """Move the person of a card to the trash. The card of a group is the group, whose members stay.

    Raises DavStatusError (404, 412).
    """
    owner = book.device.owner
    with device_write(book) as write:
        row = find_member(book, name, conditions)
        if row.group_id is not None:
            group = Group.objects.find_active(owner.pk, row.group_id)
            delete_group(group=group, with_people=False, now=write.now)
            record_deletion(book.device, write.now, group_id=row.group_id)
        else:
            delete_people(owner=owner, person_ids=[row.person_id] if row.person_id else [], options={}, now=write.now)
            record_deletion(book.device, write.now, person_id=row.person_id)
        forget_refusal(book.device, member_path(book.path, name))


def record_deletion(device: Credentials, now: dt.datetime, **subject: UUID | None) -> None:
    """Note that the device has deleted this: `person_id`, `group_id` or `interaction_id`. Must be called inside the
    write, whose time is `now`."""
    values: dict[str, Any] = {"token_id": device.token.pk, "device_name": device.token.name, "deleted_at": now}
    rows = DeviceDeletion.objects.owned_by(device.owner)
    rows.filter(**subject).delete()
    DeviceDeletion.objects.create(owner=device.owner, **subject, **values)
    if "person_id" in subject:
        _warn(device, now)


def standing_deletions(owner: User, now: dt.datetime) -> OwnedQuerySet[DeviceDeletion]:
    """The people and groups that devices deleted and that are still in the trash since then. Not the ticks that were
    taken back: that was meant."""
    rows = DeviceDeletion.objects.owned_by(owner).filter(deleted_at__gte=retention_cutoff(now))
    return rows.filter(Q(person__deleted_at=F("deleted_at")) | Q(group__deleted_at=F("deleted_at")))


def _warn(device: Credentials, now: dt.datetime) -> None:
    """Tell the owner, once an hour, if the device has deleted more than max(5, 20 %) of its book within an hour."""
    since = now - _WINDOW
    recent = DeviceDeletion.objects.owned_by(device.owner).filter(token_id=device.token.pk, deleted_at__gt=since)
    recent = recent.exclude(person=None)
    count = recent.count()
    if count <= _MANY or count <= _SHARE * _size_before(device, since, count):
        return
    rows = Device.objects.owned_by(device.owner).filter(token=device.token)
    if rows.filter(Q(warned_at=None) | Q(warned_at__lte=since)).update(warned_at=now):
        first = recent.order_by("deleted_at").values_list("deleted_at", flat=True)[0]
        told = {"token_id": device.token.pk, "device_name": device.token.name, "count": count}
        send = partial(many_deleted.send, sender=Device, owner_id=device.owner.pk, since=first, now=now, **told)
        transaction.on_commit(send)


def _size_before(device: Credentials, since: dt.datetime, deleted: int) -> int:
    """The number of people in the device's book as it was at `since`."""
    if has_selection(device):
        rows = SelectedCard.objects.owned_by(device.owner).filter(token=device.token, left_revision=None)
        return int(rows.filter(card__is_group=False, card__left_revision=None).count()) + deleted
    people = Person.objects.owned_by(device.owner).filter(may_be_mentioned(), card_dav_sync_enabled=True)
    return int(people.filter(Q(deleted_at=None) | Q(deleted_at__gt=since), created_at__lte=since).count())


def find_deleters(owner: User, kind: str, deleted: Mapping[UUID, dt.datetime]) -> dict[UUID, JsonObject]:
    """See people.trash.DeleterFinder."""
    column = {"people": "person_id", "groups": "group_id", "interactions": "interaction_id"}.get(kind)
    if column is None:
        return {}
    rows = DeviceDeletion.objects.owned_by(owner).filter(**{f"{column}__in": list(deleted)})
    return {
        getattr(row, column): {"tokenId": str(row.token_id), "name": row.device_name}
        for row in rows
        if deleted[getattr(row, column)] == row.deleted_at
    }


def undo_deletions(*, owner: User, token_id: UUID, since: dt.datetime | None, now: dt.datetime) -> UndoReport:
    """Bring back what a device deleted, from `since` on, in batches of a transaction each."""
    report = UndoReport()
    rows = standing_deletions(owner, now).filter(token_id=token_id)
    if since is not None:
        rows = rows.filter(deleted_at__gte=since)
    ids = list(rows.order_by("deleted_at", "id").values_list("pk", flat=True))
    for start in range(0, len(ids), _BATCH_SIZE):
        with account_write(owner):
            for row in rows.filter(pk__in=ids[start : start + _BATCH_SIZE]).order_by("deleted_at", "id"):
                _restore(owner, row, now, report)
    return report


def _restore(owner: User, row: DeviceDeletion, now: dt.datetime, report: UndoReport) -> None:
    person, group = row.person, row.group
    try:
        # A savepoint, so that one failure does not roll back the others.
        with transaction.atomic():
            if person is not None:
                restore_person(owner=owner, person=person, now=now)
            elif group is not None:
                restore_group(group=group, now=now)
    except DomainError as error:
        # Raised before anything is written: the plan's limit, or a group whose name is taken.
        name = person.display_name_for(owner) if person is not None else group.name if group is not None else ""
        kind, key = ("people", row.person_id) if row.person_id else ("groups", row.group_id)
        report.kept.append((kind, key, name, error.message))  # type: ignore[arg-type]  # one of them is set
        return
    report.restored += 1
    row.delete()
