"""Builds the cards of people and of groups as they are to be, from what the account has and from their stored texts.

The lines that no field holds are kept equal between the stored text and the person, whoever writes them.
"""

import logging
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from dav.cards.texts import (
    PHOTO_MARKER,
    etag_of,
    member_keys,
    pack,
    revised_at,
    unpack,
    without_categories,
    write_group,
    write_text,
)
from dav.models import BookCard
from people.contents.contact import LocalContact, load_local_contacts
from people.mentions import Topic
from people.models import Group, Membership, Person
from people.vcard import Card, CardLine, CardText, VCardError, fold, parse_line
from people.vcard.card import uid_key, uid_spellings
from people.vcard.line_merge import missing_lines
from people.vcard.line_updates.copies import with_current_copies
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.readers import group_labels, has_reader
from people.vcard.versions import canonical_key

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change:
    """What `store` writes: the card as it is to be, and as it was read (None: there is none yet)."""

    card: BookCard
    before: BookCard | None


def _changed_copy(before: BookCard, owner: User, **values: object) -> BookCard:
    changed = copy(before)
    # bulk_update does not set it, as save does.
    for name, value in {**values, "read_revision": owner.revision, "updated_at": timezone.now()}.items():
        setattr(changed, name, value)
    return changed


@compiled_query
def _cards_of(owner_id: UUID, person_ids: Sequence[UUID]) -> Rows:
    return BookCard.objects.owned_by(owner_id).filter(person__in=person_ids)


def build_people(owner: User, person_ids: Sequence[UUID], changed_groups: set[UUID]) -> Iterator[Change]:
    """The cards of people that differ from the stored ones. Reads, and takes no lock.

    Adds to `changed_groups` the groups of which a person has become a member, or is none any more.
    """
    rows: list[BookCard] = _cards_of.instances(owner_id=owner.pk, person_ids=person_ids)
    stored = {card.person_id: card for card in rows}
    for person_id, contact in load_local_contacts(owner, person_ids).items():
        if (change := build_person(owner, contact, stored.get(person_id), changed_groups)) is not None:
            yield change


def build_person(
    owner: User,
    contact: LocalContact,
    before: BookCard | None,
    changed_groups: set[UUID],
    source: CardText | None = None,
) -> Change | None:
    """The same for one person. `source` is the text of `before`, if it is parsed already."""
    person = contact.person
    is_shown_before = before is not None and before.left_revision is None
    former = {UUID(hex=key) for key in before.group_ids} if before else set()
    if not _is_in_book(person):
        if before is None or not is_shown_before:
            return None
        changed_groups |= former
        return Change(_left_copy(before, owner), before)
    now = {group_id for group_id, _ in contact.groups}
    is_other = before is None or not is_shown_before or before.uid != person.uid
    changed_groups |= now | former if is_other else now ^ former
    # Each talk would make all devices read the card again, and tell them of it, those of the family, too.
    card = replace(contact.card, photo=PHOTO_MARKER if person.photo else None, last_contact=None)
    text = _text_of(card, before, source, revised=revised_at(person.updated_at))
    return _change_of(person, text, before, owner, sorted(group.hex for group in now))


def _left_copy(before: BookCard, owner: User) -> BookCard:
    """The card of who has left the book."""
    names = ("left_revision", "changed_revision", "plain_changed_revision")
    return _changed_copy(before, owner, **dict.fromkeys(names, owner.revision))


def _text_of(card: Card, before: BookCard | None, source: CardText | None, *, revised: str) -> str:
    """The text of a person's card. A stored text that cannot be read is written anew, so that it stops nobody."""
    if before is not None:
        try:
            former = source or CardText(unpack(before.text))
            return with_lines_of(write_text(card, former, revised=revised), card, revised=revised).text
        except (VCardError, ValueError, zlib.error):
            logger.exception("stored card cannot be read", extra={"card": str(before.pk)})
    return write_text(card, None, revised=revised).text


def _is_in_book(person: Person) -> bool:
    """Whether devices see the person at all."""
    return person.deleted_at is None and person.card_dav_sync_enabled and not person.silence(Topic.PERSON)


def _change_of(
    person: Person, text: str, before: BookCard | None, owner: User, group_ids: Sequence[str]
) -> Change | None:
    photo = person.photo or ""
    # The picture that a device sent is the photo until the photo is changed elsewhere.
    original = before.original if before and before.photo == photo else ""
    values = {
        "uid": person.uid,
        "photo": photo,
        "original": original,
        "etag": etag_of(text, original or photo),
        "plain_etag": etag_of(without_categories(text), original or photo),
        "group_ids": list(group_ids),
        "left_revision": None,
    }
    revision = owner.revision
    if before is None:
        new = BookCard(owner=owner, person=person, text=pack(text), name=f"{person.pk}.vcf", **values)
        new.read_revision = new.changed_revision = new.plain_changed_revision = revision
        return Change(new, None)
    is_back = before.left_revision is not None
    if not is_back and before.etag == values["etag"] and list(before.group_ids) == list(group_ids):
        return None
    changed = _changed_copy(before, owner, text=pack(text), **values)
    if is_back or before.etag != values["etag"]:
        changed.changed_revision = revision
    if is_back or before.plain_etag != values["plain_etag"]:
        changed.plain_changed_revision = revision
    return Change(changed, before)


def with_lines_of(source: CardText, card: Card, *, revised: str) -> CardText:
    """The text with the lines of the person's `card` whose properties have no field: as other parts of the service
    write them, such as an import or the sync with another server. `revised` is the new REV if anything changes.

    Lines of the text that are too long to be stored with the person stay: `read_card` leaves them out, too.
    """
    stored = source.card
    if all(kept.fields for kept in (*stored.lines, *card.lines)):
        return source
    card = with_current_copies(card)
    present, wanted = _keys(stored.lines), _keys(card.lines)
    added = [
        kept
        for kept, key in zip(card.lines, wanted, strict=True)
        if (key and key not in present) or (key is None and parse_line(kept.text).name in COMPANION_PROPERTIES)
    ]
    new = missing_lines(stored.lines, added)
    gone = {kept.text for kept, key in zip(stored.lines, present, strict=True) if key and key not in wanted}
    if not new and not gone:
        return source
    end = "\r\n" if "\r\n" in source.text else "\n"
    chunks = []
    for line in source.lines:
        if line.name == "END":
            chunks += [fold(kept.text).replace("\r\n", end) for kept in new]
        if line.name == "REV":
            chunks.append(f"REV:{revised}{end}")
        elif not line.text or line.text not in gone:
            chunks.append(line.original)
    return CardText("".join(chunks))


def _keys(lines: Sequence[CardLine]) -> list[tuple[object, ...] | None]:
    """For each line of a property without a field what it means, with its label; None for other lines."""
    # Labels have no field either.
    parsed = [None if kept.fields else parse_line(kept.text) for kept in lines]
    labels = group_labels(filter(None, parsed))
    return [
        None
        if line is None or has_reader(line.name) or line.name in COMPANION_PROPERTIES
        else (canonical_key(line), labels.get(line.group.lower()) if line.group else None)
        for line in parsed
    ]


def build_groups(owner: User, group_ids: Sequence[UUID]) -> Iterator[Change]:
    """The cards of groups that differ from the stored ones. The members are those whose cards are in the book."""
    stored = {card.group_id: card for card in BookCard.objects.owned_by(owner).filter(group__in=group_ids)}
    groups = list(Group.objects.owned_by(owner).filter(pk__in=group_ids))
    members: dict[UUID, list[str]] = defaultdict(list)
    people = BookCard.objects.owned_by(owner).in_book().exclude(person=None).values("person")
    rows = Membership.objects.owned_by(owner).filter(group__in=group_ids, person__in=people).order_by("id")
    for group_id, uid in rows.values_list("group_id", "person__uid"):
        members[group_id].append(uid)
    for group in groups:
        before = stored.get(group.pk)
        if group.deleted_at is not None:
            if before is not None and before.left_revision is None:
                yield Change(_left_copy(before, owner), before)
            continue
        uid = before.uid if before else f"urn:uuid:{group.pk}"
        former = unpack(before.text) if before else None
        text = write_group(
            name=group.name,
            uid=uid,
            members=members[group.pk],
            before=former,
            known=_known_people(owner, former, members[group.pk]),
            revised=revised_at(timezone.now()),
        )
        if (change := _group_change(group, text, uid, before, owner)) is not None:
            yield change


def _known_people(owner: User, text: str | None, members: Sequence[str]) -> set[str]:
    """Of the people whom a group card names and who are no members the keys of the active ones.

    A member in the trash stays on the card for its return.
    """
    keys = set(member_keys(text)).difference(map(uid_key, members)) if text else set()
    spellings = [spelling for key in keys for spelling in uid_spellings(key)]
    active = Person.objects.owned_by(owner).active()
    found: set[str] = set()
    for start in range(0, len(spellings), 500):
        found.update(active.filter(uid__in=spellings[start : start + 500]).values_list("uid", flat=True))
    return set(map(uid_key, found))


def _group_change(group: Group, text: str, uid: str, before: BookCard | None, owner: User) -> Change | None:
    etag, revision = etag_of(text, ""), owner.revision
    if before is None:
        new = BookCard(owner=owner, group=group, is_group=True, name=f"{group.pk}.vcf", uid=uid, text=pack(text))
        new.etag = new.plain_etag = etag
        new.read_revision = new.changed_revision = new.plain_changed_revision = revision
        return Change(new, None)
    if before.left_revision is None and before.etag == etag:
        return None
    values = {"text": pack(text), "etag": etag, "plain_etag": etag, "left_revision": None}
    changed = _changed_copy(before, owner, **values)
    changed.changed_revision = changed.plain_changed_revision = revision
    return Change(changed, before)
