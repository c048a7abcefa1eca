"""The manifest of a backup: the header at its beginning and the totals at its end."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

import orjson
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils.crypto import constant_time_compare, salted_hmac

from contacts_project.backup.container import FORMAT_VERSION, BackupError, DamagedError
from contacts_project.kernel.database.migrations import (
    LAST_VERSION_WITH_THEM,
    MigrationKey,
    TooOldError,
    current_migrations,
)

Migrations = frozenset[str]  # as `app.name`
#: Of a row's JSON line. The longest rows come from request bodies, which are limited to far less.
MAX_ROW_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Header:
    """What identifies the instance and its schema.

    `made_at` is ISO 8601. `migrations` are those that the tables had, as `app.name`. `proof` is `secret_key_proof`.
    """

    made_at: str
    version: str
    database: str
    migrations: tuple[str, ...]
    proof: str

    def to_bytes(self) -> bytes:
        return orjson.dumps({"format": FORMAT_VERSION, **asdict(self)})

    @property
    def current_migrations(self) -> Migrations:
        """The migrations, with `0001_tables` for what that has replaced. Raises BackupError if only some are there."""
        try:
            return migration_names(current_migrations(map(_migration_key, self.migrations)))
        except TooOldError:
            raise BackupError(
                f"The backup is of a version before {LAST_VERSION_WITH_THEM}: restore it with {LAST_VERSION_WITH_THEM} "
                "into another instance, and make a backup of that. Nothing was changed."
            ) from None

    @property
    def fits_secret_key(self) -> bool:
        """Whether this instance has the same SECRET_KEY as the one that was backed up."""
        return constant_time_compare(self.proof, secret_key_proof(self.made_at))


def parse_header(data: bytes) -> Header:
    """Raises DamagedError."""
    try:
        fields = orjson.loads(data)
        names = ("made_at", "version", "database", "proof")
        return Header(migrations=tuple(map(str, fields["migrations"])), **{name: str(fields[name]) for name in names})
    except (ValueError, KeyError, TypeError):
        raise DamagedError("its header cannot be read") from None


def secret_key_proof(made_at: str) -> str:
    """Return an HMAC under SECRET_KEY: it shows that two instances have the same key without revealing the key."""
    return salted_hmac("contacts_project.backup", made_at, algorithm="sha256").hexdigest()


@dataclass
class Totals:
    """How much a backup contains: rows by table, and photos.

    `missing_photos` counts the photos that rows name but whose file is missing or damaged.
    """

    rows: dict[str, int] = field(default_factory=dict)
    photos: int = 0
    missing_photos: int = 0

    def to_bytes(self) -> bytes:
        return orjson.dumps(asdict(self))

    def __str__(self) -> str:
        counts = (
            (self.rows.get("accounts_user", 0), "account", "accounts"),
            (self.rows.get("people_person", 0), "person", "people"),
            (sum(self.rows.values()), "row", "rows"),
            (self.photos, "photo", "photos"),
        )
        return ", ".join(f"{count:,} {singular if count == 1 else plural}" for count, singular, plural in counts)


def parse_totals(data: bytes) -> Totals:
    """Raises DamagedError."""
    try:
        return Totals(**orjson.loads(data))
    except (ValueError, TypeError):
        raise DamagedError("its end cannot be read") from None


def all_migrations() -> Migrations:
    """Return all migrations of this version of the service."""
    # Without the connection: the database need not answer to read a file.
    return migration_names(MigrationLoader(None).graph.nodes)


def applied_migrations() -> Migrations:
    """Return those migrations of this version that were applied to the database."""
    return all_migrations() & migration_names(MigrationRecorder(connection).applied_migrations())


def migration_names(migrations: Iterable[MigrationKey]) -> Migrations:
    return frozenset(f"{app}.{name}" for app, name in migrations)


def _migration_key(name: str) -> MigrationKey:
    app, _, rest = name.partition(".")
    return app, rest
