"""Custom fields: their templates, and which values each accepts."""

import datetime as dt
import re
from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Max
from django.utils.text import slugify

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.ownership.models import TrashQuerySet
from contacts_project.kernel.text_forms import (
    NOT_A_BOOLEAN,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    OUT_OF_RANGE,
    TOO_LONG,
    InvalidTextError,
    check_text,
    fold,
)
from contacts_project.kernel.texts import TextError, define_text
from people.lookup import index_values
from people.models import CustomFieldTemplate, CustomFieldValue, Person
from people.services.plan_limits import check_plan
from people.vocabularies import TemplateType

_NO_OPTION = define_text("select_without_options", "A SELECT field needs at least one option.")
_OPTIONS_NOT_ALLOWED = define_text("options_not_allowed", "Only a SELECT field has options.")
_OPTION_IN_USE = define_text("option_in_use", "The option %(option)s is in use: it can be renamed, not removed.")

_NOT_AN_OPTION = define_text("not_an_option", "This must be one of the field's options.")
MAX_VALUE_LENGTH = 2000
"""Of a custom field's text, in characters."""

# A double holds integers up to this exactly, so both databases return every number unchanged.
_MAX_NUMBER = 2**53
_NUMBER_PATTERN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_BOOLEANS = {"true": True, "false": False}

SLUG_LENGTH = 80


def create_template(*, owner: User, data: JsonObject, now: dt.datetime) -> CustomFieldTemplate:
    """Insert a template, at the end unless `data` has a `position`.

    Raises PlanLimitError, FieldError, IdTakenError.
    """
    with account_write(owner):
        check_plan(owner, "templates")
        rows = CustomFieldTemplate.objects.owned_by(owner)
        last = rows.active().aggregate(last=Max("position"))["last"]
        template = CustomFieldTemplate(id=claimed_id(data), owner=owner, created_at=now, type=data["type"])
        template.position = (last or 0) + 1
        template.slug = _free_slug(data["name"], set(rows.values_list("slug", flat=True)))
        _save_template(template, data)
    return template


def update_template(*, template: CustomFieldTemplate, data: JsonObject) -> CustomFieldTemplate:
    """Update name, options and position as far as they are in `data`; slug and type never change.

    A renamed option is renamed in the stored values too (renamed_options). A removed option must not be in use. Raises
    FieldError, MissingError.
    """
    with account_write(template.owner_id):
        template = CustomFieldTemplate.objects.find_active(template.owner_id, template.pk)
        if template.type == TemplateType.SELECT and data.get("options"):
            _rename_stored_options(template, data["options"])
        _save_template(template, data)
    return template


def reorder_templates(*, owner: User, templates: Sequence[CustomFieldTemplate]) -> None:
    """Put the templates in this order; all others follow in their present order."""
    with account_write(owner):
        active = list(CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id"))
        new_index = {template.pk: index for index, template in enumerate(templates)}
        active.sort(key=lambda template: new_index.get(template.pk, len(new_index)))
        for position, template in enumerate(active, start=1):
            if template.position != position:
                template.position = position
                template.save()


def delete_template(*, template: CustomFieldTemplate, now: dt.datetime) -> None:
    """Move a template to the trash, which hides its values. Raises MissingError."""
    with account_write(template.owner_id):
        template = CustomFieldTemplate.objects.find_active(template.owner_id, template.pk)
        template.deleted_at = now
        template.save()
        _mark_people_changed(template)


def restore_template(*, template: CustomFieldTemplate) -> CustomFieldTemplate:
    """Take a template with its values out of the trash. Raises NotDeletedError, PlanLimitError, MissingError."""
    with account_write(template.owner_id):
        template = _templates_of_account(template).find_deleted(template.pk)
        check_plan(template.owner, "templates")
        template.deleted_at = None
        template.save()
        _mark_people_changed(template)
    return template


def remove_template(*, template: CustomFieldTemplate) -> None:
    """Permanently remove a deleted template with its values. Raises NotDeletedError, MissingError."""
    with account_write(template.owner_id):
        _templates_of_account(template).find_deleted(template.pk).delete()


def remove_templates(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Permanently remove templates, for the purge. Returns no files, because templates have none."""
    CustomFieldTemplate.objects.owned_by(owner_id).filter(pk__in=ids).delete()
    return []


def renamed_options(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """The renamed options, old text to new text.

    An option is renamed if the number of options is the same, and the text at its position was replaced by one that is
    not in the old list, and is itself not in the new list. So reordering options renames none.
    """
    if len(before) != len(after):
        return {}
    pairs = zip(before, after, strict=True)
    return {old: new for old, new in pairs if old not in after and new not in before}


def _save_template(template: CustomFieldTemplate, data: JsonObject) -> None:
    for field in data.keys() & {"name", "position"}:
        setattr(template, field, data[field])
    if template.type == TemplateType.SELECT:
        if (options := data.get("options")) is not None:
            template.options = options
        if not template.options:
            raise FieldError("options", _NO_OPTION)
    elif data.get("options"):
        raise FieldError("options", _OPTIONS_NOT_ALLOWED)
    template.save()


def _rename_stored_options(template: CustomFieldTemplate, options: list[str]) -> None:
    """Rename options in the stored values. Raises FieldError if a removed option is in use."""
    renamed = renamed_options(template.options, options)
    dropped = set(template.options) - set(options) - set(renamed)
    values = CustomFieldValue.objects.owned_by(template.owner_id).filter(template=template)
    changed = []
    for value in values if dropped or renamed else ():
        if value.value in dropped:
            raise FieldError("options", _OPTION_IN_USE.format(option=value.value))
        if value.value in renamed:
            value.value = renamed[value.value]
            changed.append(value)
    CustomFieldValue.objects.owned_by(template.owner_id).bulk_update(changed, ["value"])
    index_values(template.owner_id, changed)
    if changed:
        people = Person.objects.owned_by(template.owner_id).active()
        people.filter(pk__in={value.person_id for value in changed}).update()


def _mark_people_changed(template: CustomFieldTemplate) -> None:
    """Mark the people with a value of the template as changed, after it was deleted or restored."""
    rows = CustomFieldValue.objects.owned_by(template.owner_id).filter(template=template)
    Person.objects.owned_by(template.owner_id).active().filter(pk__in=rows.values("person")).update()


def _free_slug(name: str, taken: set[str]) -> str:
    """A slug that no template of the account has, active or in the trash; in ASCII if the name allows it."""
    stem = (slugify(fold(name)) or slugify(name, allow_unicode=True) or "field")[: SLUG_LENGTH - 6]
    slug, number = stem, 1
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug


def _templates_of_account(template: CustomFieldTemplate) -> TrashQuerySet[CustomFieldTemplate]:
    """The templates of the account, to read `template` again under the account lock."""
    return CustomFieldTemplate.objects.owned_by(template.owner_id).select_related("owner")


class InvalidCustomValueError(TextError):
    """The value does not fit its template."""


def parse_custom_value(template: CustomFieldTemplate, value: object) -> str | int | float | bool | None:
    """The value as it is stored: a number or boolean for NUMBER and BOOLEAN, else a text; None for null or `""`.

    NUMBER and BOOLEAN also accept their value as a text. Raises InvalidCustomValueError.
    """
    if isinstance(value, str):
        try:
            value = check_text(value)
        except InvalidTextError as error:
            raise InvalidCustomValueError(error.text) from None
        if len(value) > MAX_VALUE_LENGTH:
            raise InvalidCustomValueError(TOO_LONG.format(limit=MAX_VALUE_LENGTH, length=len(value)))
    if value is None or value == "":
        return None
    return _PARSERS[TemplateType(template.type)](template, value)


def _parse_text(template: CustomFieldTemplate, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidCustomValueError(NOT_A_TEXT)
    return value


def _parse_number(template: CustomFieldTemplate, value: object) -> int | float:
    if isinstance(value, str) and _NUMBER_PATTERN.match(value):
        # parse_custom_value has limited the length: int() takes quadratic time, and refuses more than 4,300 digits.
        value = float(value) if re.search(r"[.eE]", value) else int(value)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCustomValueError(NOT_A_NUMBER)
    if not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise InvalidCustomValueError(OUT_OF_RANGE.format(low=-_MAX_NUMBER, high=_MAX_NUMBER))
    return int(value) if value == int(value) else value


def _parse_boolean(template: CustomFieldTemplate, value: object) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.lower())
    if not isinstance(value, bool):
        raise InvalidCustomValueError(NOT_A_BOOLEAN)
    return value


def _parse_option(template: CustomFieldTemplate, value: object) -> str:
    if not isinstance(value, str) or value not in template.options:
        raise InvalidCustomValueError(_NOT_AN_OPTION)
    return value


_PARSERS = {
    TemplateType.TEXT: _parse_text,
    TemplateType.NUMBER: _parse_number,
    TemplateType.BOOLEAN: _parse_boolean,
    TemplateType.SELECT: _parse_option,
}
