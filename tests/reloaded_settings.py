"""Reloads the settings in a forked process, whose environment differs from that of its parent."""

import importlib
import sys

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections


def reload_settings(module: str) -> None:
    """Load the settings again from the current environment. No database connection may be open."""
    for name in {module, "contacts_project.settings"}:
        sys.modules.pop(name, None)
    fresh = importlib.import_module(module)
    for name in filter(str.isupper, vars(fresh)):
        setattr(settings, name, getattr(fresh, name))
    connections.settings = connections.configure_settings(settings.DATABASES)
    del connections[DEFAULT_DB_ALIAS]  # so that the next query connects with the new settings
