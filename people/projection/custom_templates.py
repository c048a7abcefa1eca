"""The JSON of custom field templates."""

from collections.abc import Iterable

from accounts.models import User
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from people.models import CustomFieldTemplate


def serialize_template(row: CustomFieldTemplate) -> JsonObject:
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


def represent_template(row: CustomFieldTemplate) -> Representation:
    """The template with the revision of its row."""
    return Representation(row.revision, serialize_template(row))


def list_templates(owner: User) -> list[JsonObject]:
    """The active templates in the account's order."""
    rows = CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id")
    return [serialize_template(row) for row in rows]


def deleted_templates(owner: User, rows: Iterable[CustomFieldTemplate]) -> list[JsonObject]:
    return [serialize_template(row) for row in rows]
