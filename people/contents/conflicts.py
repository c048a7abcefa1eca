"""A decision about the fields of a contact that both sides changed to different values, whatever the other side is."""

import datetime as dt
from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject, camel_case
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from people.contents.contact import LocalContact, load_local_contact, write_fields
from people.contents.fields import Fields, changed_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.services.person_writer import update_person

NOT_IN_CONFLICT = define_text("not_in_conflict", "This field is not in conflict.")
OF_NEITHER_SIDE = define_text("of_neither_side", "Only what one of the two sides says can be chosen here.")


class Chosen(NamedTuple):
    """What the resolution `merged` says of single fields: those that keep this side's value, those that take the
    other's, and values of the user's own, by column in PersonWriter's form."""

    local: frozenset[str] = frozenset()
    remote: frozenset[str] = frozenset()
    values: JsonObject = {}


class AlreadyResolvedError(DomainError):
    """The conflict is resolved already."""

    message = define_text("already_resolved", "This conflict has been resolved already.")


def choose_sides(values: JsonMapping, fields: Collection[JsonMapping]) -> Chosen:
    """The sides whose values these are, of the fields of a conflict; the values of neither side are left out.

    What one side says need not be written as the user's own: so dates keep their reminders, and pictures and groups
    can be chosen. Raises FieldError if there are values for fields that are not in conflict.
    """
    sides = {entry["field"]: entry for entry in fields}
    for name in sorted(set(values) - set(sides)):
        raise FieldError(f"values.{name}", NOT_IN_CONFLICT)
    local = frozenset(name for name, value in values.items() if value == sides[name]["local"])
    remote = frozenset(name for name, value in values.items() if value == sides[name]["remote"])
    return Chosen(local, remote - local)


def merge_values(
    owner: User,
    write: AccountWrite,
    person_id: UUID,
    names: Collection[str],
    remote: Fields,
    chosen: Chosen,
    now: dt.datetime,
) -> LocalContact:
    """The resolution `merged`: write the user's own values to the person, and of those `names` for which nothing is
    chosen the union of both sides' lists. Whose side is chosen, the caller takes. Must be called inside the write."""
    contact = load_local_contact(owner, person_id)
    if chosen.values:
        update_person(owner=owner, person=contact.person, data=chosen.values, now=now)
        contact = load_local_contact(owner, person_id)
    decided = chosen.local | chosen.remote | {camel_case(column) for column in chosen.values}
    joined = merge(NO_BASES, Sides(contact.fields, remote)).target.local
    union = {name: joined[name] for name in set(names) - decided if isinstance(contact.fields[name], list)}
    target = {**contact.fields, **union}
    if changed := changed_fields(contact.fields, target):
        contact = write_fields(owner, write, contact, target, changed, None)
    return contact
