"""A device puts the card of a group: its name, and its members by their UIDs."""

from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import PlanLimitError
from dav.cards.client_state import ClientCard, find_client_card, keep_former_texts, known_properties, record_properties
from dav.cards.device_edit import names_in, property_names
from dav.cards.put_body import PutCard, with_uid
from dav.cards.refresh import record_changed_card, refresh_groups, refresh_people
from dav.cards.texts import etag_of, member_keys, pack, unpack
from dav.models import BookCard
from dav.preconditions import Conditions, DavStatusError
from dav.resources.book import BookResource
from dav.selection import only_people_selected, record_selected
from dav.services.card_write import WRONG_KIND, CardWrite, check_uid, finish_put, open_put, rename_card, uid_conflict
from dav.services.history import record_left_groups
from dav.xml import card as card_name
from people.importing.groups import MAX_AWAITED
from people.models import AwaitedMember, Group, Membership, Person
from people.models.groups import group_key
from people.services.groups import create_group, put_members, restore_group, update_group
from people.services.people import touch_people
from people.vcard import CardText
from people.vcard.card import uid_key, uid_spellings

_MAX_NAME, _MAX_KEY = 100, 255
_BATCH_SIZE = 100
_OWN_PROPERTIES = {"N", "FN", "KIND", "MEMBER", "X-ADDRESSBOOKSERVER-KIND", "X-ADDRESSBOOKSERVER-MEMBER"}


def put_group(*, book: BookResource, name: str, sent: PutCard, conditions: Conditions) -> tuple[bool, str | None]:
    """Write the card of a group. As put_card; a member that is not known here joins when its card comes."""
    with open_put(book=book, name=name, sent=sent, conditions=conditions) as put:
        row, etag_before = put.row, ""
        try:
            if row is None or put.is_new:
                row = _create_group(put, row)
            else:
                etag_before = row.etag
                base = find_client_card(put.device, row, CardText(unpack(row.text)), conditions)
                row = _change_group(put, row, base)
        except PlanLimitError as error:
            raise DavStatusError(507, words=error.message) from error
        record_properties(put.device, names_in(sent.source))
        row.refresh_from_db()
        return put.is_new, finish_put(put, row, etag_before)


def _change_group(put: CardWrite, row: BookCard, base: ClientCard) -> BookCard:
    check_uid(put, row)
    if row.group_id is None:
        raise DavStatusError(403, card_name("valid-address-data"), WRONG_KIND)
    group = Group.objects.find_active(put.owner.pk, row.group_id)
    _apply(put, row, group, with_uid(put.sent, row.uid), set(member_keys(base.source.text)))
    return row


def _create_group(put: CardWrite, former: BookCard | None) -> BookCard:
    """Make the group of a new card; or find it again, in the trash by its UID, or by its name."""
    owner, write = put.owner, put.write
    sent = put.sent if put.sent.uid else with_uid(put.sent, put.name.removesuffix(".vcf") or put.name)
    uid, spellings = str(sent.uid), uid_spellings(str(sent.uid))
    other = BookCard.objects.owned_by(owner).in_book().filter(uid__in=spellings).first()
    if other is not None:
        raise uid_conflict(put, other)
    title = sent.card.full_name[:_MAX_NAME]
    group = Group.objects.owned_by(owner).active().filter(name_key=group_key(title)).first()
    cards = BookCard.objects.owned_by(owner).filter(is_group=True).select_related("group")
    deleted = cards.filter(uid__in=spellings, group__deleted_at__isnull=False).first() if group is None else None
    found = group or (deleted.group if deleted else None)
    if former is not None and (found is None or former.group_id != found.pk):
        former.delete()
    if deleted is not None and found is not None:
        # Before it comes back, since devices know already that the former name is gone.
        rename_card(deleted, put.name, write)
        group = restore_group(group=found, now=write.now)
    if group is None:
        group = create_group(owner=owner, data={"name": title}, people=(), now=write.now)
    refresh_groups(owner, [group.pk])
    row = BookCard.objects.owned_by(owner).in_book().get(group=group)
    rename_card(row, put.name, write)
    row.uid = uid
    row.save(update_fields=["uid"])
    record_selected(put.device, row, write.revision)
    _apply(put, row, group, sent, set())
    return row


def _apply(put: CardWrite, row: BookCard, group: Group, sent: PutCard, base: Collection[str]) -> None:
    """Write name and members; `base` are the keys of the members that the device had before."""
    device, owner, write = put.device, put.owner, put.write
    title = sent.card.full_name[:_MAX_NAME]
    others = Group.objects.owned_by(owner).active().filter(name_key=group_key(title)).exclude(pk=group.pk)
    # Where another group has the name this one keeps its own, and the device is told.
    if title != group.name and not others.exists():
        group = update_group(group=group, data={"name": title})
    members = member_keys(sent.text)
    added, left = [key for key in members if key not in base], [key for key in base if key not in members]
    joined = _find_people(owner, added)
    put_members(group, list(joined), write.now)
    rows = Membership.objects.owned_by(owner).filter(group=group)
    gone = sorted(set(rows.filter(person__in=_find_people(owner, left)).values_list("person_id", flat=True)))
    # A member whom the device does not get has not left because its card is not there.
    gone = only_people_selected(device, gone)
    rows.filter(person__in=gone).delete()
    record_left_groups(device, gone, group.name)
    touch_people(owner.pk, gone, write.now)
    found = set(joined.values())
    _await(owner, group, [key for key in added if key not in found], left)
    keep_former_texts(owner, [row])
    text = _with_unknown_lines(sent.source, CardText(unpack(row.text)), known_properties(device))
    row.text, row.etag = pack(text), etag_of(text, "")
    row.plain_etag = row.etag
    row.changed_revision = row.plain_changed_revision = write.revision
    row.save()
    record_changed_card(owner.pk, write.revision)
    refresh_people(owner, sorted({*joined, *gone}))
    refresh_groups(owner, [group.pk])


def _find_people(owner: User, keys: Collection[str]) -> dict[UUID, str]:
    """The active people with the UIDs of these keys, each with its key."""
    active, ordered = Person.objects.owned_by(owner).active(), sorted(keys)
    found: dict[UUID, str] = {}
    for start in range(0, len(ordered), _BATCH_SIZE):
        spellings = {spelling for key in ordered[start : start + _BATCH_SIZE] for spelling in uid_spellings(key)}
        for person_id, uid in active.filter(uid__in=spellings).order_by("id").values_list("pk", "uid"):
            found[person_id] = uid_key(uid)
    return found


def _await(owner: User, group: Group, missing: Collection[str], left: Collection[str]) -> None:
    """Remember the members whose cards may still come, and forget those that left."""
    rows = AwaitedMember.objects.owned_by(owner)
    if left:
        rows.filter(group=group, uid_key__in=list(left)).delete()
    if not missing:
        return
    new = [key for key in missing if len(key) <= _MAX_KEY][: max(0, MAX_AWAITED - rows.count())]
    AwaitedMember.objects.bulk_create(
        [AwaitedMember(owner=owner, group=group, uid_key=key) for key in new], ignore_conflicts=True
    )


def _with_unknown_lines(sent: CardText, current: CardText, known: Collection[str]) -> str:
    """The sent text with the lines of the card that the device does not know."""
    names = property_names(sent).union(known, _OWN_PROPERTIES)
    unknown = property_names(current) - names
    kept = [line.original for line in current.lines if line.name in unknown]
    lines = [line.original for line in sent.lines]
    place = next((index for index, text in enumerate(lines) if text.upper().startswith("END:")), len(lines))
    return "".join([*lines[:place], *kept, *lines[place:]])
