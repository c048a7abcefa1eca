"""One linked person in the terms of the share: what it says, and edits of it by its own account."""

from people.contents.contact import LocalContact, load_local_contact, write_fields
from people.contents.fields import Fields
from people.contents.merge import Sides
from sharing.carry.batch import Batch
from sharing.carry.contact import local_fields_of, one_of_each_type
from sharing.carry.relations import Relations, load_relations, write_relations
from sharing.decisions import RELATIONS
from sharing.models import SharedCopy, SharedPerson

_DATES = "importantDates"


class NotLinkedError(Exception):
    """The copy is no person here."""


def read_sides(batch: Batch, copy: SharedCopy) -> Sides:
    """The person of a linked copy, and its document. Raises NotLinkedError."""
    contact, document, relations = _load(batch, copy)
    return Sides(local_fields_of(contact, [entry for entry, _ in relations.entries_of(copy)]), document.fields)


def edit_person(batch: Batch, copy: SharedCopy, values: Fields, jpeg: bytes | None) -> None:
    """Set these fields of the person of a linked copy, as its account would. `jpeg`: the stored form of `photo`.

    Raises NotLinkedError.
    """
    contact, _, relations = _load(batch, copy)
    if columns := values.keys() - {RELATIONS}:
        target = {**contact.fields, **values}
        target[_DATES] = one_of_each_type(target[_DATES])
        write_fields(batch.owner, batch.write(), contact, target, columns, jpeg, batch.reminders)
    if RELATIONS in values:
        write_relations(batch, relations, copy, values[RELATIONS])


def _load(batch: Batch, copy: SharedCopy) -> tuple[LocalContact, SharedPerson, Relations]:
    if copy.person_id is None or copy.shared is None:
        raise NotLinkedError
    contact = load_local_contact(batch.owner, copy.person_id)
    return contact, copy.shared, load_relations(batch, [copy], {copy.shared.pk: copy.shared})
