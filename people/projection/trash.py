"""People in the trash, as GET /api/deleted shows them."""

from typing import Any

from orjson import Fragment

from accounts.models import User
from people.projection.people import project, project_all


def deleted_people(owner: User, rows: Any) -> list[Fragment]:
    """People without their multi-value fields. Of a page, only what belongs to its people is read."""
    if rows.query.is_sliced:
        return project(owner, rows, details=False)
    return [Fragment(person) for person in project_all(owner, rows, details=False)]
