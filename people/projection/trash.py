"""People in the trash, as GET /api/deleted shows them."""

from typing import Any

from orjson import Fragment

from accounts.models import User
from people.projection.lists import project, project_all

# Above that, what stands beside all people of the account is read: lists of so many ids cost more.
FEW = 500


def deleted_people(owner: User, rows: Any) -> list[Fragment]:
    """People without their multi-value fields. Of few, only what belongs to them is read."""
    if rows.query.is_sliced or rows.count() <= FEW:
        return project(owner, rows, details=False)
    return [Fragment(person) for person in project_all(owner, rows, details=False)]
