"""What `manage.py doctor` looks at in the whole instance. Apps add theirs in `<app>/checks.py` with the same tag."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError, connection
from django.template.defaultfilters import filesizeformat

from contacts_project.data_folder import own_paths, readable_by_others
from contacts_project.environment import misspelt_names
from contacts_project.kernel.crypto.fields import encrypted_columns
from contacts_project.kernel.crypto.keyring import UndecryptableError
from contacts_project.kernel.database.encoding import REMEDY, wrong_encoding
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.operation.health import (
    LEAST_FREE_BYTES,
    check_broker,
    check_database,
    check_migrations,
    free_bytes,
)

TAG = "doctor"
PLENTY_BYTES = 1024**3
_SECRETS = 100
_MOST_FOR_A_RANDOM_READ = 2.0
_MANY_CONNECTIONS = 0.8


@register(TAG, deploy=True)
def check_parts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The database, its migrations and triggers, the broker."""
    if not check_database().fit:
        return [Error(_why_the_database_is_unfit(), hint="Look at DATABASE_URL.", id="doctor.E001")]
    found: list[CheckMessage] = []
    if not check_migrations().fit:
        hint = f"Run manage.py migrate; or set DATA_DIR, if this instance does not lie in {settings.DATA_DIR}."
        found.append(Error("Migrations wait to be applied.", hint=hint, id="doctor.E002"))
    elif missing := missing_triggers():
        text = f"Triggers of the database are missing: {', '.join(missing)}."
        found.append(Error(text, hint="Run manage.py install_triggers.", id="doctor.E003"))
    if not check_broker().fit:
        found.append(Error("The broker does not answer.", hint="Look at REDIS_URL, or at DATA_DIR.", id="doctor.E004"))
    return found


def _why_the_database_is_unfit() -> str:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return f"The database does not answer: {str(error).partition(chr(10))[0].rstrip('.')}."
    return "The database cannot be written to: it is locked, or its disk is full."


@register(TAG, deploy=True)
def check_exposure(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """What strangers could reach or read."""
    return list(_exposures())


def _exposures() -> Iterator[CheckMessage]:
    base = urlsplit(settings.BASE_URL)
    if settings.DEBUG:
        yield Error("DEBUG is on: error pages show the inside.", hint="Unset DEBUG.", id="doctor.E010")
    if base.scheme == "http" and base.hostname not in {"127.0.0.1", "localhost", "::1"}:
        yield Caution(
            "BASE_URL is plain http: passwords and tokens travel readable.",
            hint="Put a TLS proxy in front and set BASE_URL=https://...",
            id="doctor.W011",
        )
    if "*" in settings.OUTBOUND_ALLOWED_PORTS:
        yield Caution("Destinations may use any port.", hint="List ports in OUTBOUND_ALLOWED_PORTS.", id="doctor.W013")


@register(TAG, deploy=True)
def check_files(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Nobody but the service's user can read what the instance keeps, or what it is set up by."""
    files = [*own_paths(settings.DATA_DIR), settings.BASE_DIR / ".env"]
    if connection.vendor == "sqlite":
        name = settings.DATABASES["default"]["NAME"]
        files += [Path(f"{name}{suffix}") for suffix in ("", "-wal", "-shm")]
    found = list(readable_by_others(files))
    if not found:
        return []
    text = f"Other users of this machine can read {found[0]}" + (f" and {len(found) - 1} more." if found[1:] else ".")
    hint = f"As the owner: chmod go= {' '.join(map(str, found[:5]))}"
    return [Error(text, hint=hint, id="doctor.E012")]


@register(TAG, deploy=True)
def check_names_of_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A name in .env that is nearly one of ours sets nothing; others are for other programs."""
    file = settings.BASE_DIR / ".env"
    return [
        Caution(f"{name} in {file} is no setting.", hint=f"Is {meant} meant?", id="doctor.W016")
        for name, meant in misspelt_names(file)
    ]


@register(TAG, deploy=True)
def check_disk_space(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """How much is free where the data folder lies."""
    free = free_bytes()
    text = f"{filesizeformat(free)} are free where {settings.DATA_DIR} lies."
    if free < LEAST_FREE_BYTES:
        return [Error(text, hint="Make room: writing will fail soon.", id="doctor.E021")]
    if free < PLENTY_BYTES:
        return [Caution(text, hint="Make room before photos and the database need it.", id="doctor.W022")]
    return [Info(text, id="doctor.I023")]


@register(TAG, deploy=True)
def check_database_version(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """SQLite must be in WAL mode, or readers and writers block each other."""
    if connection.vendor != "sqlite":
        return []
    try:
        with connection.cursor() as cursor:
            mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
    except DatabaseError:
        return []
    if mode == "wal":
        return []
    hint = "Keep DATA_DIR on a local disk: network file systems cannot do it."
    return [Caution(f"SQLite runs in {mode} mode, not WAL.", hint=hint, id="doctor.W020")]


@register(TAG, deploy=True)
def check_encoding(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Another encoding than UTF-8 refuses names that it has no letters for; `migrate` makes no new tables there."""
    try:
        encoding = wrong_encoding(connection)
    except DatabaseError:
        return []
    hint = f"{REMEDY}; then manage.py backup here, and restore there."
    return [Error(f"The database holds {encoding}.", hint=hint, id="doctor.E027")] if encoding else []


@register(TAG, deploy=True)
def check_connections(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """PostgreSQL refuses whoever comes when all its connections are taken: web processes and workers alike."""
    if connection.vendor != "postgresql":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('max_connections')::int - "
                "current_setting('superuser_reserved_connections')::int, "
                "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
            )
            most, taken = cursor.fetchone()
    except DatabaseError:
        return []
    pool = settings.DATABASES["default"]["OPTIONS"].get("pool")
    text = f"{taken} of the {most} connections of PostgreSQL are taken" + (
        f"; each of our processes has at most {pool['max_size']}." if pool else "; our processes have no pool."
    )
    hint = "Give each process a smaller pool (DATABASE_URL, ?pool=2..8), run pgbouncer, or raise max_connections."
    if taken > most * _MANY_CONNECTIONS or (pool and pool["max_size"] > most):
        return [Caution(text, hint=hint, id="doctor.W024")]
    return [Info(text, id="doctor.I025")]


@register(TAG, deploy=True)
def check_price_of_random_reads(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Priced as on a turning disk, reads by an index look dearer to PostgreSQL than a walk through everybody's rows."""
    if connection.vendor != "postgresql":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('random_page_cost')::float")
            price = cursor.fetchone()[0]
    except DatabaseError:
        return []
    if price <= _MOST_FOR_A_RANDOM_READ:
        return []
    text = f"PostgreSQL takes a page at random for {price:g} times as dear as the next one (random_page_cost)."
    hint = "Unless its disk turns: ALTER SYSTEM SET random_page_cost = 1.1; SELECT pg_reload_conf();"
    return [Info(text, hint=hint, id="doctor.I026")]


@register(TAG, deploy=True)
def check_secrets(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The newest secrets can still be read; all of them are looked at by --deep."""
    return list(_unreadable())


def _unreadable() -> Iterator[CheckMessage]:
    hint = "Put the key back that was taken out, at the end of ENCRYPTION_KEYS, and run manage.py rotate_encryption."
    for model in apps.get_models():
        if columns := encrypted_columns(model):
            try:
                list(model._default_manager.order_by("-pk").values_list(*columns)[:_SECRETS])
            except UndecryptableError:
                text = f"{model._meta.label} holds a secret that no key of ENCRYPTION_KEYS opens."
                yield Error(text, hint=hint, id="doctor.E014")
            except (DatabaseError, ValueError):
                return  # told by check_parts
