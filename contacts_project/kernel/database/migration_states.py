"""Renders fewer models while migrations run. Rendering them takes most of the time of a migration run."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.migrations.state import ProjectState

_reload_model = ProjectState.reload_model


@contextmanager
def fewer_model_reloads() -> Iterator[None]:
    """Within this context, a change that concerns no other model renders only the changed model.

    Django marks such changes with `delay` (columns that no foreign key refers to, indexes, constraints, options) and
    renders all models again before it runs a RunPython. Nevertheless it renders every model that is connected to the
    changed one by relations. Here that is every model, because all have an owner.
    """
    # Replaced for the whole process: Django has no setting for it, and `migrate` has no other thread.
    ProjectState.reload_model = reload_model  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ProjectState.reload_model = _reload_model  # type: ignore[method-assign]


def reload_model(state: ProjectState, app_label: str, model_name: str, delay: bool = False) -> None:
    """Takes the place of ProjectState.reload_model."""
    # "apps" is a cached property: if it is not there, nothing has been rendered yet.
    if "apps" in state.__dict__ and not _affects_other_models(state, app_label, model_name, delay):
        # Tells Django to render all models before a RunPython.
        state.is_delayed = True
        state._reload({(app_label, model_name)})  # type: ignore[attr-defined]
    else:
        _reload_model(state, app_label, model_name, delay)


def _affects_other_models(state: ProjectState, app_label: str, model_name: str, delay: bool) -> bool:
    """Whether the model or its table is renamed, its relations change, or other models inherit from it."""
    model = state.apps.all_models[app_label].get(model_name)
    if model is None:
        return delay  # only a rename delays; otherwise the model is new, and nothing refers to it yet
    table = state.models[app_label, model_name].options.get("db_table") or f"{app_label}_{model_name}"
    return not delay or model._meta.db_table != table or bool(model.__subclasses__())
