"""The resolution `merged`: the user's values, and the union of both sides' lists."""

import datetime as dt
from uuid import UUID

from carddav.sync.context import Context
from contacts_project.kernel.json import JsonMapping, camel_case
from people.contents.contact import LocalContact, load_local_contact, write_fields
from people.contents.fields import Fields, changed_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.services.person_writer import update_person


def merge_values(
    context: Context, person_id: UUID, names: set[str], remote: Fields, values: JsonMapping, now: dt.datetime
) -> LocalContact:
    """Write `values` to the person, and the union of the other lists among `names`. Must be called inside the write."""
    contact = load_local_contact(context.owner, person_id)
    if values:
        update_person(owner=context.owner, person=contact.person, data=values, now=now)
        contact = load_local_contact(context.owner, person_id)
    given = {camel_case(column) for column in values}
    joined = merge(NO_BASES, Sides(contact.fields, remote)).target.local
    union = {name: joined[name] for name in names - given if isinstance(contact.fields[name], list)}
    target = {**contact.fields, **union}
    if changed := changed_fields(contact.fields, target):
        with context.write() as write:
            contact = write_fields(context.owner, write, contact, target, changed, None)
    return contact
