"""The person that the account's user is: in graphs, and for devices that ask for the user's own card.

`Person.is_me` marks it, of at most one person of an account. The mark stays while that person is in the trash, but
nobody sees it then (`User.me_person_id`).
"""

from uuid import UUID

from accounts.models import User
from accounts.services.profile import load_profile
from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person

#: The profile shows the person, so it changes with the mark, and when who has it goes to the trash or comes back.
TRIGGER = Trigger(
    "me_person_of_profile",
    Person._meta.db_table,
    "UPDATE OF is_me, deleted_at",
    f"UPDATE {User._meta.db_table} SET settings_revision = revision WHERE id = NEW.owner_id",  # noqa: S608 - its own name
    when="OLD.is_me <> NEW.is_me OR (NEW.is_me AND (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))",
    writes=User._meta.db_table,
)


def set_me_person(*, owner: User, person_id: UUID | None) -> User:
    """Name the person, or nobody (None); returns the stored account. Raises FieldError."""
    with account_write(owner):
        if person_id is not None and not Person.objects.active_ids(owner, [person_id]):
            raise FieldError("personId", NO_SUCH_RECORD)
        mark_me(owner.pk, person_id)
        return load_profile(user=owner)


def mark_me(owner_id: UUID, person_id: UUID | None) -> None:
    """Move the mark to this person, or take it away (None). Must be called inside `account_write`."""
    people = Person.objects.owned_by(owner_id)
    former = people.filter(is_me=True)
    if person_id is None:
        former.update(is_me=False)
        return
    former.exclude(pk=person_id).update(is_me=False)
    people.filter(pk=person_id, is_me=False).update(is_me=True)
