"""A person by its serializer, field by field, with several queries: what the projection of people is compared with."""

from typing import Any

import orjson

from accounts.models import User
from people.api.person_serializer import PersonSerializer
from people.extensions import EXTENSIONS
from people.models import Group, Person


def serialize_person(person: Person) -> dict[str, Any]:
    with_related: Any = _PersonWithRelated(person)
    return dict(PersonSerializer(with_related).data)


class _PersonWithRelated:
    """A person with the rows of other tables as attributes."""

    def __init__(self, person: Person) -> None:
        self._person = person
        for extension in EXTENSIONS:
            if extension.name:
                entries = extension.rows(person.owner, [person.pk]).get(person.pk.hex, "")
                setattr(self, extension.name, orjson.loads(f"[{entries}]"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._person, name)

    @property
    def display_name(self) -> str:
        owner: User = self._person.owner
        return self._person.display_name_for(owner)

    @property
    def rule_source(self) -> Group | None:
        group: Group | None = self._person.contact_reminder_from
        return group if group and not group.is_deleted else None

    @property
    def groups(self) -> list[Group]:
        rows = Group.objects.owned_by(self._person.owner_id).active().filter(memberships__person=self._person)
        return sorted(rows, key=lambda group: (group.name_key, group.pk))

    @property
    def custom_field_values(self) -> list[dict[str, Any]]:
        rows = self._person.custom_field_values.filter(template__deleted_at=None).select_related("template")
        return [
            {
                "id": str(row.pk),
                "templateId": str(row.template_id),
                "value": row.value,
                "template": {
                    "id": str(row.template_id),
                    "name": row.template.name,
                    "slug": row.template.slug,
                    "type": row.template.type,
                },
            }
            for row in rows.order_by("template__position", "template_id")
        ]

    @property
    def important_dates(self) -> list[Any]:
        return list(self._person.important_dates.filter(deleted_at=None).order_by("created_at", "id"))
