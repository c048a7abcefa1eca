"""A device deletes a card, or renames it. The card of a group is the group: its members stay."""

from dav.conditions import NAME_TAKEN, Conditions
from dav.errors import DavError, missing
from dav.models import BookCard
from dav.resources.book import BookResource, CardResource
from dav.resources.paths import member_path
from dav.services.cards_of_devices import rename_card
from dav.services.deletions import note_deletion
from dav.services.device_write import device_write
from dav.services.refusals import forget_refusal
from people.models import Group
from people.services.group_lifecycle import delete_group
from people.services.people import delete_people


def delete_card(*, book: BookResource, name: str, conditions: Conditions) -> None:
    """Move the person of a card to the trash. Raises DavError (404, 412)."""
    owner = book.device.owner
    with device_write(book) as write:
        row = _find(book, name, conditions)
        if row.group_id is not None:
            group = Group.objects.find_active(owner.pk, row.group_id)
            delete_group(group=group, with_people=False, now=write.now)
            note_deletion(book.device, write.now, group_id=row.group_id)
        else:
            delete_people(owner=owner, person_ids=[row.person_id] if row.person_id else [], options={}, now=write.now)
            note_deletion(book.device, write.now, person_id=row.person_id)
        forget_refusal(book.device, member_path(book.path, name))


def move_card(*, book: BookResource, name: str, new_name: str, conditions: Conditions) -> None:
    """Rename a card within the book. Raises DavError (404; 412 also if there is a card of the new name)."""
    owner = book.device.owner
    with device_write(book) as write:
        row = _find(book, name, conditions)
        taken = BookCard.objects.owned_by(owner).filter(name=new_name).first()
        if taken is not None and taken.left_revision is None:
            raise DavError(412, words=NAME_TAKEN)
        if taken is not None:
            taken.delete()
        rename_card(row, new_name, write)


def _find(book: BookResource, name: str, conditions: Conditions) -> BookCard:
    row = book.find_row(name)
    if row is None or (row.person_id or row.group_id) is None:
        raise missing()
    conditions.check(*CardResource(book, row).etags)
    return row
