"""The field table of people agrees with the model, with Card, and with the names in CSV mappings."""

from dataclasses import fields
from typing import Any

import pytest
from django.db import models

from people import field_table
from people.field_table import DateKey, FieldKind, PersonField
from people.models import ImportantDate, Person
from people.names import COLUMNS
from people.vcard import Card, CardDate
from people.vocabularies import Unit

COLUMN_TYPES: dict[FieldKind, type[models.Field]] = {
    FieldKind.TEXT: models.CharField,
    FieldKind.DATE: models.DateField,
    FieldKind.FLAG: models.BooleanField,
    FieldKind.INTEGER: models.PositiveSmallIntegerField,
    FieldKind.CHOICE: models.CharField,
    FieldKind.REFERENCE: models.ForeignKey,
    FieldKind.LIST: models.JSONField,
}
# Columns that no field shows as they are: of every row, computed, internal, or shown by a field without a column.
COLUMNS_WITHOUT_FIELD = {
    "contact_reminder_from",
    *("id", "owner", "created_at", "updated_at", "deleted_at", "revision", "sort_key", "search_key"),
    *("contact_due_at", "contact_due_on", "contact_before", "interacted_on", "card_lines", "more"),
    *("next_date_on", "next_date_until", "without_groups", "is_me"),
}


def model_field(field: PersonField) -> Any:
    return Person._meta.get_field(field.column)


@pytest.mark.parametrize("field", field_table.COLUMNS, ids=lambda field: field.name)
def test_a_column_has_the_type_and_limits_of_the_table(field: PersonField) -> None:
    column = model_field(field)
    if field.name == "notes":
        assert isinstance(column, models.TextField)
    else:
        assert isinstance(column, COLUMN_TYPES[field.kind])
    if field.kind is FieldKind.TEXT:
        assert column.max_length == field.limit
    if field.kind is FieldKind.CHOICE:
        assert field.choices == tuple(Unit)
        assert max(map(len, field.choices)) <= column.max_length
    if field.kind is FieldKind.REFERENCE:
        assert column.related_model._meta.label == field.model
    has_a_value = field.required or field.kind in {FieldKind.FLAG, FieldKind.LIST} or field.name == "uid"
    assert column.null is not has_a_value


def test_every_column_is_in_the_table() -> None:
    columns = {column.name for column in Person._meta.concrete_fields}
    assert {field.column for field in field_table.COLUMNS} == columns - COLUMNS_WITHOUT_FIELD


def test_a_card_has_the_fields_of_the_table() -> None:
    of_cards = {"important_dates", "categories", "photo", "photo_url", "kind", "members", "lines"}
    known = {field.card for field in (*field_table.CARD_SCALARS, *field_table.LISTS)}
    assert {field.name for field in fields(Card)} - of_cards == known


@pytest.mark.parametrize("key", field_table.DATE_KEYS, ids=lambda key: key.name)
def test_a_date_has_the_columns_of_the_table(key: DateKey) -> None:
    column: Any = ImportantDate._meta.get_field(key.column)
    assert isinstance(column, COLUMN_TYPES[key.kind])
    if key.kind is FieldKind.TEXT:
        assert column.max_length == key.limit
    if key.kind is FieldKind.CHOICE:
        assert key.choices == tuple(value for value, _ in column.choices or ())
    assert column.null is (key.kind in {FieldKind.TEXT, FieldKind.CHOICE, FieldKind.INTEGER})


def test_a_card_has_the_date_fields_of_the_table() -> None:
    assert {field.name for field in fields(CardDate)} == {key.column for key in field_table.CARD_DATE_KEYS}


def test_every_column_of_a_date_is_in_the_table() -> None:
    columns = {column.name for column in ImportantDate._meta.concrete_fields} - ImportantDate.UNREVISED_COLUMNS
    others = {"id", "owner", "person", "month_day", "created_at", "updated_at", "deleted_at", "revision"}
    assert columns - others == set(field_table.DATE_COLUMNS)


def test_the_parts_of_a_name_are_columns() -> None:
    assert set(COLUMNS) <= {field.column for field in field_table.SCALARS}


def test_a_csv_mapping_may_name_the_scalars_and_the_first_of_each_list() -> None:
    """A mapping may also name `birthday`, `group` and `ignore`, which are not columns of Person."""
    assert {name for name in field_table.MAPPING_NAMES if name.islower()} >= {"phone", "email", "url", "notes"}
    assert {name for name in field_table.MAPPING_NAMES if "." in name} == {
        "address.street",
        "address.city",
        "address.region",
        "address.postalCode",
        "address.country",
    }
    assert not {"photo", "uid", "relationshipToUserId"} & set(field_table.MAPPING_NAMES)
