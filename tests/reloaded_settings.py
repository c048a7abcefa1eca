"""Settings of a forked process, which differ from those that were loaded before the fork."""

import importlib
import sys

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections


def reload_settings(module: str) -> None:
    """Load the settings again from the current environment. No database connection may be open."""
    for read in {module, "contacts_project.settings"}:
        sys.modules.pop(read, None)
    fresh = importlib.import_module(module)
    for name in filter(str.isupper, vars(fresh)):
        setattr(settings, name, getattr(fresh, name))
    connections.settings = connections.configure_settings(settings.DATABASES)
    del connections[DEFAULT_DB_ALIAS]  # the next one is made by these settings
