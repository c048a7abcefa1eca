"""The field `customFieldValues` of a person's body."""

from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictChoiceField
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.errors import UNKNOWN_ID
from people.fields.custom_values import TYPES, ValueRefusedError, read_value
from people.models import CustomFieldTemplate

MAX_ENTRIES = 100


class AnyValue(serializers.JSONField):
    """Text, number or truth, as the template says; in a body null for none."""


class TemplateSummary(serializers.Serializer[Any]):
    """The field that a value is of."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    type = StrictChoiceField(TYPES)


class CustomFieldValueSerializer(serializers.Serializer[Any]):
    """A value of a field, for the API description."""

    id = serializers.UUIDField(read_only=True)
    templateId = serializers.UUIDField()
    value = AnyValue()
    template = TemplateSummary(read_only=True)


class CustomFieldValuesField(serializers.Field[Any, Any, Any, Any]):
    """Entries of templateId and value; validated data holds `{template: the own, active row, value: as stored}`."""

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list.")
        if len(data) > MAX_ENTRIES:
            raise serializers.ValidationError(f"At most {MAX_ENTRIES} entries.")
        templates = self._templates(data)
        entries: list[dict[str, Any]] = []
        problems: dict[str, Any] = {}
        seen: set[Any] = set()
        for index, item in enumerate(data):
            try:
                entries.append(_entry(item, templates, seen))
            except serializers.ValidationError as error:
                problems[str(index)] = error.detail
        if problems:
            raise serializers.ValidationError(problems)
        return entries

    def to_representation(self, value: Any) -> Any:
        return value

    def _templates(self, data: list[Any]) -> dict[Any, CustomFieldTemplate]:
        ids = {parse_id(item.get("templateId")) for item in data if isinstance(item, dict)} - {None}
        rows = CustomFieldTemplate.objects.owned_by(self.context["request"].user).active()
        found: dict[Any, CustomFieldTemplate] = rows.in_bulk(ids) if ids else {}
        return found


def _entry(item: Any, templates: dict[Any, CustomFieldTemplate], seen: set[Any]) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise serializers.ValidationError("This must be an object with templateId and value.")
    template = templates.get(parse_id(item.get("templateId")))
    if template is None:
        raise serializers.ValidationError({"templateId": [UNKNOWN_ID]})
    if template.pk in seen:
        raise serializers.ValidationError({"templateId": ["This field is there already."]})
    seen.add(template.pk)
    if "value" not in item:
        raise serializers.ValidationError({"value": ["This field is required."]})
    try:
        return {"template": template, "value": read_value(template, item["value"])}
    except ValueRefusedError as error:
        raise serializers.ValidationError({"value": [str(error)]}) from None
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"value": error.detail}) from None
