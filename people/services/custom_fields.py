"""Writes of the values of custom fields on people."""

from collections.abc import Iterable, Mapping
from typing import Any

from contacts_project.kernel.api.errors import FieldError
from contacts_project.kernel.api.fields import UNKNOWN_ID
from contacts_project.kernel.ownership.writing import account_write
from people.models import CustomFieldTemplate, CustomFieldValue, Person


def set_values(*, person: Person, entries: Iterable[Mapping[str, Any]]) -> None:
    """Make the entries, `{template, value}` as CustomFieldValuesField validates them, the person's values.

    A template keeps its row. An entry whose value is None stands for no value. Values of templates in the trash stay
    for their restore. The caller touches the person. Raises FieldError where a template was deleted since the body was
    read.
    """
    with account_write(person.owner_id):
        wanted = {entry["template"].pk: entry for entry in entries if entry["value"] is not None}
        rows = CustomFieldValue.objects.owned_by(person.owner_id).filter(person=person, template__deleted_at=None)
        rows.exclude(template_id__in=wanted).delete()
        present = {row.template_id: row for row in rows}
        new = wanted.keys() - present.keys()
        templates = CustomFieldTemplate.objects.owned_by(person.owner_id).active()
        if new and templates.filter(pk__in=new).count() < len(new):
            raise FieldError("customFieldValues", UNKNOWN_ID)
        for key, entry in wanted.items():
            row = present.get(key) or CustomFieldValue(
                owner_id=person.owner_id, person=person, template=entry["template"]
            )
            if row._state.adding or row.value != entry["value"] or type(row.value) is not type(entry["value"]):
                row.value = entry["value"]
                row.save()
