"""People in the trash, for GET /api/deleted."""

from django.db.models import QuerySet
from orjson import Fragment

from accounts.models import User
from people.models import Person
from people.projection.lists import project, project_all

# For more people, the related rows of the whole account are read: that costs less than a query by so many ids.
_MAX_PEOPLE_BY_ID = 500


def deleted_people(owner: User, rows: QuerySet[Person]) -> list[Fragment]:
    """People in the trash, without their multi-value fields."""
    if rows.query.is_sliced or rows.count() <= _MAX_PEOPLE_BY_ID:
        return project(owner, rows, include_details=False)
    return [Fragment(person) for person in project_all(owner, rows, include_details=False)]
