"""What `manage.py doctor` looks at in the whole instance. Apps add theirs in `<app>/checks.py` with the same tag."""

import stat
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError, connection

from contacts_project.operation.health import check_broker, check_database, check_migrations
from contacts_project.ownership.triggers import missing_triggers

TAG = "doctor"


@register(TAG, deploy=True)
def check_parts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The database, its migrations and owner triggers, the broker."""
    if not check_database().fit:
        return [Error("The database does not answer.", hint="Look at DATABASE_URL.", id="doctor.E001")]
    found: list[CheckMessage] = []
    if not check_migrations().fit:
        found.append(Error("Migrations wait to be applied.", hint="Run manage.py migrate.", id="doctor.E002"))
    elif missing := missing_triggers():
        text = f"Owner triggers are missing: {', '.join(missing)}."
        found.append(Error(text, hint="Run manage.py install_triggers.", id="doctor.E003"))
    if not check_broker().fit:
        found.append(Error("The broker does not answer.", hint="Look at REDIS_URL, or at DATA_DIR.", id="doctor.E004"))
    return found


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
    keys = settings.DATA_DIR / "keys.json"
    if keys.exists() and stat.S_IMODE(keys.stat().st_mode) & 0o077:
        yield Error("Others can read the generated keys.", hint=f"chmod 600 {keys}", id="doctor.E012")
    if "*" in settings.OUTBOUND_ALLOWED_PORTS:
        yield Caution("Destinations may use any port.", hint="List ports in OUTBOUND_ALLOWED_PORTS.", id="doctor.W013")


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
