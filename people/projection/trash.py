"""People in the trash, as GET /api/deleted shows them."""

from uuid import UUID

from django.utils import timezone
from orjson import Fragment

from accounts.models import User
from contacts_project.kernel.ownership.models import retention_cutoff
from people.models import Person
from people.projection.people import project_all


def deleted_people(owner_id: UUID) -> list[Fragment]:
    """People that can still be restored, newest first, without their multi-value fields."""
    rows = Person.objects.owned_by(owner_id).filter(deleted_at__gte=retention_cutoff(timezone.now()))
    owner = User.objects.get(pk=owner_id)
    return [Fragment(person) for person in project_all(owner, rows.order_by("-deleted_at", "-id"), details=False)]
