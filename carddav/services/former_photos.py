"""Photo files that runs replaced. They are kept while the run can be undone; the daily purge removes them later."""

from uuid import UUID

from carddav.models import RunChange
from people.photos.files import photo_paths


def photos_used_by_runs(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of the names that an undo needs."""
    rows = RunChange.objects.owned_by(owner_id).filter(photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


def former_photo_paths(owner_id: UUID) -> list[str]:
    """The paths of the account's files, for its deletion."""
    return photo_paths(RunChange.objects.owned_by(owner_id).exclude(photo=None).values_list("photo", flat=True))
