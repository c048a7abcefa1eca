"""One address for all who live there: who has the same one, and changing it for several people in one write.

docs/entries.md says when two addresses are the same.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError, MissingError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from people.duplicates.keys import whole_address_key
from people.entries import ENTRY_KEYS, pair_entries
from people.models import LookupKey, Person
from people.services.person_writer import PersonWriter

_NOT_SHARED = define_text("address_not_shared", "This person does not have the address.")


class Sharer(NamedTuple):
    """Somebody who has the address, and which entry of theirs it is."""

    person: Person
    entry_id: str


def find_sharers(*, owner: User, person: Person, entry_id: str) -> list[Sharer]:
    """The other active people with the address of this entry, in name order. Raises MissingError."""
    entry = _find_entry(person, entry_id)
    if entry is None:
        raise MissingError
    keys = LookupKey.objects.filter(owner=owner, kind=LookupKey.WHOLE_ADDRESS, key=whole_address_key(entry))
    # The ids first: with a subquery, PostgreSQL may read all people of the account, as long as it has no statistics.
    ids = set(keys.exclude(person=person).values_list("person_id", flat=True))
    people = Person.objects.owned_by(owner).active().filter(pk__in=ids).defer("notes", "card_lines").in_name_order()
    return [Sharer(other, key) for other in people if (key := _same_entry(entry, other))]


def replace_address(
    *,
    owner: User,
    person_id: UUID,
    entry_id: str,
    address: JsonMapping,
    person_ids: Sequence[UUID],
    now: dt.datetime,
) -> int:
    """Give a person, and others who share the address, another one; returns the number of people.

    Entries keep their ids and types. Raises FieldError: an unknown entry, somebody who does not have the address.
    """
    ids = [person_id, *person_ids]
    with account_write(owner) as write:
        people = {person.pk: person for person in Person.objects.owned_by(owner).active().filter(pk__in=ids)}
        if person_id not in people:
            raise FieldError("from.personId", NO_SUCH_RECORD)
        former = _find_entry(people[person_id], entry_id)
        if former is None:
            raise FieldError("from.entryId", NO_SUCH_RECORD)
        changes = {person_id: entry_id}
        for index, key in enumerate(person_ids):
            if key not in people:
                raise FieldError(f"personIds.{index}", NO_SUCH_RECORD)
            same = changes.get(key) or _same_entry(former, people[key])
            if same is None:
                raise FieldError(f"personIds.{index}", _NOT_SHARED)
            changes[key] = same
        PersonWriter(owner, write, now).put_many(
            (people[key], {"addresses": _with_address(people[key], same, address)}) for key, same in changes.items()
        )
    return len(changes)


def _find_entry(person: Person, entry_id: str) -> JsonMapping | None:
    return next((entry for entry in person.addresses if entry["id"] == entry_id), None)


def _same_entry(entry: JsonMapping, person: Person) -> str | None:
    """The id of the person's address that is the same; of several, one of the same type."""
    if whole_address_key(entry) is None:
        return None
    [index] = pair_entries("addresses", [entry], person.addresses)
    return None if index is None else str(person.addresses[index]["id"])


def _with_address(person: Person, entry_id: str, address: JsonMapping) -> list[JsonMapping]:
    """The person's addresses as a body would have them, with other values in one of them."""
    values = {key: address.get(key) for key in ENTRY_KEYS["addresses"] if key != "type"}
    return [
        {"id": entry["id"], "type": entry["type"], **values} if entry["id"] == entry_id else entry
        for entry in person.addresses
    ]
