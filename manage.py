#!/usr/bin/env python
"""Django's command line for the contact network service."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import DatabaseError, connection

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseError:
        if connection.introspection.table_names():
            raise
        from django.conf import settings

        sys.exit(
            f"The database of the data folder {settings.DATA_DIR} is empty. Set DATA_DIR or DATABASE_URL as for the "
            "instance that you mean, or run manage.py migrate to make a new one."
        )
