"""Settings of a copied process, which differ from those that were read before it was copied."""

import importlib
import sys

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections


def reload_settings(module: str) -> None:
    """Have the settings be those of the module in the environment of now. No connection may be open."""
    for read in {module, "contacts_project.settings"}:
        sys.modules.pop(read, None)
    fresh = importlib.import_module(module)
    for name in filter(str.isupper, vars(fresh)):
        setattr(settings, name, getattr(fresh, name))
    connections.settings = connections.configure_settings(settings.DATABASES)
    del connections[DEFAULT_DB_ALIAS]  # the next one is made by these settings
