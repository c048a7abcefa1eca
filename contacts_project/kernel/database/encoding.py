"""Detects a PostgreSQL database that cannot store every name, because it was created in a C or Latin-1 locale."""

from django.db.backends.base.base import BaseDatabaseWrapper

REMEDY = "Create one with: createdb --encoding UTF8 --template template0 NAME"


def wrong_encoding(connection: BaseDatabaseWrapper) -> str:
    """The encoding of the database if it is not UTF-8, else an empty text."""
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        encoding = str(cursor.fetchone()[0])
    return "" if encoding == "UTF8" else encoding
