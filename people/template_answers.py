"""Custom field templates as answers show them."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.api.json import timestamp
from contacts_project.kernel.ownership.models import retention_cutoff
from people.models import CustomFieldTemplate


def template_answer(row: CustomFieldTemplate) -> dict[str, Any]:
    """One template as every answer shows it."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "slug": row.slug,
        "type": row.type,
        "options": row.options,
        "order": row.position,
        "deletedAt": timestamp(row.deleted_at),
        "createdAt": timestamp(row.created_at),
        "updatedAt": timestamp(row.updated_at),
    }


def listed_templates(owner: User) -> list[dict[str, Any]]:
    """The account's templates in their order."""
    rows = CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id")
    return [template_answer(row) for row in rows]


def deleted_templates(owner_id: UUID) -> list[dict[str, Any]]:
    """The templates in the trash, newest first."""
    rows = CustomFieldTemplate.objects.owned_by(owner_id).filter(deleted_at__gte=retention_cutoff(timezone.now()))
    return [template_answer(row) for row in rows.order_by("-deleted_at", "-id")]
