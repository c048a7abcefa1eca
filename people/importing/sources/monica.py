"""Monica 4: the JSON export of an account, and the SQL export converted to the same shape (docs/imports.md)."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from django.utils import translation

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import Text, define_text
from people.extensions import RelationshipTypeSpec
from people.importing.receipts import CONTACT, TOO_MANY_RECORDS
from people.importing.sources import monica_entries as entries
from people.importing.sources.days import DateColumns
from people.importing.sources.documents import get_object, get_objects, get_text, read_document
from people.importing.sources.drafts import RecordDraft, RecordResult
from people.importing.sources.monica_contacts import ContactReader, avatar_of, group_by_type
from people.importing.sources.monica_entries import MAX_SHARED, Names, NoteEntry
from people.importing.sources.monica_tables import open_sql_export
from people.importing.sources.records import (
    JOURNAL_ENTRIES,
    LEFT_OUT,
    MAX_PEOPLE,
    RELATED_MISSING,
    InteractionRecord,
    RelationshipRecord,
    build_custom_type,
)
from people.importing.sources.tables import MAX_ROWS
from people.vocabularies import InteractionKind

# By Monica's name: our name and label, then the name and label of the inverse if it is another type. Where a default
# type of ours has the same meaning, it is used.
_TYPES = {
    "partner": ("PARTNER", "Partner"),
    "spouse": ("SPOUSE", "Spouse"),
    "date": ("DATE", "Date"),
    "lover": ("LOVER", "Lover"),
    "inlovewith": ("IN_LOVE_WITH", "In love with", "LOVED_BY", "Loved by"),
    "lovedby": ("LOVED_BY", "Loved by", "IN_LOVE_WITH", "In love with"),
    "ex": ("EX", "Ex-partner"),
    "ex_husband": ("EX_SPOUSE", "Ex-spouse"),
    "parent": ("PARENT", "Parent", "CHILD", "Child"),
    "child": ("CHILD", "Child", "PARENT", "Parent"),
    "sibling": ("SIBLING", "Sibling"),
    "grandparent": ("GRANDPARENT", "Grandparent", "GRANDCHILD", "Grandchild"),
    "grandchild": ("GRANDCHILD", "Grandchild", "GRANDPARENT", "Grandparent"),
    "uncle": ("UNCLE_OR_AUNT", "Uncle or aunt", "NEPHEW_OR_NIECE", "Nephew or niece"),
    "nephew": ("NEPHEW_OR_NIECE", "Nephew or niece", "UNCLE_OR_AUNT", "Uncle or aunt"),
    "cousin": ("COUSIN", "Cousin"),
    "godfather": ("GODPARENT", "Godparent", "GODCHILD", "Godchild"),
    "godson": ("GODCHILD", "Godchild", "GODPARENT", "Godparent"),
    "stepparent": ("STEPPARENT", "Stepparent", "STEPCHILD", "Stepchild"),
    "stepchild": ("STEPCHILD", "Stepchild", "STEPPARENT", "Stepparent"),
    "friend": ("FRIEND", "Friend"),
    "bestfriend": ("BEST_FRIEND", "Best friend"),
    "colleague": ("COLLEAGUE", "Colleague"),
    "boss": ("BOSS", "Boss", "SUBORDINATE", "Subordinate"),
    "subordinate": ("SUBORDINATE", "Subordinate", "BOSS", "Boss"),
    "mentor": ("MENTOR", "Mentor", "PROTEGE", "Protégé"),
    "protege": ("PROTEGE", "Protégé", "MENTOR", "Mentor"),
}
_NO_ACCOUNT = define_text("no_monica_account", "There is no account of Monica in this file.")
_OTHER_KINDS = define_text("noun_other_kinds", "other kinds of records")
_FILES_LEFT_OUT = define_text(
    "files_left_out", "%(count)s of them were left out, their names are in the notes of their people"
)
#: What the receipt calls the types of records that belong to no person. Those not here go by their name in the file.
_NOUNS: Mapping[str, Text] = {
    "journal_entry": JOURNAL_ENTRIES,
    "day": define_text("noun_rated_days", "rated days"),
    "document": define_text("noun_documents", "documents"),
    "photo": define_text("noun_photos", "photos"),
    "task": define_text("noun_tasks", "tasks"),
    "debt": define_text("noun_debts", "debts"),
    "activity": define_text("noun_activities", "activities"),
    "relationship": define_text("noun_relationships_without_people", "relationships without people"),
    "message": define_text("noun_messages_without_conversation", "messages without a conversation"),
    "company": define_text("noun_companies_without_people", "companies without people"),
    "emotion_call": define_text("noun_feelings_of_calls", "feelings of calls"),
    "audit_log": define_text("noun_audit_logs", "entries of the audit log"),
    "address_book": define_text("noun_address_books", "address books"),
    "address_book_subscription": define_text("noun_address_book_subscriptions", "subscribed address books"),
}
#: What is no record about people: who uses Monica, with which settings.
_SETTINGS = frozenset({"user", "contact", "modules", "reminder_rules", "journal_entries", "audit_logs"})
_INSTANCE = frozenset(
    {
        "activity_types",
        "activity_type_categories",
        "contact_field_types",
        "genders",
        "life_event_types",
        "life_event_categories",
    }
)
_READ = frozenset({"photo", "document", "activity", "relationship"})
_MAX_KINDS, _MAX_KIND = 30, 64
Record = dict[str, Any]


class Monica:
    """The export of an account. The keys of its contacts are their UUIDs."""

    record_noun = CONTACT

    def __init__(self, owner: User, account: Record, now: dt.datetime) -> None:
        lists = group_by_type(account)
        instance = get_object(account, "instance")
        self.owner, self.now = owner, now
        self.days = DateColumns(owner, now.year).reader()
        self.contacts = [contact for contact in lists.get("contact", ()) if isinstance(contact, dict)]
        self.names = Names(
            field_types=_index_by_uuid(get_objects(instance, "contact_field_types")),
            life_event_types=_index_by_uuid(get_objects(instance, "life_event_types")),
            activity_types=_index_by_uuid(get_objects(instance, "activity_types")),
            contacts={get_text(contact, "uuid"): _full_name(contact) for contact in self.contacts},
        )
        self.activities = {get_text(row, "uuid"): row for row in lists.get("activity", ()) if isinstance(row, dict)}
        self.pairs = [get_object(row, "properties") for row in lists.get("relationship", ()) if isinstance(row, dict)]
        people = self.names.contacts.keys()
        ends = [(get_text(pair, "contact_is"), get_text(pair, "of_contact")) for pair in self.pairs]
        #: The contacts with a relationship to somebody who is not in the file.
        self.missing_somebody = {key for pair in ends if not people >= {*pair} for key in pair if key in people}
        self.account, self.lists = account, lists
        #: By the number of a contact the notes that its field has no room for; known when `people` has been read.
        self.overflow: dict[int, list[NoteEntry]] = {}
        self.reader = ContactReader(
            names=self.names,
            genders=_index_by_uuid(get_objects(instance, "genders")),
            photos=_index_by_uuid(lists.get("photo", ())),
            documents={get_text(row, "uuid"): row for row in lists.get("document", ()) if isinstance(row, dict)},
            activities=self.activities,
        )

    def count(self) -> int:
        return min(len(self.contacts), MAX_ROWS + 1)

    def people(self) -> Iterator[RecordResult]:
        for index, contact in enumerate(self.contacts):
            if index >= MAX_ROWS:
                error = TOO_MANY_RECORDS.format(limit=MAX_ROWS)
                yield RecordResult(index=index, name="", error=error)
                return
            draft = RecordDraft(self.days)
            key = get_text(contact, "uuid")
            # With a UID a second import finds the same people, even if their names have changed.
            draft.uid = f"urn:uuid:{key}" if parse_id(key) else None
            # What is stored in words is in the account's language, whoever imports.
            with translation.override(self.owner.language):
                self.overflow[index] = self.reader.fill(draft, contact)
            if key in self.missing_somebody:
                draft.warn(RELATED_MISSING)
            yield draft.build_result(index, key=key)

    def relationship_types(self) -> Sequence[RelationshipTypeSpec]:
        inverses = self._find_inverses()
        return [_map_type(name, inverses.get(name, "")) for name in inverses]

    def relationships(self) -> Iterator[RelationshipRecord]:
        """Yield the relationships. As Monica shows a row, `of_contact` is the `type` of `contact_is`."""
        inverses, people = self._find_inverses(), self.names.contacts
        for row in self.pairs:
            if get_text(row, "of_contact") not in people or get_text(row, "contact_is") not in people:
                continue
            name = get_text(row, "type")
            kind = _map_type(name, inverses.get(name, "")) if name else None
            yield RelationshipRecord(key=get_text(row, "of_contact"), related=get_text(row, "contact_is"), type=kind)

    def interactions(self) -> Iterator[InteractionRecord]:
        participants: dict[str, list[str]] = defaultdict(list)
        for index, contact in enumerate(self.contacts):
            key, lists = get_text(contact, "uuid"), group_by_type(contact)
            for activity in lists.get("activity", ()):
                if isinstance(activity, str):
                    participants[activity].append(key)
            for event in entries.events_of(lists, self.names):
                if event.at:
                    yield InteractionRecord(
                        keys=(key,), kind=event.kind, at=event.at, title=event.title, notes=event.lines
                    )
            for entry in self.overflow.get(index, ()):
                if entry.at:
                    yield InteractionRecord(keys=(key,), kind=InteractionKind.NOTE, at=entry.at, notes=str(entry))
        yield from self._activities(participants)

    def _activities(self, participants: Mapping[str, list[str]]) -> Iterator[InteractionRecord]:
        """Yield the activities, by their ids with the contacts who took part."""
        for uuid, keys in participants.items():
            event = entries.activity(self.activities.get(uuid, {}), self.names)
            if event.at is None:
                continue
            participating = list(dict.fromkeys(keys))
            # An interaction has a limited number of people: the others get one of their own.
            for start in range(0, len(participating), MAX_PEOPLE):
                some = tuple(participating[start : start + MAX_PEOPLE])
                yield InteractionRecord(keys=some, kind=event.kind, at=event.at, title=event.title, notes=event.lines)

    def not_imported(self) -> Sequence[tuple[Text | str, Text]]:
        counts = self._count_left_out()
        found: list[tuple[Text | str, Text]] = []
        for kind, count in counts.most_common(_MAX_KINDS):
            remark = _FILES_LEFT_OUT if kind == "document" else LEFT_OUT
            found.append((_NOUNS.get(kind) or kind, remark.format(count=count)))
        if others := counts.total() - sum(count for _, count in counts.most_common(_MAX_KINDS)):
            found.append((_OTHER_KINDS, LEFT_OUT.format(count=others)))
        return found

    def _count_left_out(self) -> Counter[str]:
        """The number of records of each type that nobody gets."""
        left = Counter[str]()
        properties, instance = get_object(self.account, "properties"), get_object(self.account, "instance")
        left["journal_entry"] = _count(properties.get("journal_entries"))
        left["audit_log"] = _count(properties.get("audit_logs"))
        for rows in (self.lists, properties, instance):
            for kind, values in rows.items():
                if kind not in _SETTINGS | _INSTANCE | _READ:
                    left[kind[:_MAX_KIND]] += _count(values)
        avatars, activities = set[str](), set[str]()
        for contact in self.contacts[:MAX_ROWS]:
            lists = group_by_type(contact)
            activities.update(key for key in lists.get("activity", ()) if isinstance(key, str))
            avatars.add(avatar_of(contact) or "-")
            left["document"] += sum(isinstance(row, dict) for row in lists.get("document", ()))
            for kind, values in lists.items():
                if kind not in entries.CONTACT_KINDS:
                    left[kind[:_MAX_KIND]] += len(values)
        left["photo"] = sum(get_text(row, "uuid") not in avatars for row in get_objects(self.lists, "photo"))
        # Only the name of a document is text: it is in the notes of its person.
        left["document"] += _count(self.lists.get("document"))
        left["activity"] = len(self.activities.keys() - activities) + len(activities - self.activities.keys())
        people = self.names.contacts.keys()
        left["relationship"] = sum(
            get_text(pair, "contact_is") not in people and get_text(pair, "of_contact") not in people
            for pair in self.pairs
        )
        return +left

    def _find_inverses(self) -> dict[str, str]:
        """The inverse of each type. The export contains each relationship twice, once from each side."""
        kinds = {
            (get_text(row, "contact_is"), get_text(row, "of_contact")): get_text(row, "type") for row in self.pairs
        }
        return {kind: kinds.get((other, one), "") for (one, other), kind in kinds.items() if kind}


def _full_name(contact: Record) -> str:
    properties = get_object(contact, "properties")
    names = filter(None, (get_text(properties, "first_name"), get_text(properties, "last_name")))
    return " ".join(names)[:MAX_SHARED]


def _index_by_uuid(rows: Iterable[Any]) -> dict[str, Record]:
    return {get_text(row, "uuid"): get_object(row, "properties") for row in rows if isinstance(row, dict)}


def _count(values: object) -> int:
    return len(values) if isinstance(values, list) else 0


def open_monica(owner: User, file: BinaryIO, now: dt.datetime) -> Monica:
    """Open a JSON export, which begins with a brace, or an SQL export. Raises FieldError if it is neither."""
    file.seek(0)
    is_json = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    account = get_object(read_document(file, "Monica"), "account") if is_json else open_sql_export(file)
    if not group_by_type(account):
        raise FieldError("file", _NO_ACCOUNT)
    return Monica(owner, account, now)


def _map_type(name: str, inverse: str) -> RelationshipTypeSpec:
    """Map a type by its name in Monica. `inverse` is the name of its inverse, used only for the user's own types."""
    if found := _TYPES.get(name):
        label, *back = found[1:]
        return RelationshipTypeSpec(
            name=found[0], label=label, inverse=back[0] if back else "", inverse_label=back[1] if back else ""
        )
    return build_custom_type(name, name, inverse, inverse)
