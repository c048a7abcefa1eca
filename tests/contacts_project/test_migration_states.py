"""While migrations run, changing a model that no other model refers to renders only that model again."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import models
from django.db.migrations.state import ModelState, ProjectState

from contacts_project.kernel.database.migration_states import fewer_model_reloads


@pytest.fixture
def state() -> Iterator[ProjectState]:
    """A rendered state with two models: a person and her cat."""
    key: tuple[str, models.Field[Any, Any]] = ("id", models.AutoField(primary_key=True))
    found = ProjectState()
    options: dict[str, Any] = {"indexes": [], "constraints": []}
    found.add_model(ModelState("t", "Person", [key], {**options}))
    fields = [key, ("owner", models.ForeignKey("t.Person", models.CASCADE))]
    found.add_model(ModelState("t", "Cat", fields, {**options}))
    with fewer_model_reloads():
        assert found.apps
        yield found


def test_adding_an_index_renders_only_its_model(state: ProjectState) -> None:
    person, cat = (state.apps.get_model("t", name) for name in ("Person", "Cat"))
    state.add_index("t", "person", models.Index(fields=["id"], name="i"))
    assert [index.name for index in state.apps.get_model("t", "Person")._meta.indexes] == ["i"]
    assert state.apps.get_model("t", "Person") is not person
    assert state.apps.get_model("t", "Cat") is cat
    assert [found.related_model for found in state.apps.get_model("t", "Person")._meta.related_objects] == [cat]


def test_adding_a_model_renders_no_other_model(state: ProjectState) -> None:
    person = state.apps.get_model("t", "Person")
    key: tuple[str, models.Field[Any, Any]] = ("id", models.AutoField(primary_key=True))
    state.add_model(ModelState("t", "Dog", [key, ("owner", models.ForeignKey("t.Person", models.CASCADE))]))
    assert state.apps.get_model("t", "Person") is person
    assert {found.related_model.__name__ for found in person._meta.related_objects} == {"Cat", "Dog"}


def test_all_models_are_rendered_before_code_runs(state: ProjectState) -> None:
    state.add_field("t", "person", "name", models.TextField(), preserve_default=True)
    state.clear_delayed_apps_cache()
    assert state.apps.get_model("t", "Cat").owner.field.related_model is state.apps.get_model("t", "Person")


@pytest.mark.parametrize("table", ["folk", None])
def test_referring_models_get_the_new_table_name(state: ProjectState, table: str | None) -> None:
    state.alter_model_options("t", "person", {"db_table": "people"})
    state.alter_model_options("t", "person", {"db_table": table})
    assert state.apps.get_model("t", "Cat").owner.field.related_model._meta.db_table == (table or "t_person")


def test_referring_models_get_the_new_model_name(state: ProjectState) -> None:
    state.rename_model("t", "Person", "Human")
    assert state.apps.get_model("t", "Cat").owner.field.related_model.__name__ == "Human"


def test_referenced_model_gets_the_new_field_name(state: ProjectState) -> None:
    state.rename_field("t", "cat", "owner", "keeper")
    [found] = state.apps.get_model("t", "Person")._meta.related_objects
    assert found.field.name == "keeper"


def test_inheriting_models_get_new_columns(state: ProjectState) -> None:
    state.add_model(ModelState("t", "Child", [], bases=("t.person",)))
    state.add_field("t", "person", "name", models.TextField(), preserve_default=True)
    assert state.apps.get_model("t", "Child")._meta.get_field("name")
