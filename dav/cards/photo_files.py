"""The files of pictures that cards refer to beside the people's photos: originals, and what devices still have."""

from uuid import UUID

from contacts_project.kernel.ownership.owned import OwnedQuerySet
from dav.models import BookCard, FormerText, ReplacedValue
from people.photos.files import photo_paths


def find_referenced_files(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of these file names that a card, a former text or a replaced value refers to."""
    originals = BookCard.objects.owned_by(owner_id).filter(original__in=names).values_list("original", flat=True)
    former = FormerText.objects.owned_by(owner_id).filter(photo__in=names).values_list("photo", flat=True)
    replaced = _replaced(owner_id).filter(value__in=sorted(names))
    return {*originals, *former, *replaced.values_list("value", flat=True)}


def files_of_account(owner_id: UUID) -> list[str]:
    """The storage paths of all these files, for the deletion of the account."""
    originals = BookCard.objects.owned_by(owner_id).exclude(original="").values_list("original", flat=True)
    former = FormerText.objects.owned_by(owner_id).exclude(photo="").values_list("photo", flat=True)
    return photo_paths({*originals, *former, *_replaced(owner_id).values_list("value", flat=True)})


def _replaced(owner_id: UUID) -> OwnedQuerySet[ReplacedValue]:
    return ReplacedValue.objects.owned_by(owner_id).filter(property="photo")
