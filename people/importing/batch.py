"""One batch of an import: matches its cards to people and writes all of them in a few statements.

`prepare` only reads. `write` must be called under the account lock, under which `prepare` was called.
"""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from people.cards.converter import put_card
from people.contents.groups import CategoryGroups
from people.dates import schedule
from people.field_table import CARD_DATE_KEYS
from people.importing.groups import awaiting_groups, forget_awaited
from people.importing.log import ImportLog
from people.importing.matches import Candidates, DryRunState, Item, PersonMatch
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED, RecordOutcome
from people.models import Group, ImportantDate, Person
from people.models.groups import group_key
from people.photos.files import confirm_upload, delete_files
from people.photos.names import photo_hash
from people.services.group_rules import longest_lead_days, write_rules
from people.services.person_writer import PersonWriter
from people.services.plan_limits import describe_limit, remaining_in_plan
from people.services.reminders import ArrivingReminders
from people.vcard import Card
from people.vcard.card import uid_key
from people.vcard.limits import too_many_entries
from people.vcard.merge import fields_beyond_limit
from people.vocabularies import DateType, RecordKind

_REMINDER_OFF = define_text(
    "reminder_off",
    "your plan allows %(limit)s reminder: its contact reminder is off",
    plural="your plan allows %(limit)s reminders: its contact reminder is off",
    number="limit",
)
_REMINDER_LIMIT = define_text(
    "reminder_limit",
    "your plan allows %(limit)s reminder: those of its dates are off",
    plural="your plan allows %(limit)s reminders: those of its dates are off",
    number="limit",
)
_NOTHING_NEW = define_text("nothing_new", "nothing new: this person is there already")
_OTHER_PHOTO = define_text("other_photo", "its photo is another one and was left out")

#: The code of an outcome that the limit of the account's plan refused.
PLAN_LIMIT = "plan_people"


_CARD_COLUMNS = tuple(key.column for key in CARD_DATE_KEYS)


class ImportBatch:
    """The cards of one batch. `seen` contains the UIDs of the cards of earlier batches.

    `log` records what is written, so that it can be undone. With a `dry_run` nothing is written. Everybody whom the
    cards mean joins the groups `group_ids`. `remind` (DateReminders) is the import's own choice.
    """

    def __init__(
        self,
        owner: User,
        items: list[Item],
        seen: Collection[str],
        now: dt.datetime,
        *,
        log: ImportLog | None = None,
        dry_run: DryRunState | None = None,
        group_ids: Collection[UUID] = (),
        remind: str | None = None,
    ) -> None:
        self.owner, self.items, self.now = owner, items, now
        self.log, self.dry_run = log, dry_run
        self.outcomes: list[RecordOutcome] = []
        # By the key of a UID, the groups of group cards that came before its card.
        self.waiting: Mapping[str, list[Group]] = {}
        self.candidates = Candidates(owner, seen, dry_run)
        self.groups = CategoryGroups(owner, dry_run.group_keys if dry_run else ())
        self.group_ids, self.joined_by_all = group_ids, list[Group]()
        self.reminders = ArrivingReminders(owner, remind, taken=dry_run.reminders if dry_run else 0)

    def prepare(self) -> None:
        """Match each card to a person, and merge into that person what the card adds."""
        self.candidates.load(self.items)
        self.waiting = awaiting_groups(self.owner, (item.card.uid for item in self.items))
        self.groups.load(name for item in self.items for name in item.card.categories)
        if self.group_ids:
            # Read under the lock: one of them may have been deleted since the request came.
            self.joined_by_all = list(Group.objects.owned_by(self.owner).active().filter(pk__in=self.group_ids))
            self.groups.groups |= {group.name_key: group for group in self.joined_by_all}
        self.groups.groups |= {group.name_key: group for groups in self.waiting.values() for group in groups}
        remaining = remaining_in_plan(self.owner, "people")
        if remaining is not None and self.dry_run:
            remaining -= self.dry_run.added
        for item in self.items:
            item.card = self.groups.drop_unavailable(item.card, item.remarks)
            outcome = self._find_match(item, is_full=remaining is not None and remaining <= 0)
            if remaining is not None:
                remaining -= outcome.status == IMPORTED
            self.outcomes.append(outcome)
        if self.dry_run:
            self.dry_run.remember(self.changed)
            self.dry_run.reminders = self.reminders.taken
            new = (key for key, group in self.groups.groups.items() if group._state.adding)
            self.dry_run.group_keys.update(new)

    @property
    def changed(self) -> list[PersonMatch]:
        """The people whom the cards create or change."""
        return [match for match in self.candidates.matches if match.is_changed]

    def write(self, write: AccountWrite) -> None:
        """Write what `prepare` has found, in a few statements."""
        writer, changed = PersonWriter(self.owner, write, self.now), self.changed
        if self.log:
            # Before the cards are applied to the rows: the log needs the former values.
            self.log.record_former([match.person for match in changed if not match.is_new])
        new, moved = self._merge_dates(changed)
        if self.log:
            self.log.record_dates(new, moved)
        self._write_people(writer, changed)
        self._write_dates(writer, new, moved)
        joined = [(match.person, match.card.categories[len(match.card_before.categories) :]) for match in changed]
        created = self.groups.write(joined)
        pairs = self.groups.resolve(joined)
        ruled = write_rules(writer, [(person, group.pk) for person, group in pairs if group.has_rule])
        if ruled.people:
            writer.flush()
        if self.waiting:
            stored = zip(self.items, self.outcomes, strict=True)
            keys = {uid_key(item.card.uid or "") for item, outcome in stored if outcome.status != ERROR}
            forget_awaited(self.owner, keys & self.waiting.keys())
        if self.log:
            self.log.record_people([(match.person, match.is_new) for match in changed], pairs, ruled)
            self.log.record_created(RecordKind.GROUP, [group.pk for group in created])
            # Last, because the fingerprints are computed from the rows as this write leaves them.
            self.log.flush(write, self.outcomes)

    def _find_match(self, item: Item, *, is_full: bool) -> RecordOutcome:
        """Merge a card into the person that it matches, or to a new person."""
        match, is_same = self.candidates.find_by_uid(item)
        match = match or self.candidates.find_by_name(item)
        if match is None and is_full:
            remark = describe_limit(self.owner, "people")
            return RecordOutcome(item.result.index, item.result.name, ERROR, remarks=(remark,))
        if match is None:
            person = Person(owner=self.owner, created_at=self.now)
            card = self._in_joined_groups(item.card, item.card.uid)
            columns = self._limit_contact_reminder(item)
            match = PersonMatch(person, Card(), card, picture=item.picture, is_new=True, columns=columns)
            self._set_reminders(match, match.card_before, item)
            self.candidates.add(match)
            return item.outcome(IMPORTED, None if self.dry_run else person.pk)
        # A person that only a dry run has created has no row, so its id would lead nowhere.
        person_id = None if self.dry_run and match.is_new else match.person.pk
        before = (match.card, match.picture)
        match.card = match.merged_with(item.card, overwrite=is_same) or match.card
        self._set_reminders(match, before[0], item)
        if match.card != before[0]:
            # Later cards of this batch must find the person by what this card has added.
            self.candidates.index(match)
        item.remarks += [too_many_entries(field) for field in fields_beyond_limit(match.card, item.card)]
        self._update_photo(match, item, replace=is_same)
        match.card = self._in_joined_groups(match.card, item.card.uid)
        if (match.card, match.picture) != before:
            return item.outcome(UPDATED, person_id)
        item.remarks.append(_NOTHING_NEW)
        return item.outcome(SKIPPED, person_id)

    def _limit_contact_reminder(self, item: Item) -> Mapping[str, Any]:
        """The columns of a new person, without a contact reminder that exceeds the plan."""
        if not item.columns.get("contact_reminder_enabled") or self.reminders.take():
            return item.columns
        item.remarks.append(_REMINDER_OFF.format(limit=self.owner.plan_limit("reminders")))
        return {**item.columns, "contact_reminder_enabled": False}

    def _set_reminders(self, match: PersonMatch, before: Card, item: Item) -> None:
        """Set the reminders of the dates that a card adds to the person's card `before`, as far as the plan allows."""
        present = {day.type: day for day in before.important_dates if day.type}
        is_refused = False
        for day in match.card.important_dates:
            if day in before.important_dates:
                continue
            if day.type in present:  # it moves, and keeps its own
                if columns := match.reminders.pop(present[day.type], None):
                    match.reminders[day] = columns
                continue
            columns = self.reminders.wanted(day.type, item.reminders.get(day))
            if columns["reminder_enabled"] and not self.reminders.take():
                is_refused, columns = True, {**item.reminders.get(day, {}), "reminder_enabled": False}
            match.reminders[day] = columns
            item.birthday_count += day.type == DateType.BIRTHDAY
            item.reminder_count += columns["reminder_enabled"]
        if is_refused:
            item.remarks.append(_REMINDER_LIMIT.format(limit=self.owner.plan_limit("reminders")))

    def _in_joined_groups(self, card: Card, uid: str | None) -> Card:
        """The card with the groups that everybody of the file joins, and those that wait for a person with this UID.

        Only when its person is found: before, they would be something that the card adds to a namesake.
        """
        present = {group_key(name) for name in card.categories}
        groups = (*self.joined_by_all, *self.waiting.get(uid_key(uid or ""), ()))
        names = {group.name_key: group.name for group in groups if group.name_key not in present}
        return replace(card, categories=(*card.categories, *names.values())) if names else card

    def _update_photo(self, match: PersonMatch, item: Item, *, replace: bool) -> None:
        """Replace the photo if the card is the same contact; a namesake's photo is only taken where there is none."""
        stored = (
            match.picture.hashes if match.picture else {photo_hash(match.person.photo)} if match.person.photo else ()
        )
        if item.picture is None or item.picture.hashes.intersection(stored):
            return
        if replace or not stored:
            match.picture = item.picture
        else:
            item.remarks.append(_OTHER_PHOTO)

    def _write_people(self, writer: PersonWriter, changed: list[PersonMatch]) -> None:
        for match in changed:
            person = match.person
            writer.edit(person)
            put_card(person, match.card, match.rows)
            for column, value in match.columns.items():
                setattr(person, column, value)
            if match.picture:
                delete_files([person.photo])
                person.photo = confirm_upload(owner_id=self.owner.pk, jpeg=match.picture.jpeg)
        writer.flush()

    def _merge_dates(self, changed: list[PersonMatch]) -> tuple[list[ImportantDate], list[ImportantDate]]:
        """Update the important dates of these people from their cards. Returns the new rows and the changed rows."""
        new: list[ImportantDate] = []
        moved: list[ImportantDate] = []
        for match in changed:
            for card_date in match.card.important_dates:
                if card_date in match.card_before.important_dates:
                    continue
                row = next((row for row in match.rows if card_date.type and row.type == card_date.type), None)
                if row is None:
                    row = ImportantDate(owner=self.owner, person=match.person, created_at=self.now, type=card_date.type)
                    for column, value in match.reminders.get(card_date, {}).items():
                        setattr(row, column, value)
                    match.rows.append(row)
                    new.append(row)
                else:
                    moved.append(row)
                title = card_date.title or row.title
                for key in CARD_DATE_KEYS:
                    setattr(row, key.column, getattr(card_date, key.column))
                row.title, row.updated_at = title, self.now
        return new, moved

    def _write_dates(self, writer: PersonWriter, new: list[ImportantDate], moved: list[ImportantDate]) -> None:
        # The rules of groups that somebody joins with this card are written afterwards.
        reminding = [row for row in new if row.reminder_enabled]
        lead_days = longest_lead_days(self.owner.pk, {row.person_id for row in reminding}) if reminding else {}
        for row in reminding:
            row.reminder_lead_days = lead_days.get(row.person_id)
        for row in (*moved, *reminding):
            schedule.schedule_date(row, writer.calendar, self.now)
        ImportantDate.objects.bulk_create(new)
        ImportantDate.objects.owned_by(self.owner).bulk_update(
            moved, [*_CARD_COLUMNS, "updated_at", *schedule.DATE_COLUMNS]
        )
