"""Pending imports become people."""

import datetime as dt
from collections.abc import Callable, Collection
from collections.abc import Mapping as MappingOf
from functools import partial
from uuid import UUID

from accounts.models import User
from carddav.client import Card as FetchedCard
from carddav.models import UNSENT, Connection, Mapping, PendingImport
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.groups import apply_group_cards
from carddav.sync.new_cards import Linker, NewCard, import_people, link_card, remaining_people_quota
from carddav.sync.people import create_from_cards
from carddav.sync.pictures import picture_of
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Person
from people.photos.images import PixelBudget
from people.services.groups import put_members
from people.services.plan_limits import check_plan
from people.vcard import VCardError, read_card, without_photo

GroupsOf = MappingOf[UUID, Collection[Group]]


def import_pending(
    *, owner: User, pending: Collection[PendingImport], groups: Collection[Group], groups_of: GroupsOf, now: dt.datetime
) -> Receipt:
    """Make people of pending imports, each with the `groups` and its own; a failure of one never stops the rest.

    What came from the server stays tied to its card. Who is here already is linked, and counts as skipped.
    Raises ConnectionBusyError.
    """
    receipt = Receipt()
    uploaded = [row for row in pending if row.connection_id is None]
    found = [row for row in pending if row.connection_id is not None]
    for row in uploaded:
        _attempt(receipt, row, partial(_import_uploaded, owner, row, [*groups, *groups_of.get(row.pk, ())], now))
    if found and Connection.objects.owned_by(owner).exists():
        with locked_connection(owner) as context:
            for row in found:
                its_groups = [*groups, *groups_of.get(row.pk, ())]
                _attempt(receipt, row, partial(_import_found, context, row, its_groups, now))
            apply_group_cards(context)
    return receipt


def _attempt(receipt: Receipt, row: PendingImport, work: Callable[[], bool]) -> None:
    try:
        if work():
            receipt.done += 1
        else:
            receipt.skipped += 1
    except (VCardError, DomainError) as error:
        receipt.fail(f"{row.display_name}: {error}")


def _import_uploaded(owner: User, row: PendingImport, groups: Collection[Group], now: dt.datetime) -> bool:
    card, _ = read_card(row.raw)
    picture = picture_of(card, PixelBudget())
    with account_write(owner) as write:
        if not PendingImport.objects.owned_by(owner).filter(pk=row.pk).delete()[0]:
            return False
        check_plan(owner, "people")
        jpeg = picture.jpeg
        card = without_photo(card, is_taken=jpeg is not None) if card.photo else card
        [side] = create_from_cards(owner, write, [(card, jpeg)])
        _put_into(groups, side.person, now)
    return True


def _import_found(context: Context, row: PendingImport, groups: Collection[Group], now: dt.datetime) -> bool:
    card, _ = read_card(row.raw)
    fetched = FetchedCard(row.href or "", row.href_key, row.etag, row.raw)
    new = NewCard(fetched, card, picture_of(card, context.pixels))
    rows = PendingImport.objects.owned_by(context.owner).filter(pk=row.pk)
    person_id = Linker(context, [new]).person_of(new)
    if person_id is not None:
        link_card(context, fetched, card, person_id)
        rows.delete()
        mapping = Mapping.objects.owned_by(context.owner).filter(person=person_id).first()
        if mapping is not None:
            merge_contact(context, mapping.pk)
        return False
    with context.write() as write:
        if not rows.delete()[0]:
            return False
        if remaining_people_quota(context) == 0:
            check_plan(context.owner, "people")
        [person] = import_people(context, write, [new])
        if groups:
            _put_into(groups, person, now)
            Mapping.objects.owned_by(context.owner).filter(person=person).update(local_rev=UNSENT)
    return True


def _put_into(groups: Collection[Group], person: Person, now: dt.datetime) -> None:
    for group in {group.pk: group for group in groups}.values():
        put_members(group, [person.pk], now)
