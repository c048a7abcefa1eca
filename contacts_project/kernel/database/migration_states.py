"""Fewer models are made anew while migrations run: that is most of the time that they take."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.migrations.state import ProjectState

_reload_model = ProjectState.reload_model


@contextmanager
def fewer_models_rendered() -> Iterator[None]:
    """After a change of a model that no other model sees, render that one alone.

    Django knows such changes (`delay`: of columns that nothing refers to, of indexes, constraints, options), and
    renders all models anew before code of a migration runs. Until then it renders all neighbours of all neighbours;
    where each row has an owner that is every model, for every change.
    """
    ProjectState.reload_model = reload_model  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ProjectState.reload_model = _reload_model  # type: ignore[method-assign]


def reload_model(state: ProjectState, app_label: str, model_name: str, delay: bool = False) -> None:
    if "apps" in state.__dict__ and delay and not _others_see(state, app_label, model_name):
        state.is_delayed = True
        state._reload({(app_label, model_name)})  # type: ignore[attr-defined]
    else:
        _reload_model(state, app_label, model_name, delay)


def _others_see(state: ProjectState, app_label: str, model_name: str) -> bool:
    """Whether it has a new name, or its table has, or models inherit from it."""
    model = state.apps.all_models[app_label].get(model_name)
    table = state.models[app_label, model_name].options.get("db_table") or f"{app_label}_{model_name}"
    return model is None or model._meta.db_table != table or bool(model.__subclasses__())
