"""Group cards of an import: a group with the name of the card, and in it the people whose UIDs the card lists.

A member whose card comes in a later file is kept as an AwaitedMember, and joins when that file is imported.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import BatchWriter, account_write
from contacts_project.kernel.texts import Text, define_text
from people.contents.groups import CategoryGroups
from people.importing.log import ImportLog
from people.importing.matches import DryRunState
from people.models import AwaitedMember, Group, Membership, Person
from people.services.groups import join_group, put_members
from people.vcard import Card
from people.vcard.card import uid_key, uid_spellings
from people.vocabularies import RecordKind

_GROUP = define_text(
    "card_is_a_group",
    "a group, not a person; it has %(count)s member",
    plural="a group, not a person; it has %(count)s members",
    number="count",
)
_OVER_PLAN = define_text("group_over_plan", "your plan allows no more groups")
_AWAITED = define_text(
    "group_members_awaited",
    "%(count)s member was not found and joins when its card is imported: %(members)s",
    plural="%(count)s members were not found and join when their cards are imported: %(members)s",
    number="count",
)
_NOT_FOUND = define_text(
    "group_members_not_found",
    "%(count)s member was not found: %(members)s",
    plural="%(count)s members were not found: %(members)s",
    number="count",
)
_Row = TypeVar("_Row")
#: How many members one account may wait for: a hostile file could name any number.
MAX_AWAITED = 10_000
_MAX_KEY = 255
_MAX_NAMED, _MAX_NAME = 20, 100
_BATCH_SIZE = 100
# RFC 6350, 6.6.5: a member may also be named by an address. No card comes with such a UID.
_ADDRESS_SCHEMES = ("mailto:", "tel:", "http:", "https:", "xmpp:")


class GroupCards:
    """Applies the group cards of one import, each in short transactions. `log` records what is written.

    With a `dry_run` nothing is written, and the remarks are those of an import.
    """

    def __init__(
        self,
        owner: User,
        writer: BatchWriter,
        now: dt.datetime,
        *,
        log: ImportLog | None,
        dry_run: DryRunState | None = None,
    ) -> None:
        self.owner, self.writer, self.now, self.log, self.dry_run = owner, writer, now, log, dry_run

    def apply(self, card: Card) -> tuple[Text, ...]:
        """Make the group and put its members into it; returns the remarks about the card.

        Applying the same card again changes nothing. Raises ImportStoppedError.
        """
        # By key, as the card spells them: it may name a member twice.
        members = {uid_key(member): member for member in card.members}
        people = self._find_people(members.values())
        found = set(people.values())
        missing = [key for key in members if key not in found]
        if self.dry_run:
            missing = [key for key in missing if not self.dry_run.has_uid(key)]
            group = self._reserve_group(card.name, self.dry_run)
            kept, new = self._awaited_of(group, missing) if group else ([], [])
            self.dry_run.awaited += len(new)
        else:
            with self.writer.batch():
                group = self._find_or_make_group(card.name)
                kept = self._keep_missing(group, missing) if group else []
        if group is None:
            return _GROUP.format(count=len(members)), _OVER_PLAN
        for person_ids in _batches(list(people)) if self.dry_run is None else ():
            with self.writer.batch():
                self._add_members(group, person_ids)
        # As the keys of a dictionary: in order, and a look-up for each member.
        awaited = dict.fromkeys(kept)
        remarks: tuple[Text, ...] = (_GROUP.format(count=len(members)),)
        for text, keys in ((_AWAITED, list(awaited)), (_NOT_FOUND, [key for key in missing if key not in awaited])):
            if keys:
                names = [members[key][:_MAX_NAME] for key in keys[:_MAX_NAMED]]
                remarks += (text.format(count=len(keys), members=[*names, *(["…"] if len(keys) > len(names) else ())]),)
        return remarks

    def _find_people(self, uids: Iterable[str]) -> dict[UUID, str]:
        """The active people with these UIDs, each with the key of its UID. Several people may have the same."""
        active = Person.objects.owned_by(self.owner).active()
        found: dict[UUID, str | None] = {}
        for batch in _batches(list(uids)):
            spellings = {spelling for uid in batch for spelling in uid_spellings(uid)}
            found.update(active.filter(uid__in=spellings).order_by("id").values_list("pk", "uid"))
        return {key: uid_key(uid or "") for key, uid in found.items()}

    def _find_or_make_group(self, name: str) -> Group | None:
        """The group of this name, with or without members; None if the plan allows no more groups."""
        groups = CategoryGroups(self.owner)
        groups.load([name])
        if not groups.reserve(name):
            return None
        if groups.existing():
            return groups.existing()[0]
        with account_write(self.owner) as write:
            group = groups.make(name)
            if self.log:
                self.log.record_created(RecordKind.GROUP, [group.pk])
                self.log.flush(write)
        return group

    def _reserve_group(self, name: str, dry_run: DryRunState) -> Group | None:
        """The group of this name as an import would find or make it; None if the plan allows no more groups."""
        groups = CategoryGroups(self.owner, dry_run.group_keys)
        groups.load([name])
        if not groups.reserve(name):
            return None
        [(key, group)] = groups.groups.items()
        if group._state.adding:
            dry_run.group_keys.add(key)
        return group

    def _awaited_of(self, group: Group, missing: Sequence[str]) -> tuple[list[str], list[str]]:
        """The keys of the members that may still come, as far as the limit allows, and those of them that are new."""
        rows = AwaitedMember.objects.owned_by(self.owner)
        present = set(rows.filter(group=group.pk).values_list("uid_key", flat=True)) if missing else set()
        left = MAX_AWAITED - rows.count() - (self.dry_run.awaited if self.dry_run else 0) if missing else 0
        may_come = [key for key in missing if len(key) <= _MAX_KEY and not key.lower().startswith(_ADDRESS_SCHEMES)]
        new = [key for key in may_come if key not in present][: max(0, left)]
        kept = present.union(new)
        return [key for key in may_come if key in kept], new

    def _keep_missing(self, group: Group, missing: Sequence[str]) -> list[str]:
        """Remember the members that may still come, as far as the limit allows; returns their keys."""
        kept, new = self._awaited_of(group, missing)
        if new:
            with account_write(self.owner) as write:
                if self.log:
                    # Before the rows, which refer to the import.
                    self.log.flush(write)
                row = self.log.row if self.log else None
                AwaitedMember.objects.bulk_create(
                    AwaitedMember(owner=self.owner, group=group, uid_key=key, contact_import=row) for key in new
                )
        return kept

    def _add_members(self, group: Group, person_ids: Sequence[UUID]) -> None:
        active = Person.objects.owned_by(self.owner).active().filter(pk__in=person_ids)
        members = Membership.objects.owned_by(self.owner).filter(group=group, person__in=person_ids)
        people = list(active.exclude(pk__in=members.values("person_id")).order_by("id"))
        if not people or not Group.objects.owned_by(self.owner).active().filter(pk=group.pk).exists():
            return
        with account_write(self.owner) as write:
            if self.log:
                self.log.record_former(people)
            ruled = join_group(group, [person.pk for person in people], self.now, loaded=people)
            if self.log:
                pairs = [(person, group) for person in people]
                self.log.record_people([(person, False) for person in people], pairs, ruled)
                self.log.flush(write)


def awaiting_groups(owner: User, uids: Iterable[str | None]) -> Mapping[str, list[Group]]:
    """By the key of a UID the groups that wait for a person with it."""
    keys = {uid_key(uid) for uid in uids if uid}
    if not keys:
        return {}
    groups: dict[str, list[Group]] = defaultdict(list)
    rows = AwaitedMember.objects.owned_by(owner).filter(uid_key__in=sorted(keys), group__deleted_at=None)
    for row in rows.select_related("group").order_by("id"):
        groups[row.uid_key].append(row.group)
    return groups


def join_awaiting_groups(owner: User, people: Iterable[tuple[UUID, str | None]], now: dt.datetime) -> list[UUID]:
    """Put new people, given by id and UID, into the groups that wait for them; returns who has joined any.

    Must be called inside `account_write`.
    """
    uids = dict(people)
    waiting = awaiting_groups(owner, uids.values())
    groups = {group.pk: group for found in waiting.values() for group in found}
    members: dict[UUID, list[UUID]] = defaultdict(list)
    for person_id, uid in uids.items() if waiting else ():
        for group in waiting.get(uid_key(uid or ""), ()):
            members[group.pk].append(person_id)
    for key, person_ids in members.items():
        put_members(groups[key], person_ids, now)
    if waiting:
        forget_awaited(owner, waiting)
    return sorted({key for person_ids in members.values() for key in person_ids})


def forget_awaited(owner: User, keys: Collection[str]) -> None:
    """The people with these UIDs have joined the groups that waited for them."""
    AwaitedMember.objects.owned_by(owner).filter(uid_key__in=keys).delete()


def _batches(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    for start in range(0, len(rows), _BATCH_SIZE):
        yield rows[start : start + _BATCH_SIZE]
