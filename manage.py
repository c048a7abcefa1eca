#!/usr/bin/env python
"""Django's command line for the contact network service."""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from contacts_project.kernel.database.migrations import NewerDatabaseError, check_not_newer


def why_the_database_failed(error: DatabaseError) -> str | None:
    """One line for the operator, where the database as a whole is not what the command needs."""
    remedy = f"Set DATA_DIR (now {settings.DATA_DIR}) or DATABASE_URL as for the instance that you mean"
    try:
        is_empty = not connection.introspection.table_names()
    except DatabaseError:
        return f"The database does not answer: {str(error).partition(chr(10))[0].rstrip('.')}. {remedy}."
    if is_empty:
        return f"The database is empty. {remedy}, or run manage.py migrate to make a new one."
    try:
        check_not_newer(connection)
    except NewerDatabaseError as newer:
        return str(newer)
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return "The tables are those of an older version: run manage.py migrate."
    return None


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseError as error:
        if not (reason := why_the_database_failed(error)):
            raise
        sys.exit(reason)
