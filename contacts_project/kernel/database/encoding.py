"""A PostgreSQL database that cannot hold every name: made where the locale was C or Latin-1."""

from django.db.backends.base.base import BaseDatabaseWrapper

REMEDY = "Make one with: createdb --encoding UTF8 --template template0 NAME"


def wrong_encoding(connection: BaseDatabaseWrapper) -> str:
    """Its encoding, where that is not UTF-8; else nothing."""
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        encoding = str(cursor.fetchone()[0])
    return "" if encoding == "UTF8" else encoding
