"""People whom a share has made in an account: whether somebody has edited them here.

Their revision alone does not say so: the geocoder raises it, and so does a group of the account's own. What was written
later is an edit if what travels differs from what person and share last agreed on, or if the person has something of
its own now. A merge agrees anew, so it notes an edit in the copy, which counts as made by the share no more.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Max

from accounts.models import User
from people.contents.contact import LocalContact, load_local_contacts
from people.models import CustomFieldValue, ImportantDate, Person
from people.services.reminders import ArrivingReminders
from sharing.decisions import RELATIONS, TRAVELLING, shared_changes, travelling_part
from sharing.models import SharedCopy, ShareMembership

_CONTENTS = [name for name in TRAVELLING if name != RELATIONS]


def last_revision(contact: LocalContact) -> int:
    """Of the person and its dates."""
    return max([contact.person.revision, *(row.revision for row in contact.dates)])


def note_edits(
    owner: User, membership: ShareMembership, copies: Sequence[SharedCopy], contacts: Mapping[UUID, LocalContact]
) -> None:
    """Note in copies that are about to be merged whether their people have been edited here. Those whose people have
    not are saved by the caller."""
    written = {
        key: copy
        for key, copy in _made(copies).items()
        if (contact := contacts.get(key)) and (last_revision(contact) > copy.made_revision or _differs(copy, contact))
    }
    _judge(owner, membership, written, contacts)
    if edited := [copy.pk for copy in written.values() if not copy.is_made_here]:
        SharedCopy.objects.owned_by(owner).filter(pk__in=edited).update(is_made_here=False)


def unedited_people(owner: User, membership: ShareMembership, copies: Iterable[SharedCopy]) -> set[UUID]:
    """The people of those of these copies of one membership whom the share made, and nobody has edited here."""
    made = _made(copies)
    last = _last_revisions(owner, made)
    written = {key: copy for key, copy in made.items() if last.get(key, 0) > copy.made_revision}
    _judge(owner, membership, written, load_local_contacts(owner, written))
    return {key for key, copy in made.items() if copy.is_made_here}


def _made(copies: Iterable[SharedCopy]) -> dict[UUID, SharedCopy]:
    """Those whom the share made, by person."""
    return {copy.person_id: copy for copy in copies if copy.is_made_here and copy.person_id}


def _judge(
    owner: User,
    membership: ShareMembership,
    copies: Mapping[UUID, SharedCopy],
    contacts: Mapping[UUID, LocalContact],
) -> None:
    if not copies:
        return
    last = _last_revisions(owner, copies)
    reminders = ArrivingReminders(owner, membership.reminders)
    values = CustomFieldValue.objects.owned_by(owner).filter(person__in=last)
    with_values = set(values.values_list("person_id", flat=True))
    for key, copy in copies.items():
        contact, revision = contacts[key], last[key]
        if revision <= copy.made_revision:
            continue  # another share has changed the person, not the account
        if key in with_values or _differs(copy, contact) or _has_own_marks(copy, contact, reminders):
            copy.is_made_here = False
        else:
            copy.made_revision = revision


def _last_revisions(owner: User, keys: Collection[UUID]) -> dict[UUID, int]:
    """The last revisions of people and of their dates, removed ones too."""
    last = dict(Person.objects.owned_by(owner).filter(pk__in=keys).values_list("pk", "revision"))
    dates = ImportantDate.objects.owned_by(owner).filter(person__in=keys).order_by().values_list("person_id")
    for key, revision in dates.annotate(last=Max("revision")):
        last[key] = max(last[key], revision)
    return last


def _differs(copy: SharedCopy, contact: LocalContact) -> bool:
    """Whether the person says something else than when it last agreed with the share. Coordinates travel nowhere."""
    before, now = (travelling_part(fields, _CONTENTS) for fields in (copy.base_local, contact.fields))
    return bool(shared_changes(before, now))


def _has_own_marks(copy: SharedCopy, contact: LocalContact, reminders: ArrivingReminders) -> bool:
    """Whether the person has what no share gives it. A reminder of a group's rule is none of its own."""
    person = contact.person
    return bool(
        person.favourite
        or person.quiet
        or person.is_me
        or person.display_name_override
        or person.relationship_to_user_id
        or person.last_contact
        or not person.card_dav_sync_enabled
        or (person.contact_reminder_enabled and person.contact_reminder_from_id is None)
        or any(
            row.revision > copy.made_revision and row.reminder_enabled != reminders.wanted(row.type)["reminder_enabled"]
            for row in contact.dates
        )
    )
