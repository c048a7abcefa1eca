"""Columns with choices: a check constraint makes the database refuse any other value."""

from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction

from accounts.models import User
from people.models import CustomFieldTemplate, ImportantDate, Person
from tests.builders import make_person

# The vocabularies of the CardDAV sync are written only by its engine.
APPS = {"accounts", "people", "relationships", "notifications"}


def columns() -> list[Any]:
    """Every field that has choices."""
    found = [field for model in apps.get_models() for field in model._meta.local_fields if field.choices]
    return [field for field in found if field.model._meta.app_label in APPS]


def test_every_column_with_choices_has_a_matching_constraint() -> None:
    assert len(columns()) > 15
    for field in columns():
        words = [str(word) for word, _ in field.flatchoices]
        expected = [*words, ""] if field.blank and not field.null else words
        wanted = models.Q(**{f"{field.name}__in": expected})
        constraints = [one for one in field.model._meta.constraints if isinstance(one, models.CheckConstraint)]
        assert wanted in [one.condition for one in constraints], str(field)


@pytest.mark.parametrize(
    ("column", "word", "is_taken"),
    [
        ("contact_reminder_interval_unit", "WEEKS", True),
        ("contact_reminder_interval_unit", None, True),
        ("contact_reminder_interval_unit", "", False),
        ("contact_reminder_interval_unit", "weeks", False),
    ],
)
def test_column_accepts_only_its_choices(alice: User, column: str, word: Any, is_taken: bool) -> None:
    ada = make_person(alice)
    if is_taken:
        Person.unscoped.filter(pk=ada.pk).update(**{column: word})
        return
    with pytest.raises(IntegrityError), transaction.atomic():
        Person.unscoped.filter(pk=ada.pk).update(**{column: word})


def test_columns_of_other_models_refuse_other_values(alice: User) -> None:
    make_person(alice)
    CustomFieldTemplate.objects.create(owner=alice, name="x", slug="x", type="TEXT")
    ImportantDate.objects.create(owner=alice, person=Person.unscoped.get(), title="x", date="2020-01-01", next_kind="")
    rows: list[tuple[Any, str]] = [
        (User.objects, "theme"),
        (User.objects, "leap_day_rule"),
        (CustomFieldTemplate.unscoped, "type"),
        (ImportantDate.unscoped, "type"),
        (ImportantDate.unscoped, "next_kind"),
    ]
    for manager, column in rows:
        with pytest.raises(IntegrityError), transaction.atomic():
            manager.update(**{column: "odd"})
