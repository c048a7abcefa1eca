"""A decision about the fields of a contact that both sides changed to different values, whatever the other side is."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.json import JsonMapping, camel_case
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from people.contents.contact import LocalContact, load_local_contact, write_fields
from people.contents.fields import Fields, changed_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.services.person_writer import update_person

_NOT_IN_CONFLICT = define_text("not_in_conflict", "This field is not in conflict.")


class AlreadyResolvedError(DomainError):
    """The conflict is resolved already."""

    message = define_text("already_resolved", "This conflict has been resolved already.")


def check_values(names: Collection[str], in_conflict: Collection[str]) -> None:
    """Raise FieldError if values are given for fields that are not in conflict."""
    for name in sorted(set(names) - set(in_conflict)):
        raise FieldError(f"values.{name}", _NOT_IN_CONFLICT)


def merge_values(
    owner: User,
    write: AccountWrite,
    person_id: UUID,
    names: Collection[str],
    remote: Fields,
    values: JsonMapping,
    now: dt.datetime,
) -> LocalContact:
    """The resolution `merged`: write the user's values to the person, and for the other `names` the union of both
    sides' lists. Must be called inside the write."""
    contact = load_local_contact(owner, person_id)
    if values:
        update_person(owner=owner, person=contact.person, data=values, now=now)
        contact = load_local_contact(owner, person_id)
    decided = {camel_case(column) for column in values}
    joined = merge(NO_BASES, Sides(contact.fields, remote)).target.local
    union = {name: joined[name] for name in set(names) - decided if isinstance(contact.fields[name], list)}
    target = {**contact.fields, **union}
    if changed := changed_fields(contact.fields, target):
        contact = write_fields(owner, write, contact, target, changed, None)
    return contact
