"""The checks of `manage.py doctor` for the whole instance. Apps add theirs in `<app>/checks.py` with the same tag."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError, connection
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from contacts_project.data_folder import own_paths, readable_by_others
from contacts_project.environment.reader import misspelt_names
from contacts_project.kernel.crypto.fields import UndecryptableError, encrypted_columns
from contacts_project.kernel.database.migrations import NewerDatabaseError, check_not_newer
from contacts_project.kernel.database.postgresql import REMEDY, wrong_encoding
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.operation.health import (
    MIN_FREE_BYTES,
    base_url_is_loopback,
    check_broker,
    check_database,
    check_migrations,
    free_bytes,
    requests_are_forwarded,
)

TAG = "doctor"
WARN_FREE_BYTES = 1024**3
_SECRETS_PER_MODEL = 100
_MAX_RANDOM_PAGE_COST = 2.0
_CONNECTIONS_WARNING_SHARE = 0.8


@register(TAG, deploy=True)
def check_parts(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """The database, its migrations and triggers, and the broker."""
    if not check_database().is_fit:
        # Nothing else can be checked without the database.
        return [Error(_database_failure(), hint="Check DATABASE_URL.", id="doctor.E001")]
    found: list[CheckMessage] = []
    try:
        check_not_newer(connection)
    except NewerDatabaseError as error:
        return [Error(str(error), hint="Run manage.py doctor of that version.", id="doctor.E028")]
    except DatabaseError:  # no table of migrations that can be read: said below
        pass
    if not check_migrations().is_fit:
        hint = f"Run manage.py migrate; or set DATA_DIR, if the data of this instance is not in {settings.DATA_DIR}."
        found.append(Error("Migrations have not been applied.", hint=hint, id="doctor.E002"))
    elif missing := missing_triggers():
        text = f"Triggers of the database are missing: {', '.join(missing)}."
        found.append(Error(text, hint="Run manage.py install_triggers.", id="doctor.E003"))
    if not check_broker().is_fit:
        found.append(Error("The broker does not answer.", hint="Check REDIS_URL, or DATA_DIR.", id="doctor.E004"))
    return found


def _database_failure() -> str:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return f"The database does not answer: {str(error).partition(chr(10))[0].rstrip('.')}."
    return "The database cannot be written to: it is locked, or its disk is full."


@register(TAG, deploy=True)
def check_exposure(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """What strangers could reach or read because of the settings."""
    return list(_exposures())


def _exposures() -> Iterator[CheckMessage]:
    base = urlsplit(settings.BASE_URL)
    if settings.DEBUG:
        yield Error("DEBUG is on: error pages show source code and settings.", hint="Unset DEBUG.", id="doctor.E010")
    if base.scheme == "http" and not base_url_is_loopback():
        yield Caution(
            "BASE_URL is plain http: passwords and tokens are sent unencrypted.",
            hint="Put a TLS proxy in front and set BASE_URL=https://...",
            id="doctor.W011",
        )
    tiles = urlsplit(settings.MAP_TILES_URL)
    if tiles.hostname == base.hostname and tiles.netloc != base.netloc:
        yield Caution(
            "MAP_TILES_URL has the host of BASE_URL: its server gets the cookies of sessions, whatever its port.",
            hint="Give the tiles a host name of their own, or serve them by this instance's own proxy.",
            id="doctor.W015",
        )
    if _is_behind_uncounted_proxy():
        yield Caution(
            "Requests of the last day carried X-Forwarded-For, and TRUSTED_PROXY_COUNT is 0: all callers behind a "
            "proxy share its address and its budgets.",
            hint="Set TRUSTED_PROXY_COUNT to the number of proxies. If there is none, a caller has sent the header.",
            id="doctor.W017",
        )
    if "*" in settings.OUTBOUND_ALLOWED_PORTS:
        yield Caution("Destinations may use any port.", hint="List ports in OUTBOUND_ALLOWED_PORTS.", id="doctor.W013")


def _is_behind_uncounted_proxy() -> bool:
    try:
        return requests_are_forwarded(timezone.now())
    except DatabaseError:
        return False  # check_parts reports the database


@register(TAG, deploy=True)
def check_files(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Only the service's user can read the files of the instance, and its `.env`."""
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
def check_names_of_settings(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Names in `.env` that are nearly those of settings. Other unknown names may be meant for other programs."""
    file = settings.BASE_DIR / ".env"
    return [
        Caution(f"{name} in {file} is not a setting.", hint=f"Did you mean {meant}?", id="doctor.W016")
        for name, meant in misspelt_names(file)
    ]


@register(TAG, deploy=True)
def check_disk_space(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """The free space on the disk of the data folder."""
    free = free_bytes()
    text = f"{filesizeformat(free)} are free on the disk of {settings.DATA_DIR}."
    if free < MIN_FREE_BYTES:
        return [Error(text, hint="Free some space: writes will fail soon.", id="doctor.E021")]
    if free < WARN_FREE_BYTES:
        return [Caution(text, hint="Free some space before photos and the database need it.", id="doctor.W022")]
    return [Info(text, id="doctor.I023")]


@register(TAG, deploy=True)
def check_database_version(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """SQLite must be in WAL mode. Otherwise readers and writers block each other."""
    row = _row_of("sqlite", "PRAGMA journal_mode")
    if row is None or row[0] == "wal":
        return []
    hint = "Keep DATA_DIR on a local disk: network file systems do not support WAL."
    return [Caution(f"SQLite runs in {row[0]} mode, not WAL.", hint=hint, id="doctor.W020")]


@register(TAG, deploy=True)
def check_encoding(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """A database in another encoding than UTF-8 rejects names with characters it lacks. `migrate` refuses it."""
    try:
        encoding = wrong_encoding(connection)
    except DatabaseError:
        return []
    hint = f"{REMEDY}; then run manage.py backup here, and manage.py restore there."
    return [Error(f"The encoding of the database is {encoding}.", hint=hint, id="doctor.E027")] if encoding else []


@register(TAG, deploy=True)
def check_connections(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Whether PostgreSQL may run out of connections: it then refuses those of web processes and workers."""
    row = _row_of(
        "postgresql",
        "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int, "
        "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')",
    )
    if row is None:
        return []
    most, taken = row
    pool = settings.DATABASES["default"]["OPTIONS"].get("pool")
    text = f"{taken} of the {most} connections of PostgreSQL are in use" + (
        f"; each of our processes has at most {pool['max_size']}." if pool else "; our processes have no pool."
    )
    hint = "Give each process a smaller pool (DATABASE_URL, ?pool=2..8), run pgbouncer, or raise max_connections."
    if taken > most * _CONNECTIONS_WARNING_SHARE or (pool and pool["max_size"] > most):
        return [Caution(text, hint=hint, id="doctor.W024")]
    return [Info(text, id="doctor.I025")]


@register(TAG, deploy=True)
def check_random_page_cost(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """With the default cost, meant for spinning disks, PostgreSQL prefers scans of all accounts' rows to an index."""
    row = _row_of("postgresql", "SELECT current_setting('random_page_cost')::float")
    if row is None or row[0] <= _MAX_RANDOM_PAGE_COST:
        return []
    text = (
        f"PostgreSQL assumes that a random page costs {row[0]:g} times as much as a sequential one (random_page_cost)."
    )
    hint = "Unless it is on a spinning disk: ALTER SYSTEM SET random_page_cost = 1.1; SELECT pg_reload_conf();"
    return [Info(text, hint=hint, id="doctor.I026")]


def _row_of(vendor: str, statement: str) -> tuple[Any, ...] | None:
    """What a database of this vendor answers; None if it is another, or does not answer, which check_parts reports."""
    if connection.vendor != vendor:
        return None
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            row: tuple[Any, ...] | None = cursor.fetchone()
    except DatabaseError:
        return None
    return row


@register(TAG, deploy=True)
def check_secrets(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """The newest secrets can be decrypted. `--deep` checks all of them."""
    return list(_undecryptable_models())


def _undecryptable_models() -> Iterator[CheckMessage]:
    hint = "Append the key that was removed to ENCRYPTION_KEYS, and run manage.py rotate_encryption."
    for model in apps.get_models():
        if columns := encrypted_columns(model):
            try:
                list(model._default_manager.order_by("-pk").values_list(*columns)[:_SECRETS_PER_MODEL])
            except UndecryptableError:
                text = f"{model._meta.label} has a secret that cannot be decrypted with any key of ENCRYPTION_KEYS."
                yield Error(text, hint=hint, id="doctor.E014")
            except (DatabaseError, ValueError):
                return  # reported by check_parts
