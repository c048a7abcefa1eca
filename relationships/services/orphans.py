"""Selects the orphans that are deleted together with people."""

from collections.abc import Collection
from uuid import UUID

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.texts import define_text
from relationships.network.loader import find_orphans

_NOT_AN_ORPHAN = define_text("not_an_orphan", "This person would not become an orphan.")


def orphans_to_delete(owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> Collection[UUID]:
    """The people to delete with `person_ids`: all orphans, or those in `orphan_ids`; none without `delete_orphans`.

    Raises FieldError if `orphan_ids` contains anybody else.
    """
    if not options.get("delete_orphans"):
        return ()
    orphans = {UUID(orphan) for orphan in find_orphans(owner_id, person_ids)}
    named: list[UUID] | None = options.get("orphan_ids")
    if named is None:
        return orphans
    for index, person_id in enumerate(named):
        if person_id not in orphans:
            raise FieldError(f"orphanIds.{index}", _NOT_AN_ORPHAN)
    return named
