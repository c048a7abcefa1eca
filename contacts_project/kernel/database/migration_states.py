"""Fewer models are made anew while migrations run: that is most of the time that they take."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.migrations.state import ProjectState

_reload_model = ProjectState.reload_model


@contextmanager
def fewer_model_reloads() -> Iterator[None]:
    """After a change of a model that no other model sees, render that one alone.

    Django knows such changes (`delay`: of columns that nothing refers to, of indexes, constraints, options), and
    renders all models anew before code of a migration runs. Until then, and where a model is new, it renders all
    neighbours of all neighbours; where each row has an owner that is every model, for every change.
    """
    ProjectState.reload_model = reload_model  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ProjectState.reload_model = _reload_model  # type: ignore[method-assign]


def reload_model(state: ProjectState, app_label: str, model_name: str, delay: bool = False) -> None:
    if "apps" in state.__dict__ and not _others_see(state, app_label, model_name, delay):
        state.is_delayed = True
        state._reload({(app_label, model_name)})  # type: ignore[attr-defined]
    else:
        _reload_model(state, app_label, model_name, delay)


def _others_see(state: ProjectState, app_label: str, model_name: str, delay: bool) -> bool:
    """Whether it or its table has a new name, its relations change, or models inherit from it."""
    model = state.apps.all_models[app_label].get(model_name)
    if model is None:
        return delay  # it is renamed; else it is new, and nothing refers to it yet
    table = state.models[app_label, model_name].options.get("db_table") or f"{app_label}_{model_name}"
    return not delay or model._meta.db_table != table or bool(model.__subclasses__())
