"""Files of pictures that runs replaced: kept as long as the run can be undone, then the daily purge removes them."""

from uuid import UUID

from accounts.models import User
from carddav.models import RunChange
from people.photos.files import paths_of


def used_by_runs(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of the names that an undo needs."""
    rows = RunChange.objects.owned_by(owner_id).filter(photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


def former_photos_of(user: User) -> list[str]:
    """Their paths, for the deletion of an account."""
    return paths_of(RunChange.objects.owned_by(user).exclude(photo=None).values_list("photo", flat=True))
