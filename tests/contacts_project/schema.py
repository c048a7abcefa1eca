"""Reads a database's schema, to compare two: columns, keys, indexes, constraints, triggers, applied migrations."""

import re
from collections import Counter
from typing import Any

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

# Each query returns the name of an object, then its definition.
_POSTGRESQL = {
    "column": """SELECT table_name || '.' || column_name, data_type, character_maximum_length, is_nullable,
        column_default, collation_name, identity_generation, is_generated
        FROM information_schema.columns WHERE table_schema = 'public'""",
    "index": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraint": """SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace""",
    "trigger": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "function": "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "sequence": "SELECT sequencename, data_type::text, increment_by FROM pg_sequences WHERE schemaname = 'public'",
}
_SQLITE = {
    "schema": "SELECT name, type, tbl_name, sql FROM sqlite_master",
    "statistics": "SELECT idx, tbl, stat FROM sqlite_stat1",
}


def schema_of(connection: BaseDatabaseWrapper) -> Counter[Any]:
    """The objects of the schema and their definitions, with the number of times each occurs.

    Ignored are the order of a table's columns, on which nothing depends, and the names that PostgreSQL or Django
    generated for keys and sequences, because they do not change when a table or column is renamed.
    """
    declared = {thing.name for model in apps.get_models() for thing in (*model._meta.indexes, *model._meta.constraints)}
    found: Counter[Any] = Counter(("migration", *key) for key in MigrationRecorder(connection).applied_migrations())
    with connection.cursor() as cursor:
        for kind, query in (_SQLITE if connection.vendor == "sqlite" else _POSTGRESQL).items():
            cursor.execute(query)
            for name, *rest in cursor.fetchall():
                is_generated_name = kind in ("index", "constraint", "sequence") and name not in declared
                words = [_without_order(str(word).replace(name, "...") if is_generated_name else word) for word in rest]
                found[kind, "..." if is_generated_name else name, *words] += 1
    return found


def _without_order(text: Any) -> Any:
    """The columns and constraints of a CREATE TABLE, sorted; any other text unchanged."""
    if not str(text).startswith("CREATE TABLE"):
        return text
    head, _, body = text.rpartition(")")[0].partition("(")
    parts, depth = [head, ""], 0
    for character in re.sub(r"\s+", " ", body):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(sorted(part.strip() for part in parts))
