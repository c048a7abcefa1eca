"""Custom field templates as answers show them."""

from typing import Any

from accounts.models import User
from contacts_project.kernel.api.json import Representation, format_timestamp
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
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def whole_template(row: CustomFieldTemplate) -> Representation:
    """The same with the revision of its row."""
    return Representation(row.revision, template_answer(row))


def listed_templates(owner: User) -> list[dict[str, Any]]:
    """The account's templates in their order."""
    rows = CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id")
    return [template_answer(row) for row in rows]


def deleted_templates(owner: User, rows: Any) -> list[dict[str, Any]]:
    """Templates of the trash."""
    return [template_answer(row) for row in rows]
